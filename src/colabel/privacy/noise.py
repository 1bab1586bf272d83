"""Gaussian noise from the secret door, and clipping: the two halves of a private sum.

Not audited. Numbers come from a ChaCha20 stream under a fresh secret key, through the inverse of
the normal distribution function; 53 bits each, so that nothing beyond 8.2 standard deviations is
drawn. Noise is float64 and is rounded to fixed point with what it hides.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from colabel.crypto.prg import SEED_BYTES, stream
from colabel.randomness import secret

Floats = NDArray[np.float64]


def gaussian(n: int, sigma: float) -> Floats:
    """So many independent draws of N(0, σ²)."""
    raw = np.frombuffer(stream(secret(SEED_BYTES), "gaussian noise", 8 * n), dtype="<u8")
    uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    drawn: Floats = ndtri(uniform) * sigma
    return drawn


def clip(row: Floats, most: float) -> Floats:
    """Shorten a vector to a length of at most `most`; a shorter one stays as it is."""
    length = float(np.linalg.norm(row))
    return row if length <= most else row * (most / length)
