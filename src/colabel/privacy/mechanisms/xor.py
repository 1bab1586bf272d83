"""The XOR mechanism [FedCT §4]: labels as rows of bits, on which random bits are added modulo 2.

A row of random bits b has chance ∝ exp(b Θ bᵀ) (the matrix-valued Bernoulli distribution). With
Θ = diag(θ) the bits are independent, and bit c flips with chance 1 / (1 + e^-θc): less than 1/2
for θ < 0, and the less the larger ε. Rows are always independent (Λ = 0): otherwise the
distribution could neither be summed nor drawn from exactly.

How much a label costs, and what [FedCT Cor. 1] says about it. It asks that s ‖λ(Θ)‖₂ ≤ ε, where s
is the squared Frobenius norm of a change: the number of changed *bits*, two for a changed label.

- Independent bits with Θ = -t·1: s changed bits cost exactly s·t, and a changed label 2t, where
  t = ln((1-p)/p) for bits that flip with chance p. Cor. 1 asks for s·t·√C ≤ ε, so it holds, and
  is √C times as careful as needed.
- Where [FedCT] takes s from Prop. 2, and in footnote 5 (s ≤ |U|), it counts changed *labels*.
  With that s, Cor. 1 gives 2ε/√C instead of ε: too much for 2 classes (1.41 ε) and 3 (1.15 ε).
- Dependent bits: Cor. 1 does not hold. For C = 3 and all entries of Θ equal to -t a changed label
  costs 8t, and Cor. 1 claims 6t. Use `epsilon_per_label`, which tries everything.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp
from scipy.stats import binom

from colabel.errors import InputError, Problem
from colabel.privacy.mechanisms import ALL, Floats, ahead, secret_numbers

Bits = NDArray[np.bool_]
Given = TypeVar("Given", np.bool_, np.uint8)

MOST_DEPENDENT = 12  # classes: all 2^C rows are listed


def independent_theta(epsilon: float, sensitivity: float, n_classes: int) -> Floats:
    """Θ with which [FedCT Cor. 1] is met with equality; `sensitivity` in bits (labels count 2)."""
    if not (epsilon > 0 and sensitivity > 0):
        raise InputError(Problem("ε or the sensitivity is not above 0", "Give positive numbers."))
    # n equal eigenvalues of size t have the length t · √n
    return np.diag(np.full(n_classes, -epsilon / (sensitivity * math.sqrt(n_classes))))


def claimed_epsilon(theta: Floats, sensitivity: float) -> float:
    """What [FedCT Cor. 1] says that so many changed bits cost (not always true: see above)."""
    return float(sensitivity * np.linalg.norm(np.linalg.eigvalsh(theta)))


def epsilon_per_label(theta: Floats) -> float:
    """What a changed label costs at most: the largest ratio of chances of any answer, in logs.

    A label may also become an abstention (a row of zeros), or the other way round.
    """
    _check(theta)
    sizes = np.sort(np.abs(np.diag(theta)))
    if _is_diagonal(theta):
        return float(sizes[-2:].sum())
    rows = _all_rows(len(theta))
    logs = _log_weights(rows, theta)
    powers = [2**c for c in range(len(theta))]
    changes = powers + [a + b for a, b in combinations(powers, 2)]
    return max(float(np.max(logs - logs[np.arange(len(logs)) ^ change])) for change in changes)


def flip_probability(theta: Floats) -> Floats:
    """For every class: how often its bit flips."""
    _check(theta)
    if _is_diagonal(theta):
        return np.asarray(expit(np.diag(theta)))
    rows = _all_rows(len(theta))
    return row_probabilities(theta) @ rows


def row_probabilities(theta: Floats) -> Floats:
    """The chances of all 2^C rows of random bits; row number n has bit c of n in column c."""
    logs = _log_weights(_all_rows(len(theta)), theta)
    return np.exp(logs - logsumexp(logs))


def xor(bits: Bits, theta: Floats, between: Iterable[Floats] = ()) -> Bits:
    """Points × classes: the same bits, some of them flipped. `between`: Λ, which must be 0."""
    _check(theta, bits, between)
    return flip(bits, expit(np.diag(theta))) if _is_diagonal(theta) else bits ^ _noise(bits, theta)


def flip(bits: NDArray[Given], probability: float | Floats) -> NDArray[Given]:
    """The same bits, of which each one flips with its chance, independently of all others."""
    chances = np.atleast_1d(probability)
    if not ((chances >= 0) & (chances <= 0.5)).all():
        raise InputError(
            Problem("bits flip with chances that are not from 0 to 0.5", "Give such chances.")
        )
    # up to the next number of 2^64, so that no flip is rarer than said; 2^63 is 1/2
    shares = [math.ceil(Fraction(math.nextafter(each, 0.5)) * ALL) for each in chances.tolist()]
    drawn = secret_numbers(bits.size, "xor").reshape(bits.shape)
    return bits ^ (drawn < np.array(shares, np.uint64)).astype(bits.dtype)


def survives(n_classes: int, log_odds: float, n_sites: int) -> float:
    """The chance that the class with most bits is right, ties broken at random, if all sites were
    right and each bit flips with chance 1 / (1 + e^log_odds), independently. Exact.
    """
    counts, flips = np.arange(n_sites + 1), expit(-log_odds)
    at, below = binom.pmf(counts, n_sites, flips), binom.cdf(counts - 1, n_sites, flips)
    right = binom.pmf(counts, n_sites, expit(log_odds))
    return float(right @ ahead(below, at, n_classes - 1))


def _noise(bits: Bits, theta: Floats) -> Bits:
    """All rows in a line, each as long as its chance, in whole parts of 2^64."""
    shares = [max(1, int(chance * ALL)) for chance in row_probabilities(theta)]
    likely = int(np.argmax(shares))
    shares[likely] += ALL - sum(shares)
    ends = np.array([sum(shares[: n + 1]) for n in range(len(shares) - 1)], np.uint64)
    number = np.searchsorted(ends, secret_numbers(len(bits), "xor"), side="right")
    return _all_rows(len(theta))[number]


def _all_rows(n_classes: int) -> Bits:
    return (np.arange(2**n_classes)[:, None] >> np.arange(n_classes) & 1).astype(bool)


def _log_weights(rows: Bits, theta: Floats) -> Floats:
    held = rows.astype(np.float64)
    return np.einsum("rc,cd,rd->r", held, theta, held)


def _is_diagonal(theta: Floats) -> bool:
    return not (theta - np.diag(np.diag(theta))).any()


def _check(theta: Floats, bits: Bits | None = None, between: Iterable[Floats] = ()) -> None:
    if theta.ndim != 2 or len(theta) < 2 or not np.array_equal(theta, theta.T):
        raise InputError(
            Problem("Θ is not a symmetric matrix of classes × classes", "Make it one.")
        )
    found = []
    if not np.isfinite(theta).all():
        found.append(Problem("Θ has entries that are no numbers", "Give finite ones."))
    elif _is_diagonal(theta):
        found += _problems_of_signs(np.asarray(expit(np.diag(theta))))
    elif len(theta) > MOST_DEPENDENT:
        found.append(
            Problem(
                f"Θ makes the bits of {len(theta)} classes depend on each other",
                f"Make it diagonal, or take at most {MOST_DEPENDENT} classes.",
            )
        )
    else:
        found += _problems_of_signs(row_probabilities(theta) @ _all_rows(len(theta)))
    if bits is not None and (bits.ndim != 2 or bits.shape[1] != len(theta)):
        found.append(Problem("bits and Θ are not of the same classes", "Give a column per class."))
    if any(np.any(matrix) for matrix in between):
        found.append(
            Problem(
                "Λ is not 0: noise that ties points together cannot be drawn exactly, and what "
                "is drawn approximately has no guarantee",
                "Leave Λ out.",
            )
        )
    if found:
        raise InputError(found)


def _problems_of_signs(flips: Floats) -> list[Problem]:
    if (flips <= 0.5 + 1e-12).all():
        return []
    return [
        Problem(
            f"Θ flips bits more often than not ({flips.max():.3g})",
            "Change the sign of its entries.",
        )
    ]
