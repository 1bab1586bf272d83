"""Hamming distances between packed codes, and where a matrix of them is kept.

The graph only ever reads blocks of rows, so a matrix may be stored (`StoredDistances`) or made
again from codes when asked for (`CodeDistances`, memory O(n · L) instead of O(n²)).
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Protocol, Self

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from colabel.machine import n_threads

_TILE = 64

Places = NDArray[np.intp]


class Distances(Protocol):
    """Hamming distances from some points (rows) to points (columns); often the same points."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""

    @property
    def n_bits(self) -> int:
        """The length of a code."""

    def rows(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Distances of the row points start … stop−1 to all column points."""

    def part(self, rows: Places, columns: Places) -> NDArray[np.uint16]:
        """Distances of some row points to some column points."""


@intrinsic
def _popcount(_context, _word):  # type: ignore[no-untyped-def]
    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@numba.njit(nogil=True, cache=True, fastmath=True)
def differing(a, i, b, j):  # type: ignore[no-untyped-def]
    """How many bits differ between code i of a and code j of b; for compiled loops."""
    total = np.uint64(0)
    for word in range(a.shape[1]):
        total += _popcount(a[i, word] ^ b[j, word])
    return total


@numba.njit(nogil=True, cache=True, fastmath=True)
def _count_differences(a, b, out):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = differing(a, i, b, j)


def _as_words(packed: NDArray[np.uint8]) -> NDArray[np.uint64]:
    padding = -packed.shape[1] % 8
    padded = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(padded).view(np.uint64)


def _compare(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.uint16]:
    out = np.empty((len(left), len(right)), dtype=np.uint16)
    for row in range(0, len(left), _TILE):
        rows = slice(row, row + _TILE)
        for column in range(0, len(right), 16 * _TILE):
            columns = slice(column, column + 16 * _TILE)
            _count_differences(left[rows], right[columns], out[rows, columns])
    return out


def hamming(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """How many bits differ, for every pair of packed codes."""
    left, right = _as_words(a), _as_words(b)
    if not len(left):
        return np.empty((0, len(right)), dtype=np.uint16)
    step = -(-len(left) // n_threads())
    with ThreadPoolExecutor(n_threads()) as pool:
        parts = pool.map(
            lambda start: _compare(left[start : start + step], right), range(0, len(left), step)
        )
        return np.concatenate(list(parts))


class StoredDistances:
    """A matrix in memory."""

    def __init__(self, matrix: NDArray[np.uint16], n_bits: int) -> None:
        self.matrix, self.n_bits = matrix, n_bits

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        n_rows, n_columns = self.matrix.shape
        return n_rows, n_columns

    def rows(self, start: int, stop: int) -> NDArray[np.uint16]:
        """A view of the stored rows."""
        return self.matrix[start:stop]

    def part(self, rows: Places, columns: Places) -> NDArray[np.uint16]:
        """A copy of a part of the matrix."""
        return self.matrix[np.ix_(rows, columns)]


class CodeDistances:
    """A matrix that is made from codes, block by block, whenever it is read."""

    def __init__(self, rows: NDArray[np.uint8], columns: NDArray[np.uint8], n_bits: int) -> None:
        self.n_bits, self.column_codes = n_bits, _as_words(columns)
        self.row_codes = self.column_codes if rows is columns else _as_words(rows)

    @classmethod
    def between(
        cls, codes: Mapping[str, NDArray[np.uint8]], n_bits: int, newcomers: Sequence[str] = ()
    ) -> Self:
        """All points of all sites; with `newcomers`, theirs (rows) and all others' (columns)."""

        def rows_of(names: Sequence[str]) -> NDArray[np.uint8]:
            blank = np.empty((0, -(-n_bits // 8)), dtype=np.uint8)
            return np.concatenate([blank, *(codes[name] for name in names)])

        columns = rows_of([name for name in codes if name not in newcomers])
        new = [name for name in codes if name in newcomers]
        return cls(rows_of(new) if newcomers else columns, columns, n_bits)

    def among_columns(self) -> "CodeDistances":
        """From the column points to each other."""
        if self.row_codes is self.column_codes:
            return self
        among = copy(self)
        among.row_codes = self.column_codes
        return among

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return len(self.row_codes), len(self.column_codes)

    def rows(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Compare the asked codes with all codes, in the caller's thread."""
        return _compare(self.row_codes[start:stop], self.column_codes)

    def part(self, rows: Places, columns: Places) -> NDArray[np.uint16]:
        """Compare the asked codes, in the caller's thread."""
        return _compare(self.row_codes[rows], self.column_codes[columns])
