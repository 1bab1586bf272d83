"""Which sites take part in a round, with which batches and at which rate [XCLP App. A.2]."""

import math

from colabel.federation.training_plan import Stage, TrainingPlan
from colabel.protocols.keys import Group
from colabel.randomness import model as randomness


def sample(everybody: Group, plan: TrainingPlan, stage: Stage, number: int) -> list[str]:
    """The sites of a round: of those with labels their share, so that there are some.

    Where nothing is done with unlabelled points, sites without labels are not asked.
    """
    labelled = [name for name, size in everybody.sizes.items() if size.n_labelled]
    others = [name for name, size in everybody.sizes.items() if not size.n_labelled]
    uses_others = stage.labels != "none" or any(term.uses_unlabelled for term in stage.terms)
    wanted = min(plan.sites_per_round, len(labelled) + len(others) * uses_others)
    n_labelled = wanted
    if uses_others:
        n_labelled = math.ceil(wanted * len(labelled) / max(len(labelled) + len(others), 1))
    draw = randomness(plan.seed, f"sites of round {number}")
    first = draw.permutation(len(labelled))[:n_labelled]
    second = draw.permutation(len(others))[: wanted - len(first)]
    chosen = {labelled[i] for i in first} | {others[i] for i in second}
    return [name for name in everybody.names if name in chosen]


def participations(everybody: Group, plan: TrainingPlan) -> dict[str, int]:
    """In how many rounds of the whole run each site is asked."""
    times = dict.fromkeys(everybody.names, 0)
    number = 0
    for stage in plan.stages:
        for _ in range(stage.rounds):
            for name in sample(everybody, plan, stage, number):
                times[name] += 1
            number += 1
    return times


def batch_for(everybody: Group, plan: TrainingPlan) -> int:
    """|B_L| = min(50, labels of a site), the same at all sites; |B_U| = |B_L|."""
    most = max((size.n_labelled for size in everybody.sizes.values()), default=0)
    # where only the server has labels, their number says nothing about the sites' batches
    return max(min(plan.local.labelled_batch, most or plan.local.labelled_batch), 1)


def rate_for(plan: TrainingPlan, batch: int, number: int) -> float:
    """The learning rate, by size of batch and so many rounds along a cosine."""
    return plan.local.optimiser.rate_at(batch, number)
