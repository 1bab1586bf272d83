"""Clipping: what bounds how much one site can move a sum. The noise is `crypto.gaussian`'s."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def clip(row: Floats, most: float) -> Floats:
    """Shorten a vector to a length of at most `most`; a shorter one stays as it is."""
    length = float(np.linalg.norm(row))
    return row if length <= most else row * (most / length)
