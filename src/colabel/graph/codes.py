"""Locality-sensitive codes: which side of L random hyperplanes a point lies on.

Every site must get the same hyperplanes from the shared seed, on any machine. So the Gaussian
matrix holds integers (quantiles of N(0, 1) in steps of 2^-12, drawn from a stream cipher), points
are rounded to integers relative to their largest entry, and their product is exact in float64:
no rounding depends on the machine, its BLAS or the order of a sum.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from colabel.crypto.prg import stream

MAX_BITS = 65_535  # a distance must fit uint16
_STEP = 2.0**-12
_EXACT_BITS = 53  # float64 holds integers below 2^53
_BLOCK = 1024


@cache
def _quantiles() -> NDArray[np.int16]:
    """Standard normal quantiles at the 65,536 cell midpoints, as multiples of 2^-12."""
    midpoints = (np.arange(65_536) + 0.5) / 65_536
    table: NDArray[np.int16] = np.rint(ndtri(midpoints) / _STEP).astype(np.int16)
    return table


def hyperplanes(seed: bytes, n_bits: int, n_features: int) -> NDArray[np.int16]:
    """Π, one Gaussian hyperplane per code bit, from the shared seed [XCLP Alg. 1, line 3]."""
    if not 1 <= n_bits <= MAX_BITS:
        raise ValueError(f"n_bits must be between 1 and {MAX_BITS}, got {n_bits}")
    raw = np.frombuffer(stream(seed, "hyperplanes", 2 * n_bits * n_features), dtype="<u2")
    return _quantiles()[raw].reshape(n_bits, n_features)


def codes(points: NDArray[np.floating], planes: NDArray[np.int16]) -> NDArray[np.uint8]:
    """The packed codes of points, bit l set where ⟨v, u_l⟩ ≥ 0 [XCLP Alg. 1, line 4; App. C.2]."""
    n, n_features = points.shape
    bits = _EXACT_BITS - 15 - math.ceil(math.log2(max(n_features, 2)))
    normals = planes.T.astype(np.float64)
    packed = np.empty((n, -(-planes.shape[0] // 8)), dtype=np.uint8)
    for start in range(0, n, _BLOCK):
        block = np.asarray(points[start : start + _BLOCK], dtype=np.float64)
        largest = np.abs(block).max(axis=1, keepdims=True)
        # two divisions, so that subnormal points do not overflow the scale
        whole = np.rint(block / np.where(largest > 0, largest, 1.0) * 2.0**bits)
        packed[start : start + _BLOCK] = np.packbits(whole @ normals >= 0, axis=1)
    return packed
