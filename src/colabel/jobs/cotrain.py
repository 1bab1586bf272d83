"""The co-training job in this process: sites and a public set in, a model for each site out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.cotrain.learners import Examples, Learner
from colabel.data import Sites
from colabel.engines.costs import Costs
from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import InputError, Problem
from colabel.federation.cotraining import CoTrained, cotrain
from colabel.federation.cotraining_plan import CotrainingPlan, digest_of
from colabel.federation.cotraining_role import cotraining_role
from colabel.federation.own_cotraining import Desk
from colabel.privacy.ledger import Ledger

Event = dict[str, Any]
Listen = Callable[[Mapping[str, Any]], None]
Judge = Callable[[Mapping[str, Learner]], Mapping[str, Any]]


@dataclass(frozen=True)
class CotrainOutcome:
    """The consensus, every site's learner (trained), and what the run left behind."""

    result: CoTrained
    learners: Mapping[str, Learner]
    history: tuple[Event, ...]
    ledger: Ledger
    costs: Costs


def plan_for(public: NDArray[np.generic], n_classes: int, **settings: Any) -> CotrainingPlan:
    """A plan for these public points."""
    return CotrainingPlan(
        n_classes=n_classes, n_public=len(public), public=digest_of(public), **settings
    )


def cotrain_sites(
    sites: Sites,
    public: NDArray[np.generic],
    learners: Mapping[str, Learner],
    plan: CotrainingPlan,
    *,
    judge: Judge | None = None,
    faults: Sequence[Fault] = (),
    listen: Listen = lambda event: None,
) -> CotrainOutcome:
    """Co-train. `judge` looks at all sites' learners after a turn, in this process only."""
    check_cotraining(sites, public, learners, plan.validate())
    desks = {name: Desk(public, learners[name]) for name in sites.names}
    engine = LocalEngine(sites.sites, cotraining_role(desks.__getitem__), faults=faults)
    history: list[Event] = []

    def tell(event: Mapping[str, Any]) -> None:
        judged = {} if judge is None else judge(learners)
        history.append({**event, **judged})
        listen(history[-1])

    result = engine.run(cotrain(sites.names, plan, tell=tell))
    return CotrainOutcome(result, learners, tuple(history), engine.ledger, engine.costs)


def check_cotraining(
    sites: Sites,
    public: NDArray[np.generic],
    learners: Mapping[str, Learner],
    plan: CotrainingPlan,
) -> None:
    """Everything that would keep a run from its end."""
    found = []
    for site in sites.sites:
        if not site.labelled.any():
            fix = "A site needs labelled points to learn from; leave it out."
            found.append(Problem("no labelled point", fix, site.name))
        if site.points.shape[1:] != public.shape[1:]:
            what = f"points of shape {site.points.shape[1:]}, public ones of {public.shape[1:]}"
            found.append(Problem(what, "All points must have the same columns.", site.name))
        learner = learners.get(site.name)
        if learner is None:
            found.append(Problem("no learner", "Give one for each site.", site.name))
        elif plan.exchange == "scores" and not learner.takes_shares:
            what = f"{type(learner).__name__} cannot learn from probabilities"
            found.append(Problem(what, 'Share hard labels (exchange = "labels").', site.name))
    if found:
        raise InputError(found)


def learn_alone(sites: Sites, learners: Mapping[str, Learner], turns: int = 1) -> None:
    """Without communication: each site's learner, on the site's own points only."""
    for site in sites.sites:
        _learn(learners[site.name], site.points[site.labelled], site.labels[site.labelled], turns)


def learn_pooled(sites: Sites, learner: Learner, turns: int = 1) -> Learner:
    """Centralised: one learner on all sites' labelled points."""
    points = np.concatenate([site.points[site.labelled] for site in sites.sites])
    labels = np.concatenate([site.labels[site.labelled] for site in sites.sites])
    _learn(learner, points, labels, turns)
    return learner


def _learn(
    learner: Learner, points: NDArray[np.generic], labels: NDArray[np.int64], turns: int
) -> None:
    for turn in range(turns):
        learner.learn(Examples(points, labels), Examples.nothing(points), turn)
