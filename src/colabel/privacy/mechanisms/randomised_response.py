"""k-ary randomised response: a label stays, or becomes any other one with equal chance.

A label stays with chance e^ε / (e^ε + k - 1), so that two labels give the same answer with
chances that differ by a factor of at most e^ε. Drawn in whole numbers: a label has w of 2^64
values for each other label and the rest for itself, and w is rounded up; the factor is never more
than e^ε.

Whether sites may abstain is a setting that everybody knows. If they may, an abstention (−1) is
one more label (k = C + 1), and may come or go by chance as any other.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

from colabel.errors import InputError, Problem
from colabel.privacy.mechanisms import ALL, ahead, secret_numbers

ABSTAIN = -1
LEAST, MOST = 1e-12, 44.0  # of ε: below, doubles cannot hold e^ε; above, 2^64 values cannot

_EXACT_UP_TO = 100  # sites


def randomised_response(
    labels: NDArray[np.integer], n_classes: int, epsilon: float, *, abstaining: bool = False
) -> NDArray[np.int64]:
    """Noisy labels, with ε-differential privacy for each one."""
    n_options = n_classes + abstaining
    _check(labels, n_classes, epsilon, abstaining)
    place = np.where(labels == ABSTAIN, n_classes, labels).astype(np.int64)
    share = n_values(n_options, epsilon)
    drawn = secret_numbers(labels.size, "randomised response").reshape(labels.shape)
    step = (drawn // np.uint64(share)).astype(np.int64) + 1  # to which other one
    moved = drawn < np.uint64(share * (n_options - 1))
    answer = np.where(moved, (place + step) % n_options, place)
    return np.where(answer == n_classes, ABSTAIN, answer)


def keeps(n_classes: int, epsilon: float, *, abstaining: bool = False) -> float:
    """The chance that a label survives."""
    return 1 / (1 + (n_classes + abstaining - 1) * math.exp(-epsilon))


def n_values(n_options: int, epsilon: float) -> int:
    """How many of 2^64 values each other option has, rounded to the careful side."""
    factor = Fraction(max(1.0, math.nextafter(math.exp(min(epsilon, MOST)), 0)))
    return math.ceil(ALL / (factor + n_options - 1))


def survives(n_classes: int, epsilon: float, n_sites: int, *, abstaining: bool = False) -> float:
    """The chance that the majority is right, ties broken at random, if all sites were right.

    Exact up to 100 sites; for more within 0.001.
    """
    keep = keeps(n_classes, epsilon, abstaining=abstaining)
    other = keep * math.exp(-epsilon)
    if n_sites > _EXACT_UP_TO:
        return _almost(n_sites, keep, other, n_classes)
    return _exact(n_sites, keep, other, n_classes, abstaining)


def _exact(n_sites: int, keep: float, other: float, n_classes: int, abstaining: bool) -> float:
    """Counts of so many sites are independent Poisson counts, given that these add up to it.

    So each class has a generating function; their product is taken at roots of unity, of which
    there are enough that what wraps around is negligible.
    """
    size = 4 * n_sites + 64
    root = np.exp(-2j * np.pi * np.arange(size) / size)
    votes = np.arange(n_sites + 1)
    right, wrong = poisson.pmf(votes, n_sites * keep), poisson.pmf(votes, n_sites * other)
    silent = np.exp(n_sites * other * (root - 1)) if abstaining else 1.0
    below, total = np.zeros(size, np.complex128), 0.0
    for count in range(n_sites + 1):
        at = wrong[count] * root**count
        won = ahead(below, at, n_classes - 1) * silent
        total += right[count] * float(np.mean(won * root ** (count - n_sites)).real)
        below += at
    return total / float(poisson.pmf(n_sites, n_sites))


def _almost(n_sites: int, keep: float, other: float, n_classes: int) -> float:
    """As if the number of sites were Poisson, so that classes are independent; then corrected for
    its spread by the curvature, seen one standard deviation off.
    """

    def poisson_sites(mean: float) -> float:
        votes = np.arange(int(mean * keep + 12 * math.sqrt(mean * keep)) + 30)
        right, wrong = poisson.pmf(votes, mean * keep), poisson.pmf(votes, mean * other)
        fewer = poisson.cdf(votes - 1, mean * other)
        return float(right @ ahead(fewer, wrong, n_classes - 1))

    spread = math.sqrt(n_sites)
    around = poisson_sites(n_sites - spread) + poisson_sites(n_sites + spread)
    return min(1.0, 2 * poisson_sites(n_sites) - around / 2)


def _check(labels: NDArray[np.integer], n_classes: int, epsilon: float, abstaining: bool) -> None:
    found = []
    if not LEAST <= epsilon < math.inf:
        found.append(Problem(f"ε per label is {epsilon!r}", f"Give a number from {LEAST:g} on."))
    if n_classes < 2:
        found.append(Problem(f"there are {n_classes} classes", "Give at least 2."))
    if not abstaining and (labels == ABSTAIN).any():
        found.append(
            Problem(
                "a site abstains, which randomised response would show",
                "Let it vote for every point, or make abstaining one of the answers.",
            )
        )
    if ((labels < ABSTAIN) | (labels >= n_classes)).any():
        found.append(
            Problem("there are labels that are no class", f"Give labels from 0 to {n_classes - 1}.")
        )
    if found:
        raise InputError(found)
