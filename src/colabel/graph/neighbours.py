"""The k nearest neighbours of every point, by Hamming distance."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from colabel.graph.distances import Distances
from colabel.machine import n_threads

_BLOCK = 512


class Neighbours(NamedTuple):
    """For each point its k nearest others, nearest first; both arrays are n × k."""

    indices: NDArray[np.int32]
    distances: NDArray[np.uint16]
    n_bits: int

    def first(self, k: int) -> "Neighbours":
        """Only the k nearest of them."""
        return Neighbours(self.indices[:, :k], self.distances[:, :k], self.n_bits)


@numba.njit(nogil=True, cache=True)
def _select(rows, own, indices, distances):  # type: ignore[no-untyped-def]
    k = indices.shape[1]
    for i in range(rows.shape[0]):
        held = 0
        for j in range(rows.shape[1]):
            if own >= 0 and j == own + i:
                continue  # a point is not its own neighbour, whatever ties with it
            distance = rows[i, j]
            if held == k and distance >= distances[i, k - 1]:
                continue  # a tie goes to the lower index, which came first
            slot = held if held < k else k - 1
            while slot > 0 and distances[i, slot - 1] > distance:
                distances[i, slot] = distances[i, slot - 1]
                indices[i, slot] = indices[i, slot - 1]
                slot -= 1
            distances[i, slot] = distance
            indices[i, slot] = j
            held = min(held + 1, k)


def nearest(distances: Distances, k: int, *, same_points: bool = True) -> Neighbours:
    """Each row point's k nearest column points; ties go to the lower index [XCLP Alg. 1, line 7].

    `same_points`: rows and columns are the same points, and none is its own neighbour.
    Memory: blocks of rows, and the n × k result.
    """
    n, n_columns = distances.shape
    most = n_columns - same_points
    if not 1 <= k <= most:
        raise ValueError(f"k must be between 1 and {most}, got {k}")
    found = Neighbours(np.empty((n, k), np.int32), np.empty((n, k), np.uint16), distances.n_bits)

    def block(start: int) -> None:
        rows = distances.rows(start, min(start + _BLOCK, n))
        own = start if same_points else -1
        _select(rows, own, found.indices[start:], found.distances[start:])

    with ThreadPoolExecutor(n_threads()) as pool:
        list(pool.map(block, range(0, n, _BLOCK)))
    return found
