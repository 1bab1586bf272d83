"""The same number of answers about every candidate, whatever a method reveals.

An answer is one thing learnt about one point: a label, a row of scores, a loss or a gradient under
a model of one round. [FedCT App. E.1] asks FedCT, DD and PATE once and FedAvg 500 times, so its
table compares numbers of questions as much as methods.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem
from colabel.privacy.audit.measures import Floats


def equal_budget(most: Mapping[str, int], wanted: int | None = None) -> int:
    """How many answers all methods are attacked with: as many as the scarcest of them gives.

    most: how many each method gives about a candidate.
    """
    if not most:
        raise InputError(Problem("nothing to audit", "Give at least one method's exposure."))
    if wanted is None:
        return min(most.values())
    if wanted < 1:
        raise InputError(Problem(f"a budget of {wanted} answers", "Give 1 or more."))
    scarce = [
        Problem(
            f"{method} gives {n} answers about a point, not {wanted}",
            "Record more rounds or copies, or lower the budget.",
        )
        for method, n in most.items()
        if n < wanted
    ]
    if scarce:
        raise InputError(scarce)
    return wanted


def newest(answers: NDArray[Any], budget: int) -> NDArray[Any]:
    """The answers of the last rounds: what is remembered of members only grows."""
    return answers[-budget:]


def combined(per_round: NDArray[Any]) -> Floats:
    """What several rounds say together: the mean of what each says."""
    together: Floats = np.asarray(per_round, dtype=np.float64).mean(axis=0)
    return together
