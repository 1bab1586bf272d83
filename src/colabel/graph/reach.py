"""How far the labelled points of one graph reach: columns of S, all at once or part by part.

Columns are as exact as `solver` makes them, in float32, or, for graphs of very many points, nearly:
then they are computed by Chebyshev sweeps that leave each column within `GAIN` of its length (the
eigenvalues of αW lie in [−α, α], so the number of sweeps that proves it is known beforehand), and
kept in float16, whose rounding is half of that: times a power of two, so that they fill its range.
All shares stay what they are. docs/decisions/009 says what that does to labels.

Memory: 4 or 2 bytes per row and column asked for, and 768 bytes per point and core.
"""

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from colabel.graph.propagate import influence, influence_on_new
from colabel.graph.spectrum import chebyshev, n_sweeps
from colabel.graph.sweeps import Edges, edges, kernels, zeros
from colabel.machine import in_threads, n_threads

GAIN = 5e-3
MOST_KEPT = 2**27  # numbers
_WIDTH = 64
_LEAST = 2.0**-14  # of float16 at full precision
LARGEST = 2.0**15  # entry in float16

Places = NDArray[np.intp]
Columns = NDArray[np.floating]


def dtype_of(*, nearly: bool) -> np.dtype[np.floating]:
    """What columns are kept and sent in."""
    return np.dtype(np.float16 if nearly else np.float32)


class Reach:
    """S[:, columns] for S = (I − αW)⁻¹ [XCLP Alg. 1, lines 10 and 12], or `scale` times that.

    `keep`: what fits into memory is solved for once, and parts of it are taken from there.
    """

    def __init__(
        self,
        graph: csr_array,
        alpha: float,
        columns: Places,
        *,
        nearly: bool = False,
        keep: bool = False,
    ) -> None:
        self._graph, self._alpha, self._columns, self._nearly = graph, alpha, columns, nearly
        n, n_columns = graph.shape[0], len(columns)
        self._keeps = keep and n * n_columns <= MOST_KEPT and 2 * n_columns <= n

    @property
    def scale(self) -> float:
        """What columns are multiplied by: no entry of S is above 1 / (1 − α)."""
        return 2.0 ** math.floor(math.log2(LARGEST * (1 - self._alpha))) if self._nearly else 1.0

    def part(self, rows: Places, chosen: Places | None = None) -> Columns:
        """Some rows, and some of the columns (or all)."""
        if chosen is None:
            chosen = np.arange(len(self._columns))
        if self._keeps:
            whole = self._whole[rows]
            return whole if len(chosen) == len(self._columns) else whole[:, chosen]
        columns, n = self._columns[chosen], self._graph.shape[0]
        if not self._nearly:
            return influence(self._graph, self._alpha, rows, columns).astype(np.float32)
        if len(rows) < len(columns):  # S is symmetric
            return np.ascontiguousarray(self._solve(units(rows, n), columns).T)
        return self._solve(units(columns, n), rows)

    def on_new(self, steps: csr_array, chosen: Places) -> Columns:
        """The same for points that are reached by one step from the graph: steps · S."""
        columns = self._columns[chosen]
        if not self._nearly:
            found = influence_on_new(self._graph, self._alpha, steps, columns)
            return found.astype(np.float32)
        if steps.shape[0] < len(columns):
            return np.ascontiguousarray(self._solve(csc_array(steps.T), columns).T)
        every = np.arange(steps.shape[1])
        found = self._solve(units(columns, len(every)), every).astype(np.float32)
        return np.asarray(steps.astype(np.float32) @ found).astype(dtype_of(nearly=True))

    @cached_property
    def _whole(self) -> Columns:
        every = np.arange(self._graph.shape[0])
        if not self._nearly:
            return influence(self._graph, self._alpha, every, self._columns).astype(np.float32)
        return self._solve(units(self._columns, len(every)), every)

    def _solve(self, right: csc_array, rows: Places) -> Columns:
        """Some rows of X, where (I − αW) X = scale · right, nearly."""
        places, graph_edges = self._reordered
        n, n_columns = right.shape
        terms = chebyshev(self._alpha, self._alpha, n_sweeps(self._alpha, self._alpha, GAIN))
        out = np.empty((len(rows), n_columns), dtype=dtype_of(nearly=True))
        starts = iter(range(0, n_columns, _WIDTH))
        sweep, wanted = kernels(_WIDTH).sweep, places[rows]

        def work(_: int) -> None:
            source, now, last = (zeros(n, _WIDTH, np.float32) for _ in range(3))
            for start in starts:  # shared by the threads: each takes the next when it is free
                for block in (source, now, last):
                    block[:] = 0.0
                part = right[:, start : start + _WIDTH].tocoo()
                source[places[part.row], part.col] = self.scale * part.data
                sweep(graph_edges, terms, source, now, last)
                found = now[wanted]
                found[np.abs(found) < _LEAST] = 0.0  # where float16 takes forty times as long
                narrow = found.astype(out.dtype)  # and on assignment it would, too
                out[:, start : start + _WIDTH] = narrow[:, : part.shape[1]]

        in_threads(work, range(n_threads()))
        return out

    @cached_property
    def _reordered(self) -> tuple[Places, Edges]:
        """Where each point stands when neighbours are near in memory, and αW in that order."""
        order = reverse_cuthill_mckee(self._graph, symmetric_mode=True).astype(np.intp)
        matrix = csr_array(self._alpha * self._graph[order][:, order])
        matrix.sort_indices()
        return np.argsort(order), edges(matrix)


def units(columns: Places, n: int) -> csc_array:
    """One unit vector for each."""
    ends = np.arange(len(columns) + 1)
    return csc_array((np.ones(len(columns), np.float32), columns, ends), shape=(n, len(columns)))
