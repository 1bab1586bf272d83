"""Averaging within groups of sites (FedRGD: Zhang et al. 2021).

The sites of a round are dealt to groups at random. Each begins with the model of its group, and
the mean over the group is what the group begins the next round with, whoever is dealt to it then.
The model of the run is the mean of the groups' models.
"""

from collections.abc import Mapping, Sequence

from colabel.federation.training_plan import TrainingPlan
from colabel.learning.aggregation import mean
from colabel.learning.parameters import Parameters
from colabel.learning.terms.base import Shared
from colabel.randomness import model as randomness


def deal(plan: TrainingPlan, names: Sequence[str], number: int) -> dict[str, int]:
    """Which group each site is in, groups being as even as can be; 0 if there are none."""
    if plan.averaging != "groups":
        return dict.fromkeys(names, 0)
    order = randomness(plan.seed, f"groups of round {number}").permutation(len(names))
    return {name: int(order[place]) % plan.groups for place, name in enumerate(names)}


def starts(plan: TrainingPlan, model: Parameters, kept: Shared) -> list[Parameters]:
    """What each group begins the round with."""
    if plan.averaging != "groups":
        return [model]
    return [kept.get(_key(group), model) for group in range(plan.groups)]


def together(
    plan: TrainingPlan, models: Mapping[int, Parameters], kept: Shared
) -> tuple[Parameters, Shared]:
    """The model of the run, and what the server keeps, given the groups' models."""
    if plan.averaging != "groups":
        return models[0], kept
    every = [models[group] for group in range(plan.groups)]
    kept = kept | {_key(group): model for group, model in enumerate(every)}
    return mean(every, [1.0] * len(every)), kept


def _key(group: int) -> str:
    return f"group {group}"
