"""Numbers as integers modulo 2^bits, which masks can hide perfectly.

format   ring       holds                          error of a sum over m sites
scores   2^64       |sum| < 2^23                   at most m · 2^-41, and that of a float64
wide     6 × 2^64   |sum| < 2^191                  at most m · 2^-97, and that of a float64
updates  2^32       |sum| < 2^11                   at most m · 2^-21
counts   2^16       |sum| < 2^15, whole numbers    none
votes    2^8        0 ≤ sum < 2^8, whole numbers   none

The error "of a float64" is 2^-52 times the sum (two roundings), whatever cancels out in it.
A site refuses to send a number that could make the sum overflow, if all sites sent as much.
`wide` cuts a number into six limbs of 48 bits, each in its own 64-bit ring, so that features of
any scale, and their squares, can be added.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ring = NDArray[np.unsignedinteger]

_LIMB_BITS = 48


class Format(NamedTuple):
    """How a number becomes one or more elements of a ring."""

    ring: str
    fraction_bits: int
    n_limbs: int = 1
    signed: bool = True

    @property
    def largest(self) -> float:
        """No sum may reach this."""
        bits = 8 * np.dtype(self.ring).itemsize - self.signed
        if self.n_limbs > 1:
            bits = (self.n_limbs - 1) * _LIMB_BITS + bits - 16
        return 2.0 ** (bits - self.fraction_bits)


FORMATS = {
    "scores": Format("<u8", 40),
    "wide": Format("<u8", 96, 6),
    "updates": Format("<u4", 20),
    "counts": Format("<u2", 0),
    "votes": Format("<u1", 0, signed=False),
}


def fits(numbers: Floats, form: Format, n_summands: int) -> bool:
    """Whether a sum of so many matrices like this one stays in range."""
    least, largest = float(numbers.min(initial=0.0)), float(numbers.max(initial=0.0))
    if not math.isfinite(largest - least) or (not form.signed and least < 0):
        return False
    if form.fraction_bits == 0 and (numbers != np.rint(numbers)).any():
        return False
    most = max(-least, largest)
    if most >= form.largest:
        return False
    if form.n_limbs == 1:  # as it will be rounded
        most = float(np.ldexp(np.rint(np.ldexp(most, form.fraction_bits)), -form.fraction_bits))
    return most * n_summands < form.largest


def encode(numbers: Floats, form: Format, out: Ring | None = None) -> Ring:
    """Ring elements, in rows of (entries · limbs); into `out`, if given."""
    rows, columns = numbers.shape
    ring = np.empty((rows, columns * form.n_limbs), form.ring) if out is None else out
    if form.n_limbs == 1:
        scaled = numbers * 2.0**form.fraction_bits  # exact, and faster than ldexp
        np.rint(scaled, out=scaled)
        if ring.itemsize == 8:
            ring.view(np.int64)[...] = scaled
        else:
            ring[...] = scaled.astype(np.int64)
        return ring
    rest = np.ldexp(numbers, form.fraction_bits - (form.n_limbs - 1) * _LIMB_BITS)
    limbs = []
    for last in (*[False] * (form.n_limbs - 1), True):
        limb = np.rint(rest) if last else np.trunc(rest)  # exact: so is the difference
        limbs.append(limb.astype(np.int64))
        rest = np.ldexp(rest - limb, _LIMB_BITS)
    ring[...] = np.stack(limbs, axis=-1).reshape(ring.shape)
    return ring


def decode(ring: Ring, form: Format) -> Floats:
    """The numbers again, after summing in the ring."""
    kind = np.dtype(form.ring)
    whole = ring.astype(kind).view(kind.str.replace("u", "i") if form.signed else kind)
    if form.n_limbs == 1:
        return np.ldexp(whole.astype(np.float64), -form.fraction_bits)
    limbs = whole.reshape(len(ring), ring.shape[1] // form.n_limbs, form.n_limbs)
    negative = _carried(limbs)[:, :, 0] < 0
    limbs = _carried(np.where(negative[:, :, None], -limbs, limbs))
    total = np.zeros(limbs.shape[:2])
    for number in reversed(range(form.n_limbs)):  # the smallest first
        scale = (form.n_limbs - 1 - number) * _LIMB_BITS - form.fraction_bits
        total += np.ldexp(limbs[:, :, number].astype(np.float64), scale)
    return np.where(negative, -total, total)


def _carried(limbs: NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
    """The same numbers, every limb but the first from 0 to 2^48: no two can cancel out."""
    found = limbs.copy()
    for number in reversed(range(1, found.shape[-1])):
        carry = found[..., number] >> _LIMB_BITS
        found[..., number] -= carry << _LIMB_BITS
        found[..., number - 1] += carry
    return found
