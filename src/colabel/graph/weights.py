"""From nearest neighbours to the normalised adjacency matrix of the data graph."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from colabel.graph.neighbours import Neighbours


def similarities(distances: NDArray[np.uint16], n_bits: int) -> NDArray[np.float64]:
    """Estimated cosine similarities, negative ones as 0 [XCLP Alg. 1, line 6]."""
    acute = 2 * distances.astype(np.int64) < n_bits  # at a right angle, cos leaves a rounding error
    return np.where(acute, np.cos(np.pi / n_bits * distances), 0.0)


class Weights(NamedTuple):
    """W, and the density around each point by which its edges were divided (1 if they were not)."""

    matrix: csr_array
    density: NDArray[np.float64]


def adjacency(
    neighbours: Neighbours, *, sharpness: float = 1.0, density_correction: bool = False
) -> Weights:
    """W = B + Bᵀ, where B has the k largest similarities per row [XCLP Alg. 1, lines 6-8].

    `sharpness` is a power of the similarities (1 in the paper, 3 in its authors' code).
    `density_correction` divides each edge by both ends' degrees, so that labels do not flow
    into crowded regions only because these are crowded (Coifman and Lafon 2006, α = 1).
    """
    n, k = neighbours.indices.shape
    weights = similarities(neighbours.distances, neighbours.n_bits) ** sharpness
    ends = np.arange(0, n * k + 1, k)
    nearest = csr_array((weights.ravel(), neighbours.indices.ravel(), ends), shape=(n, n))
    joint = csr_array(nearest + nearest.T)
    joint.eliminate_zeros()
    joint.sort_indices()
    degrees = _degrees(joint)
    density = np.where(density_correction & (degrees > 0), degrees, 1.0)
    return Weights(_scaled(joint, 1 / density), density)


def normalise(weights: Weights) -> csr_array:
    """D^-½ W D^-½; a point without neighbours keeps an empty row [XCLP Alg. 1, line 9]."""
    return _scaled(weights.matrix, _inverse_roots(_degrees(weights.matrix)))


def towards(neighbours: Neighbours, weights: Weights, *, sharpness: float = 1.0) -> csr_array:
    """One propagation step from the points of a graph to new points, one row per new point.

    The rows of D^-½ W D^-½ that the new points would have, each divided by its sum.
    """
    n, k = neighbours.indices.shape
    pull = _inverse_roots(_degrees(weights.matrix)) / weights.density
    reach = (
        similarities(neighbours.distances, neighbours.n_bits) ** sharpness
        * pull[neighbours.indices]
    )
    totals = reach.sum(axis=1, keepdims=True)
    reach = np.divide(reach, totals, where=totals > 0, out=np.zeros_like(reach))
    ends = np.arange(0, n * k + 1, k)
    shape = (n, len(weights.density))
    return csr_array((reach.ravel(), neighbours.indices.ravel(), ends), shape=shape)


def _degrees(matrix: csr_array) -> NDArray[np.float64]:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()


def _inverse_roots(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)


def _scaled(matrix: csr_array, scale: NDArray[np.float64]) -> csr_array:
    """Every entry times the scale of its row and of its column."""
    rows = np.repeat(scale, np.diff(matrix.indptr))
    data = matrix.data * rows * scale[matrix.indices]
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
