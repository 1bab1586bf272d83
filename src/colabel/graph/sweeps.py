"""The loops over a graph's edges that `solver` spends its time in, for a block of columns at once.

A block is an n × width matrix, so one edge moves `width` numbers that lie side by side.
Everything here runs without the interpreter lock, one thread per block.
"""

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from colabel.graph.lanes import load, narrow, plus, plus_square, scaled, store

Floats32 = NDArray[np.float32]

_NEAR = 32  # rows of a block that stay in the first-level cache
_CACHE_LINE = 64


class Edges(NamedTuple):
    """A sparse matrix by rows, its values in both precisions."""

    ends: NDArray[np.int64]
    others: NDArray[np.int32]
    weights: NDArray[np.float64]
    light: Floats32


class Kernels(NamedTuple):
    """The loops, compiled for one width; all write to their last arguments."""

    sweep: Any
    residual: Any
    project: Any
    combine: Any
    add: Any


@cache
def kernels(width: int) -> Kernels:
    """Compile for blocks of so many columns; the compiled code is kept on disk."""

    @numba.njit(nogil=True, cache=True)
    def sweep(edges, terms, right, now, last):  # type: ignore[no-untyped-def]
        """Per row (a, b, c, d) of terms: now, last = a·now + b·M·now + c·right + d·last, now."""
        ends, others, light = edges.ends, edges.others, edges.light
        for step in range(len(terms)):
            own, reach, given, before = terms[step]
            for i in range(len(now)):
                total = scaled(np.float32(0), load(now, i, width))
                for edge in range(ends[i], ends[i + 1]):
                    total = plus(total, light[edge], load(now, others[edge], width))
                total = plus(scaled(reach, total), own, load(now, i, width))
                total = plus(total, given, load(right, i, width))
                store(last, i, plus(total, before, load(last, i, width)))
            now, last = last, now

    @numba.njit(nogil=True, cache=True)
    def residual(edges, right, solution, rounded, squares):  # type: ignore[no-untyped-def]
        """right − (I − M)·solution, rounded to float32, and its columns' squared lengths."""
        ends, others, weights = edges.ends, edges.others, edges.weights
        length = scaled(0.0, load(squares, 0, width))
        for i in range(len(solution)):
            total = plus(load(right, i, width), -1.0, load(solution, i, width))
            for edge in range(ends[i], ends[i + 1]):
                total = plus(total, weights[edge], load(solution, others[edge], width))
            length = plus_square(length, total)
            store(rounded, i, narrow(total))
        store(squares, 0, length)

    @numba.njit(nogil=True, cache=True)
    def project(basis, right, parts):  # type: ignore[no-untyped-def]
        """parts = basisᵀ · right."""
        parts[:] = 0
        for start in range(0, len(right), _NEAR):
            rows = range(start, min(start + _NEAR, len(right)))
            for j in range(basis.shape[1]):
                total = load(parts, j, width)
                for i in rows:
                    total = plus(total, basis[i, j], load(right, i, width))
                store(parts, j, total)

    @numba.njit(nogil=True, cache=True)
    def combine(basis, parts, block):  # type: ignore[no-untyped-def]
        """block = basis · parts."""
        for i in range(len(block)):
            total = scaled(np.float32(0), load(block, i, width))
            for j in range(basis.shape[1]):
                total = plus(total, basis[i, j], load(parts, j, width))
            store(block, i, total)

    @numba.njit(nogil=True, cache=True)
    def add(block, total):  # type: ignore[no-untyped-def]
        """Add a block in float32 to one in float64."""
        for i in range(len(total)):
            for j in range(width):
                total[i, j] += block[i, j]

    return Kernels(sweep, residual, project, combine, add)


def zeros(n: int, width: int, dtype: type[np.float32 | np.float64]) -> NDArray[Any]:
    """A block whose rows do not straddle cache lines: loading those that do takes twice as long."""
    n_bytes = n * width * np.dtype(dtype).itemsize
    raw = np.zeros(n_bytes + _CACHE_LINE, dtype=np.uint8)
    start = -raw.ctypes.data % _CACHE_LINE
    return raw[start : start + n_bytes].view(dtype).reshape(n, width)


def edges(matrix: csr_array) -> Edges:
    """A square sparse matrix as the loops read it."""
    return Edges(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
        matrix.data.astype(np.float32),
    )
