"""Noise that hides other noise: the sum of three uniform numbers, and what it is good for.

Whoever decrypts an LWE sum sees its noise, which depends on what was added up. Flooding drowns
it. Of all ways to fill a range without ever leaving it, a sum of three uniform numbers (width W
each) has nearly the least Fisher information, 2√3 · ln(2 + √3) / W² = 4.562 / W² (∫ f′²/f of the
quadratic B-spline).
For shifts δᵢ of N independent numbers the squared Hellinger distances add up to at most
Σ δᵢ² · I / 8 each, hence the statistical distance of all of them together is at most
½ · √I · √(Σ δᵢ²) = 1.068 / W · √(Σ δᵢ²). Bounded flooding never spoils a decryption by itself.
"""

import math

import numpy as np

from colabel.crypto.prg import fill
from colabel.crypto.wide import LIMB_BITS, Wide

FISHER = 2 * math.sqrt(3) * math.log(2 + math.sqrt(3))
N_UNIFORM = 3


def flood(seed: bytes, purpose: str, n_rows: int, n_columns: int, width_bits: int) -> Wide:
    """Sums of three uniform numbers below 2^width_bits, centred."""
    words = np.empty((N_UNIFORM, 2, n_rows, n_columns), dtype="<u8")
    fill(seed, purpose, words)
    high_bits = width_bits - LIMB_BITS
    low = (words[:, 0] >> np.uint64(64 - LIMB_BITS)).astype(np.float64).sum(axis=0)
    high = (words[:, 1] >> np.uint64(64 - high_bits)).astype(np.float64).sum(axis=0)
    centre = N_UNIFORM << (width_bits - 1)
    return Wide(low - centre % 2**LIMB_BITS, high - (centre >> LIMB_BITS)).fold()


def log_distance(n_numbers: int, variance: float, width_bits: int) -> float:
    """log₂ of the statistical distance that N numbers with shifts of this variance can show."""
    return (
        math.log2(math.sqrt(FISHER) / 2) + 0.5 * math.log2(max(n_numbers, 1) * variance)
    ) - width_bits
