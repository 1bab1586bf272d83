"""Gaussian noise from the secret door, for mechanisms that hide by noise.

Not audited. Numbers come from a ChaCha20 stream under a fresh secret key, through the inverse of
the normal distribution function; 53 bits each, so that nothing beyond 8.2 standard deviations is
drawn. They are float64; whoever rounds them says what that does to the mechanism.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from colabel.crypto.prg import SEED_BYTES, stream
from colabel.randomness import secret


def gaussian(n: int, sigma: float) -> NDArray[np.float64]:
    """So many independent draws of N(0, σ²)."""
    raw = np.frombuffer(stream(secret(SEED_BYTES), "gaussian noise", 8 * n), dtype="<u8")
    uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    drawn: NDArray[np.float64] = ndtri(uniform) * sigma
    return drawn
