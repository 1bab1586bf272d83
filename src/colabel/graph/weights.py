"""From nearest neighbours to the normalised adjacency matrix of the data graph."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from colabel.graph.neighbours import Neighbours


def similarities(distances: NDArray[np.uint16], n_bits: int) -> NDArray[np.float64]:
    """Estimated cosine similarities, negative ones as 0 [XCLP Alg. 1, line 6]."""
    acute = 2 * distances.astype(np.int64) < n_bits  # at a right angle, cos leaves a rounding error
    return np.where(acute, np.cos(np.pi / n_bits * distances), 0.0)


def adjacency(neighbours: Neighbours, n_bits: int) -> csr_array:
    """W = B + Bᵀ, where B has the k largest similarities per row [XCLP Alg. 1, lines 6-8]."""
    n, k = neighbours.indices.shape
    weights = similarities(neighbours.distances, n_bits)
    ends = np.arange(0, n * k + 1, k)
    nearest = csr_array((weights.ravel(), neighbours.indices.ravel(), ends), shape=(n, n))
    joint = csr_array(nearest + nearest.T)
    joint.eliminate_zeros()
    joint.sort_indices()
    return joint


def normalise(weights: csr_array) -> csr_array:
    """D^-½ W D^-½; a point without neighbours keeps an empty row [XCLP Alg. 1, line 9]."""
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    scale = diags_array(np.divide(1.0, np.sqrt(degrees), where=degrees > 0, out=np.zeros_like(degrees)))
    return csr_array(scale @ weights @ scale)


def towards(neighbours: Neighbours, n_bits: int, weights: csr_array) -> csr_array:
    """One propagation step from the points of a graph to new points, one row per new point.

    The rows of D^-½ W D^-½ that the new points would have, each divided by its sum.
    """
    n, k = neighbours.indices.shape
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    reach = similarities(neighbours.distances, n_bits) / np.sqrt(
        np.maximum(degrees[neighbours.indices], np.finfo(float).tiny)
    )
    reach[degrees[neighbours.indices] == 0] = 0.0
    totals = reach.sum(axis=1, keepdims=True)
    reach = np.divide(reach, totals, where=totals > 0, out=np.zeros_like(reach))
    ends = np.arange(0, n * k + 1, k)
    return csr_array(
        (reach.ravel(), neighbours.indices.ravel(), ends), shape=(n, weights.shape[0])
    )
