"""Matrices of integers modulo 2^80, in a form that BLAS multiplies exactly.

A number is two balanced limbs of 40 bits, value = high · 2^40 + low, each in a float64 matrix. A
product with a matrix of small integers is exact as long as |limb| · Σ|small| stays below 2^53,
which `multiply` sees to. On the wire a number is 10 bytes: its low 64 and its high 16 bits.
"""

from typing import NamedTuple, Self

import numba
import numpy as np
from numpy.typing import NDArray

from colabel.crypto.prg import fill

Q_BITS = 80
LIMB_BITS = 40
MOST_TERMS = 2**13  # products of a limb (2^39) with 0, ±1 that float64 adds up exactly, and room

Floats = NDArray[np.float64]
_LIMB = float(2**LIMB_BITS)


class Wide(NamedTuple):
    """A matrix modulo 2^80."""

    low: Floats
    high: Floats

    @classmethod
    def zeros(cls, n_rows: int, n_columns: int) -> Self:
        """All zero."""
        return cls(np.zeros((n_rows, n_columns)), np.zeros((n_rows, n_columns)))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n_rows, n_columns = self.low.shape
        return n_rows, n_columns

    def columns(self, at: slice) -> "Wide":
        """A view of some columns."""
        return Wide(self.low[:, at], self.high[:, at])

    def fold(self) -> Self:
        """Bring the limbs back into their range, in place."""
        _fold(self.low, self.high)
        return self


class Packed(NamedTuple):
    """The same on the wire."""

    low: NDArray[np.uint64]
    high: NDArray[np.uint16]


def uniform(seed: bytes, purpose: str, n_rows: int, n_columns: int, memory: Floats) -> Wide:
    """A uniform matrix, the same everywhere for the same seed and purpose.

    It lies in `memory` (flat, at least two numbers per entry): fresh memory would cost as much
    time as filling it.
    """
    limbs = memory[: 2 * n_rows * n_columns]
    words = limbs.view("<i8")
    fill(seed, purpose, words)
    _to_limbs(words, limbs)
    low, high = limbs.reshape(2, n_rows, n_columns)
    return Wide(low, high)


def pack(wide: Wide) -> Packed:
    """To 10 bytes a number; `wide` must be folded."""
    out = Packed(np.empty(wide.shape, np.uint64), np.empty(wide.shape, np.uint16))
    _pack(*wide, *out)
    return out


def unpack(packed: Packed) -> Wide:
    """From 10 bytes a number."""
    out = Wide(np.empty(packed.low.shape), np.empty(packed.low.shape))
    _unpack(*packed, *out)
    return out


def add_product(
    left: Floats | Wide, right: Floats | Wide, total: Wide, memory: Floats | None = None
) -> None:
    """total += left · right, where one is wide and the other holds 0, ±1; folds the total.

    `memory` (flat, at least two numbers per entry) may be given to be used again and again.
    """
    n_terms, (n_rows, n_columns) = left.shape[1], total.shape
    memory = np.empty(2 * n_rows * n_columns) if memory is None else memory
    sums = memory[: 2 * n_rows * n_columns].reshape(2, n_rows, n_columns)
    for start in range(0, n_terms, MOST_TERMS):
        terms = slice(start, start + MOST_TERMS)
        for limb in (0, 1):
            a = left.columns(terms)[limb] if isinstance(left, Wide) else left[:, terms]
            b = right[limb][terms] if isinstance(right, Wide) else right[terms]
            np.matmul(a, b, out=sums[limb])
        _add(*sums, *total)


def add(more: Wide, total: Wide) -> None:
    """total += more; folds the total."""
    _add(*more, *total)


def top(wide: Wide, n_bits: int) -> NDArray[np.int64]:
    """Every number divided by 2^(80 − n_bits) and rounded, modulo 2^n_bits; folded, n_bits ≤ 40."""
    spare = LIMB_BITS - n_bits
    half = 1 << (spare - 1) if spare else 0
    whole = (wide.high.astype(np.int64) + half) >> spare
    return whole & ((1 << n_bits) - 1)


@numba.njit(nogil=True, cache=True)
def _to_limbs(words, limbs):  # type: ignore[no-untyped-def]
    for i in range(len(words)):
        limbs[i] = words[i] >> (64 - LIMB_BITS)


@numba.njit(nogil=True, cache=True)
def _fold(low, high):  # type: ignore[no-untyped-def]
    n_rows, n_columns = low.shape
    for i in range(n_rows):
        for j in range(n_columns):
            carry = np.rint(low[i, j] / _LIMB)
            low[i, j] -= carry * _LIMB
            top = high[i, j] + carry
            high[i, j] = top - np.rint(top / _LIMB) * _LIMB


@numba.njit(nogil=True, cache=True)
def _add(more_low, more_high, low, high):  # type: ignore[no-untyped-def]
    n_rows, n_columns = low.shape
    for i in range(n_rows):
        for j in range(n_columns):
            below = low[i, j] + more_low[i, j]
            carry = np.rint(below / _LIMB)
            low[i, j] = below - carry * _LIMB
            top = high[i, j] + more_high[i, j] + carry
            high[i, j] = top - np.rint(top / _LIMB) * _LIMB


@numba.njit(nogil=True, cache=True)
def _pack(low, high, low64, high16):  # type: ignore[no-untyped-def]
    n_rows, n_columns = low.shape
    for i in range(n_rows):
        for j in range(n_columns):
            below = np.int64(low[i, j])
            above = np.int64(high[i, j]) + (below >> LIMB_BITS)
            below &= (1 << LIMB_BITS) - 1
            low64[i, j] = np.uint64(below | (above << LIMB_BITS))
            high16[i, j] = np.uint16((above >> (64 - LIMB_BITS)) & 0xFFFF)


@numba.njit(nogil=True, cache=True)
def _unpack(low64, high16, low, high):  # type: ignore[no-untyped-def]
    n_rows, n_columns = low.shape
    for i in range(n_rows):
        for j in range(n_columns):
            word = low64[i, j]
            below = np.int64(word & np.uint64((1 << LIMB_BITS) - 1))
            above = np.int64(word >> np.uint64(LIMB_BITS))
            above |= np.int64(high16[i, j]) << (64 - LIMB_BITS)
            if below >= 1 << (LIMB_BITS - 1):
                below -= 1 << LIMB_BITS
                above += 1
            if above >= 1 << (LIMB_BITS - 1):
                above -= 1 << LIMB_BITS
            low[i, j] = below
            high[i, j] = above
