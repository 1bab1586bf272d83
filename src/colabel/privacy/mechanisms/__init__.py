"""What is done to labels at a site before they leave it, so that what is released is noisy.

Not audited. All chance comes from a ChaCha20 stream under a fresh secret key: nobody can seed it.
"""

import numpy as np
from numpy.typing import NDArray

from colabel.crypto.prg import SEED_BYTES, stream
from colabel.randomness import secret

Floats = NDArray[np.float64]
Inexact = NDArray[np.inexact]
ALL = 2**64  # how many values a secret number has

_MOST_NODES = 64


def secret_numbers(n: int, purpose: str) -> NDArray[np.uint64]:
    """So many independent numbers, uniform from 0 to 2^64 - 1."""
    raw = stream(secret(SEED_BYTES), purpose, 8 * n)
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64, copy=False)


def ahead(
    below: NDArray[np.inexact], at: NDArray[np.inexact], n_others: int
) -> NDArray[np.inexact]:
    """Chance to be ahead of all others, each of which has less with chance `below` and as much
    with chance `at`; ties are broken at random. Generating functions may stand for chances.

    Random ties: every class draws a number u, and the largest wins, so that the chance is
    ∫ (below + u · at)^n du over 0 ≤ u ≤ 1.
    """
    places, weights = np.polynomial.legendre.leggauss(min(n_others // 2 + 1, _MOST_NODES))
    pairs = zip((places + 1) / 2, weights / 2, strict=True)
    total: Inexact = sum(
        (weight * (below + u * at) ** n_others for u, weight in pairs), start=np.zeros_like(at)
    )
    return total
