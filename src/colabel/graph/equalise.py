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

from colabel.graph.distances import Distances, Places
from colabel.machine import in_threads

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
        among = cosines[distances.part(sample, sample)]
        values, vectors = np.linalg.eigh(among.astype(np.float64))
        spread = values / n_sampled
        ridge = RIDGE / max(min(n_features, n_sampled - 1), 1)
        kept = spread > _LEAST_KEPT * ridge
        weights = np.sqrt(spread[kept] / (spread[kept] + ridge) / values[kept])
        basis = (vectors[:, kept] * weights).astype(np.float32)
        return cls(sample, basis, project(distances, sample, basis))

    def apply(self, distances: Distances, *, same_points: bool = False) -> "EqualisedDistances":
        """The same rows and columns, equalised; the columns are the points of the graph.

        `same_points`: so are the rows, whose coordinates are known then.
        """
        own = self.coordinates if same_points else project(distances, self.sample, self.basis)
        return EqualisedDistances(distances, own, self.coordinates)


class EqualisedDistances:
    """Angles after equalisation, told like distances of longer codes."""

    n_bits = _FINE

    def __init__(self, distances: Distances, own: Floats32, coordinates: Floats32) -> None:
        self.distances, self.own, self.coordinates = distances, own, coordinates
        self.own_lengths, self.lengths = _lengths(own), _lengths(coordinates)
        self._cosines = cosine_table(distances.n_bits)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return self.distances.shape

    def rows(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Equalised angles of the row points start … stop−1 to all column points."""
        return self._equalised(
            self.distances.rows(start, stop), slice(start, stop), slice(0, len(self.lengths))
        )

    def part(self, rows: Places, columns: Places) -> NDArray[np.uint16]:
        """Equalised angles of some row points to some column points."""
        return self._equalised(self.distances.part(rows, columns), rows, columns)

    def _equalised(
        self, distances: NDArray[np.uint16], rows: Places | slice, columns: Places | slice
    ) -> NDArray[np.uint16]:
        similar = self._cosines[distances]
        similar -= self.own[rows] @ self.coordinates[columns].T
        similar /= self.own_lengths[rows][:, None] * self.lengths[columns]
        np.clip(similar, -1.0, 1.0, out=similar)
        return np.rint(np.arccos(similar) * (_FINE / np.pi)).astype(np.uint16)


def cosine_table(n_bits: int) -> Floats32:
    """The estimated cosine for every possible distance."""
    return np.cos(np.pi / n_bits * np.arange(n_bits + 1)).astype(np.float32)


def project(distances: Distances, sample: Places, basis: Floats32) -> Floats32:
    """Coordinates of all row points, from their similarities to a sample of the columns."""
    n, cosines = distances.shape[0], cosine_table(distances.n_bits)
    found = np.empty((n, basis.shape[1]), dtype=np.float32)

    def block(start: int) -> None:
        rows = np.arange(start, min(start + _BLOCK, n))
        found[rows] = cosines[distances.part(rows, sample)] @ basis

    in_threads(block, range(0, n, _BLOCK))
    return found


def _lengths(coordinates: Floats32) -> Floats32:
    """What is left of points of length 1."""
    left = 1.0 - np.einsum("ij,ij->i", coordinates, coordinates)
    return np.sqrt(np.maximum(left, _LEAST_LENGTH))
