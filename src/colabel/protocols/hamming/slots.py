"""Many points in one plaintext: point i of a batch stands in bits i·w … i·w + w − 1.

w = log2(t), and t is the smallest power of two above L, so that a slot holds any distance.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.protocols.hamming.pairs import modulus


def slot_bits(n_bits: int) -> int:
    """The length of a slot: distances 0 … L fit."""
    return modulus(n_bits).bit_length() - 1


def slots(key_bits: int, n_bits: int) -> int:
    """How many points a plaintext holds: t^s ≤ 2^(K−1) ≤ N."""
    return (key_bits - 1) // slot_bits(n_bits)


def batches(rows: NDArray[Any], key_bits: int, n_bits: int) -> Iterator[NDArray[Any]]:
    """The rows, as many at a time as a plaintext holds."""
    size = slots(key_bits, n_bits)
    return (rows[start : start + size] for start in range(0, len(rows), size))


def join(values: NDArray[np.integer], width: int) -> list[int]:
    """For each row, Σ values[i] · 2^(i·width); values are below 2^width."""
    bits = (values[:, :, None] >> np.arange(width) & 1).astype(np.uint8)
    packed = np.packbits(bits.reshape(len(values), -1), axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def split(number: int, count: int, width: int) -> NDArray[np.uint16]:
    """The reverse of `join`, for one number."""
    data = np.frombuffer(number.to_bytes(-(-count * width // 8), "little"), dtype=np.uint8)
    bits = np.unpackbits(data, bitorder="little", count=count * width).reshape(count, width)
    return (bits.astype(np.uint16) << np.arange(width, dtype=np.uint16)).sum(1, dtype=np.uint16)


def signs(batch: NDArray[np.bool_], width: int) -> list[int]:
    """For each bit l, Σ (1 − 2·b_il) · t^i: what a set bit of k adds to the weights of j's codes.

    h(b, x) = |b| + Σ_{l: x_l = 1} (1 − 2·b_l), which is the paper's f with R moved to j.
    """
    ones = join(np.ones((1, len(batch)), dtype=np.uint8), width)[0]
    return [ones - 2 * row for row in join(batch.T.astype(np.uint8), width)]
