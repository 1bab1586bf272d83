"""Preprocessing that all sites share, built from the moments of all their points.

Each class is a fixed function of the total moments, so every site (or every machine) that has
the same total computes the same features.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem
from colabel.features.moments import Moments, Order
from colabel.features.plain import as_matrix

Matrix = NDArray[np.float64]

# Below this share of the mean square, a variance is rounding error of float64 sums.
ROUNDING = 64 * float(np.finfo(np.float64).eps)


class Centred:
    """Points minus the mean of all sites' points."""

    name: ClassVar[str] = "centred"
    order: ClassVar[Order] = "sum"

    def __init__(self, sums: Moments) -> None:
        self.mean = sums.about + _mean(sums)

    def transform(self, points: NDArray[np.generic]) -> Matrix:
        """Centred points, float64."""
        return _matching(points, self.mean) - self.mean


class Standardised:
    """Points with mean 0 and variance 1 over all sites; a constant column becomes 0.

    A column counts as constant when its variance is below `tolerance` × its mean square (raise
    it above 2⁻ᶠ for moments that came through a sum with f fractional bits).
    """

    name: ClassVar[str] = "standardised"
    order: ClassVar[Order] = "squares"

    def __init__(self, sums: Moments, tolerance: float = ROUNDING) -> None:
        self.mean = sums.about + _mean(sums)
        variance = _variance(sums, self.name, tolerance)
        self.scale = _inverse_roots(variance, variance > 0)

    def transform(self, points: NDArray[np.generic]) -> Matrix:
        """Standardised points, float64."""
        return (_matching(points, self.mean) - self.mean) * self.scale


class Scaled:
    """Points on comparable scales, without blowing up columns that hardly vary.

    Each column is centred and divided by √((variance + the median variance) / 2); a column that
    is 0 or 1 everywhere is only centred, a constant one becomes 0. Full standardisation harms
    one-hot columns and the dark corners of images; see docs/decisions/005.
    """

    name: ClassVar[str] = "scaled"
    order: ClassVar[Order] = "squares"

    def __init__(self, sums: Moments, tolerance: float = ROUNDING) -> None:
        self.mean = sums.about + _mean(sums)
        variance = _variance(sums, self.name, tolerance)
        varies = variance > 0
        measured = varies & ~_zero_or_one(sums, self.name, tolerance)
        usual = float(np.median(variance[measured])) if measured.any() else 1.0
        self.scale = varies.astype(np.float64)
        self.scale[measured] = _inverse_roots((variance + usual) / 2, measured)[measured]

    def transform(self, points: NDArray[np.generic]) -> Matrix:
        """Scaled points, float64."""
        return (_matching(points, self.mean) - self.mean) * self.scale


def _inverse_roots(variance: Matrix, where: NDArray[np.bool_]) -> Matrix:
    """1 / √variance there, 0 elsewhere."""
    roots = np.sqrt(np.where(where, variance, 1.0))
    return np.where(where, 1.0 / roots, 0.0)


def _squares(sums: Moments, name: str) -> Matrix:
    return _second(sums, name, "squares")


def _variance(sums: Moments, name: str, tolerance: float) -> Matrix:
    """Each column's variance, exactly 0 where it is only rounding."""
    mean_square = _squares(sums, name) / sums.count
    variance = mean_square - _mean(sums) ** 2
    return np.where(variance > tolerance * mean_square, variance, 0.0)


def _zero_or_one(sums: Moments, name: str, tolerance: float) -> NDArray[np.bool_]:
    """Columns with Σx = Σx²: all their values are 0 or 1 (or the sums agree by accident)."""
    sum_, about, count = sums.sum, sums.about, sums.count
    total = sum_ + count * about
    squares = _squares(sums, name) + 2 * about * sum_ + count * about**2
    return np.abs(total - squares) <= tolerance * np.maximum(squares, 1.0)


def _mean(sums: Moments) -> Matrix:
    if sums.count < 1:
        raise InputError(Problem("moments of no points", "At least one site must have points."))
    return sums.sum / sums.count


def _second(sums: Moments, name: str, *orders: Order) -> Matrix:
    if sums.second is None or sums.order not in orders:
        raise InputError(
            Problem(
                f"{name} features need moments of order {orders[0]!r}, not {sums.order!r}",
                f"Compute them with moments(points, {orders[0]!r}).",
            )
        )
    return sums.second


def _matching(points: NDArray[np.generic], mean: Matrix) -> Matrix:
    matrix = as_matrix(points).astype(np.float64, copy=False)
    if matrix.shape[1] != len(mean):
        raise InputError(
            Problem(
                f"points have {matrix.shape[1]} columns, the moments {len(mean)}",
                "Use the same columns as for the moments.",
            )
        )
    return matrix
