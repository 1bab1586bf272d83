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
        for low, high in zip(self.low, self.high, strict=True):
            _fold(low, high)
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
    for rows in zip(*wide, *out, strict=True):
        _pack(*rows)
    return out


def unpack(packed: Packed) -> Wide:
    """From 10 bytes a number."""
    out = Wide(np.empty(packed.low.shape), np.empty(packed.low.shape))
    for rows in zip(*packed, *out, strict=True):
        _unpack(*rows)
    return out


def add_product(left: Floats | Wide, right: Floats | Wide, total: Wide) -> None:
    """total += left · right, where one is wide and the other holds 0, ±1; folds the total."""
    n_terms = left.shape[1]
    for start in range(0, n_terms, MOST_TERMS):
        terms = slice(start, start + MOST_TERMS)
        for limb in (0, 1):
            a = left.columns(terms)[limb] if isinstance(left, Wide) else left[:, terms]
            b = right[limb][terms] if isinstance(right, Wide) else right[terms]
            sums = total[limb]
            sums += a @ b
        total.fold()


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
    for i in range(len(low)):
        carry = np.rint(low[i] / _LIMB)
        low[i] -= carry * _LIMB
        top = high[i] + carry
        high[i] = top - np.rint(top / _LIMB) * _LIMB


@numba.njit(nogil=True, cache=True)
def _pack(low, high, low64, high16):  # type: ignore[no-untyped-def]
    for i in range(len(low)):
        below = np.int64(low[i])
        above = np.int64(high[i]) + (below >> LIMB_BITS)
        below &= (1 << LIMB_BITS) - 1
        low64[i] = np.uint64(below | (above << LIMB_BITS))
        high16[i] = np.uint16((above >> (64 - LIMB_BITS)) & 0xFFFF)


@numba.njit(nogil=True, cache=True)
def _unpack(low64, high16, low, high):  # type: ignore[no-untyped-def]
    for i in range(len(low)):
        word = low64[i]
        below = np.int64(word & np.uint64((1 << LIMB_BITS) - 1))
        above = np.int64(word >> np.uint64(LIMB_BITS)) | (np.int64(high16[i]) << (64 - LIMB_BITS))
        if below >= 1 << (LIMB_BITS - 1):
            below -= 1 << LIMB_BITS
            above += 1
        if above >= 1 << (LIMB_BITS - 1):
            above -= 1 << LIMB_BITS
        low[i] = below
        high[i] = above
