"""FedAvg and DP-FedAvg beside the methods that share labels [McMahan et al. 2017].

All sites take part in every round, with all their labelled points; the server learns the sum of
the changes of their models (masked), or every site's model. The outcome looks like a site's
learner in co-training, so that tables ask all methods the same.
"""

from dataclasses import dataclass
from typing import Literal

from colabel.cotrain.learners import Learner
from colabel.data import Sites
from colabel.federation.training_plan import PrivacyPlan, Stage, TrainingPlan
from colabel.jobs.train import TrainOutcome, has_spent, train_sites
from colabel.learning.cotraining import NetworkLearner
from colabel.learning.models import ModelPlan
from colabel.learning.plan import LocalPlan
from colabel.privacy.accounting import Spent


@dataclass(frozen=True)
class FedavgOutcome:
    """bytes_up, bytes_down: of one site in one round, without the setting up of a session."""

    learner: Learner
    training: TrainOutcome
    bytes_up: float
    bytes_down: float
    spent: Spent | None


def fedavg_sites(
    sites: Sites,
    model: ModelPlan,
    local: LocalPlan,
    rounds: int,
    *,
    seed: int = 0,
    protection: Literal["none", "masked"] = "masked",
    privacy: PrivacyPlan | None = None,
) -> FedavgOutcome:
    """`local`: what a site does between two exchanges, as in co-training with the same plan.

    Optimisers begin anew with every round, since their state does not travel.
    """
    plan = TrainingPlan(
        model=model,
        stages=(Stage(rounds=rounds),),
        local=local,
        sites_per_round=len(sites),
        protection=protection,
        privacy=privacy,
        seed=seed,
    )
    training = train_sites(sites, plan)
    learner = NetworkLearner(model, local, seed, "all sites")
    learner.load(training.model)
    sent = [e for e in training.costs.exchanges if e.step.partition(".")[0] == "train"]
    times = max(rounds * len(sites), 1)
    return FedavgOutcome(
        learner,
        training,
        sum(e.bytes_up for e in sent) / times,
        sum(e.bytes_down for e in sent) / times,
        has_spent(training.history, plan),
    )
