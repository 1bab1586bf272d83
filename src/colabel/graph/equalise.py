"""Similarity without the few directions in which all points differ most.

Pixels and other raw features vary mostly along a handful of directions (brightness, size), which
drown the finer ones that tell classes apart. Whitening cures that, but needs the covariance of
all sites' points. The same can be had from similarities alone, which the server has anyway: with
unit points U, C = UᵀU / n and a ridge ρ, the whitened inner product

    uᵢᵀ (C + ρ)⁻¹ uⱼ  ∝  uᵢᵀuⱼ − Σₚ μₚ / (μₚ + ρ) · φₚᵢ φₚⱼ

needs only the leading eigenvalues μₚ of C and the coordinates φₚᵢ of the points along its
eigenvectors, and both follow from the similarities to a sample of the points (Nyström).
See docs/decisions/007.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from colabel.graph.distances import Distances

RIDGE = 30.0  # times the mean eigenvalue of C
MOST_SAMPLED = 1000
_LEAST_KEPT = 0.05  # an eigenvalue below this share of the ridge changes nothing
_LEAST_LENGTH = 0.02  # of what is left of a point; less would be mostly noise
_FINE = 65_534  # equalised angles are told in this many steps
_BLOCK = 512

Floats32 = NDArray[np.float32]


class Equaliser(NamedTuple):
    """What is subtracted: `basis` turns similarities to the sample into weighted coordinates."""

    sample: NDArray[np.intp]
    basis: Floats32
    coordinates: Floats32  # of the points of the graph, one row each

    @classmethod
    def fit(cls, distances: Distances, n_features: int) -> Self:
        """From the distances of all pairs of points; the sample is every n-th point."""
        n = distances.shape[0]
        n_sampled = min(n, MOST_SAMPLED)
        sample = np.linspace(0, n - 1, n_sampled).round().astype(np.intp)
        cosines = cosine_table(distances.n_bits)
        near = cosines[_rows_of(distances, sample)]  # sample × all points
        values, vectors = np.linalg.eigh(near[:, sample].astype(np.float64))
        spread = values / n_sampled
        ridge = RIDGE / max(min(n_features, n_sampled - 1), 1)
        kept = spread > _LEAST_KEPT * ridge
        weights = np.sqrt(spread[kept] / (spread[kept] + ridge) / values[kept])
        basis = (vectors[:, kept] * weights).astype(np.float32)
        return cls(sample, basis, near.T @ basis)

    def apply(self, distances: Distances) -> "EqualisedDistances":
        """The same rows and columns, equalised; the columns are the points of the graph."""
        return EqualisedDistances(distances, self)


class EqualisedDistances:
    """Angles after equalisation, told like distances of longer codes."""

    n_bits = _FINE

    def __init__(self, distances: Distances, equaliser: Equaliser) -> None:
        self._distances, self._equaliser = distances, equaliser
        self._cosines = cosine_table(distances.n_bits)
        self._lengths = _lengths(equaliser.coordinates)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self._distances.shape

    def rows(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Equalised angles of the row points start … stop−1 to all column points."""
        similar = self._cosines[self._distances.rows(start, stop)]
        own = similar[:, self._equaliser.sample] @ self._equaliser.basis
        similar -= own @ self._equaliser.coordinates.T
        similar /= _lengths(own)[:, None] * self._lengths
        np.clip(similar, -1.0, 1.0, out=similar)
        return np.rint(np.arccos(similar) * (_FINE / np.pi)).astype(np.uint16)


def cosine_table(n_bits: int) -> Floats32:
    """The estimated cosine for every possible distance."""
    return np.cos(np.pi / n_bits * np.arange(n_bits + 1)).astype(np.float32)


def _rows_of(distances: Distances, wanted: NDArray[np.intp]) -> NDArray[np.uint16]:
    """The wanted rows (ascending), read in blocks."""
    found = []
    for start in range(0, distances.shape[0], _BLOCK):
        inside = wanted[(wanted >= start) & (wanted < start + _BLOCK)]
        if len(inside):
            first = int(inside[0])
            found.append(distances.rows(first, int(inside[-1]) + 1)[inside - first])
    return np.concatenate(found)


def _lengths(coordinates: Floats32) -> Floats32:
    """What is left of points of length 1."""
    left = 1.0 - np.einsum("ij,ij->i", coordinates, coordinates)
    return np.sqrt(np.maximum(left, _LEAST_LENGTH))
