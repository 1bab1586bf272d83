"""The two propositions of the paper on co-training, as numbers, and how it estimates sensitivity.

[FedCT Prop. 1], on convergence: if from round t on every site labels a point right with chance
a = 1 - c/t, independently of the others, the consensus changes after round t0 with chance at most
|U| (4c)^(m/2) ζ(m/2, t0 + 1). Read with care:

- The bound on a round, |U| (4a(1-a))^(m/2), is right, though the proof's first line is not: it
  asks for fewer than ⌊m/2⌋ votes, but of 5 sites 2 are no majority either (`loses_majority`).
- For few sites it says nothing. The paper reads off Figure 5, for |U| = 10^4, m = 5 and
  t0 = 1000, "δ = 0.9962 for c = 1, but δ = 0.7868 for c = 10". The formula gives 6.74 and 2132,
  and for c = 2 it gives 38.1: no bound at all, since all are above 1. The printed numbers are
  1 - δ for |U| = 1, with c = 2 and c = 10 (δ = 0.0038 and 0.2132).

[FedCT Prop. 2], on sensitivity: not one that differential privacy could rest on; see
`sensitivity_bound`.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import zeta
from scipy.stats import binom, norm

from colabel import randomness
from colabel.errors import InputError, Problem

Floats = NDArray[np.float64]
Labels = NDArray[np.integer]
Learn = Callable[[NDArray[Any], Labels], Labels]


class Curve(NamedTuple):
    """One line of Figure 5: the bound for every first round."""

    n_sites: int
    c: float
    t0: NDArray[np.int64]
    bound: Floats


class Estimate(NamedTuple):
    """How many labels changed at most, with a few neighbours of one data set."""

    n_labels: int
    n_public: int
    n_neighbours: int

    def __str__(self) -> str:
        return (
            f"up to {self.n_labels} of {self.n_public} labels changed in {self.n_neighbours} "
            "trials: an estimate from below, not a guarantee"
        )


def loses_majority(n_sites: int, accuracy: float) -> float:
    """The chance that no more than half of the sites label a point right."""
    return float(binom.cdf(n_sites // 2, n_sites, accuracy))


def change_bound(n_public: int, n_sites: int, accuracy: float) -> float:
    """[FedCT App. A]: at most this is the chance that the consensus changes in a round."""
    if not 0.5 <= accuracy <= 1:
        raise InputError(Problem(f"accuracy is {accuracy!r}", "Give a number from 0.5 to 1."))
    return float(n_public * (4 * accuracy * (1 - accuracy)) ** (n_sites / 2))


def convergence_bound(n_public: int, n_sites: int, c: float, t0: int) -> float:
    """[FedCT Prop. 1]: at most this is the chance that the consensus changes after round t0.

    As the formula gives it: where it is 1 or more it says nothing.
    """
    found = []
    if n_sites < 3:
        found.append(Problem(f"there are {n_sites} sites", "The bound needs at least 3."))
    if not c > 0:
        found.append(Problem(f"c is {c!r}", "Give a number above 0."))
    if t0 < 0:
        found.append(Problem(f"t0 is {t0!r}", "Give 0 or a later round."))
    if found:
        raise InputError(found)
    half = n_sites / 2
    return _exp(math.log(n_public) + half * math.log(4 * c) + _log_zeta(half, t0 + 1))


def figure_5(
    n_public: int = 10**4,
    sites: tuple[int, ...] = (5, 50, 100),
    growths: tuple[float, ...] = (1, 2, 10),
    last: int = 1000,
) -> list[Curve]:
    """[FedCT Fig. 5]: a curve for every number of sites and every c, up to the round `last`."""
    rounds = np.arange(1, last + 1)
    return [
        Curve(m, c, rounds, np.array([convergence_bound(n_public, m, c, int(t)) for t in rounds]))
        for m in sites
        for c in growths
    ]


def sensitivity_bound(n_public: int, rate: float, delta: float) -> int:
    """[FedCT Prop. 2]: with chance 1 - δ no more *labels* than this change, if every one of them
    changes with chance `rate`, independently. (The paper's s counts bits: two for a label.)

    That "if" is an assumption of the proof and not a consequence of stability. On-average
    stability is a mean over data sets, says something about the replaced point and not about
    points of U, and bounds a difference of losses, in which changes cancel out; differential
    privacy needs the worst pair of data sets. So this is an estimate.
    """
    if not (0 <= rate <= 1 and 0 < delta < 1):
        raise InputError(Problem("rate or δ is not between 0 and 1", "Give chances."))
    quantile = float(norm.isf(delta))  # P = Φ⁻¹(1 - δ)
    spread = quantile * math.sqrt(n_public * rate * (1 - rate))
    bound = math.ceil(n_public * rate + spread + quantile**2 / 3)
    return min(max(bound, 0), n_public)


def estimate_sensitivity(
    learn_and_predict: Learn,
    points: NDArray[Any],
    labels: Labels,
    n_neighbours: int,
    seed: int,
    change: Literal["replace", "remove"] = "replace",
) -> Estimate:
    """[FedCT §5]: train on data sets that differ in one record, and count labels of U that change.

    A record is replaced by a copy of another one, or removed. The largest count is at most the
    true sensitivity, and may be far below. Learning must not be random, or its chance counts too.
    """
    if len(points) < 2 or n_neighbours < 1:
        raise InputError(Problem("nothing to compare", "Give 2 records and 1 neighbour or more."))
    rng = randomness.data(seed, "sensitivity")
    before, most = learn_and_predict(points, labels), 0
    for _ in range(n_neighbours):
        out, other = rng.choice(len(points), 2, replace=False)
        rows = np.arange(len(points))
        rows[out] = other
        rows = rows if change == "replace" else np.delete(rows, out)
        after = learn_and_predict(points[rows], labels[rows])
        most = max(most, int(np.count_nonzero(np.asarray(after) != np.asarray(before))))
    return Estimate(most, len(before), n_neighbours)


def _log_zeta(s: float, q: float) -> float:
    """The logarithm of Hurwitz's zeta function; where that is too small for a float, an upper
    bound: its first term and the integral over the others.
    """
    found = float(zeta(s, q))
    return math.log(found) if found > 0 else -s * math.log(q) + math.log1p(q / (s - 1))


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf
