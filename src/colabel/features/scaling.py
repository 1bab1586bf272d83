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
        mean = _mean(sums)
        mean_square = _second(sums, self.name, "squares", "products") / sums.count
        if mean_square.ndim == 2:
            mean_square = np.diagonal(mean_square)
        variance = mean_square - mean**2
        varies = variance > tolerance * mean_square
        self.mean = sums.about + mean
        self.scale = np.where(varies, 1 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)

    def transform(self, points: NDArray[np.generic]) -> Matrix:
        """Standardised points, float64."""
        return (_matching(points, self.mean) - self.mean) * self.scale


class Whitened:
    """Standardised points whose columns are then decorrelated over all sites.

    `shrinkage` mixes the correlations with the identity: 0 whitens fully, 1 only standardises.
    The symmetric root of the correlations is used (ZCA): unlike PCA whitening it has no free
    signs or rotations, so that sites with different linear algebra still agree on it.
    """

    name: ClassVar[str] = "whitened"
    order: ClassVar[Order] = "products"

    def __init__(self, sums: Moments, shrinkage: float = 0.1, tolerance: float = ROUNDING) -> None:
        if not 0 <= shrinkage <= 1:
            raise InputError(Problem(f"shrinkage is {shrinkage}", "Choose it from 0 to 1."))
        second = _second(sums, self.name, "products") / sums.count
        self._standardised = Standardised(sums, tolerance)
        mean, scale = _mean(sums), self._standardised.scale
        correlation = (second - np.outer(mean, mean)) * np.outer(scale, scale)
        mixed = (1 - shrinkage) * correlation
        mixed[np.diag_indices_from(mixed)] = 1.0
        # The relative error of a correlation grows as the variance drowns in the mean square.
        noise = tolerance * float(np.max(np.diagonal(second) * scale**2, initial=1.0)) * len(mean)
        # One such column must not switch off all the others.
        self.matrix = _inverse_root(mixed, min(noise, 1e-6))

    def transform(self, points: NDArray[np.generic]) -> Matrix:
        """Whitened points, float64."""
        return self._standardised.transform(points) @ self.matrix


def _inverse_root(symmetric: Matrix, noise: float) -> Matrix:
    """A^(−1/2), leaving out the directions in which A is zero up to noise."""
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    kept = values > noise
    root: Matrix = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    return root


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
