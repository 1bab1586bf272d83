"""What the transfers of the `ot` protocol carry: columns of values modulo t = 2^width.

A transfer stands for one bit of one point of the right site k; transfer number i is bit i mod L
of point i div L. It carries one value for each point of the left site j [XCLP §3.2, OT step 1].
Transfers are worked through in blocks that fit a processor's cache, and the values of a block
are packed to `width` bits each. Nothing here is secret from the site that runs it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from colabel.crypto.ot_extension import BLOCK_BYTES, Hash, n_column_bytes

_LANES = 16  # values packed side by side: their bits fill `width` words of 16 bits
_BLOCK_VALUES = 1 << 18


def width_of(n_bits: int) -> int:
    """Bits of a value: the modulus is the smallest power of two above the largest distance."""
    return n_bits.bit_length()


def blocks_of(count: int, n_values: int) -> Iterator[tuple[int, int]]:
    """Where each block of transfers starts and stops."""
    step = max(1, _BLOCK_VALUES // n_values)
    for start in range(0, count, step):
        yield start, min(count, start + step)


def n_packed_bytes(count: int, n_values: int, width: int) -> int:
    """Bytes of the packed values of so many transfers."""
    step = max(1, _BLOCK_VALUES // n_values)
    whole, rest = divmod(count, step)
    return whole * _n_block_bytes(step * n_values, width) + _n_block_bytes(rest * n_values, width)


def _n_block_bytes(n: int, width: int) -> int:
    return 2 * width * -(-n // _LANES)


class Schedule(NamedTuple):
    """How the transfers of a pair are cut into chunks."""

    n_left: int
    n_right: int
    n_bits: int
    chunk_bytes: int

    @property
    def per_chunk(self) -> int:
        """Transfers in a chunk (the last may have fewer)."""
        width = width_of(self.n_bits)
        return max(1, self.chunk_bytes // max(BLOCK_BYTES, -(-self.n_left * width // 8) + 1))

    @property
    def n_chunks(self) -> int:
        """How many chunks there are."""
        return -(-self.n_right * self.n_bits // self.per_chunk)

    def chunk(self, number: int) -> tuple[int, int]:
        """The first transfer of a chunk, and how many it has."""
        first = number * self.per_chunk
        return first, min(self.per_chunk, self.n_right * self.n_bits - first)

    def column_bytes(self, number: int) -> int:
        """Bytes of right's parcel for this chunk, before sealing."""
        return n_column_bytes(self.chunk(number)[1])

    def value_bytes(self, number: int) -> int:
        """Bytes of left's parcel for this chunk, before sealing."""
        width = width_of(self.n_bits)
        return n_packed_bytes(self.chunk(number)[1], self.n_left, width)


def correct(
    cipher: Hash,
    rows: tuple[NDArray[np.uint64], NDArray[np.uint64]],
    bits: NDArray[np.uint8],
    first: int,
    sums: NDArray[np.uint16],
) -> NDArray[np.uint8]:
    """The left site's packed corrections; its r are added up in `sums` (modulo 2¹⁶).

    `rows` are q and q ⊕ s, `bits` the site's codes with one row per bit. The value for choice 0
    is the pad of q, so r = pad − b; the correction turns the other pad into r + 1 − b.
    """
    count, n_values = len(rows[0]), bits.shape[1]
    width = width_of(len(bits))
    packed = np.empty(n_packed_bytes(count, n_values, width), dtype=np.uint8)
    offset = 0
    for start, stop in blocks_of(count, n_values):
        pads = [_pads(cipher, held[start:stop], first + start, n_values) for held in rows]
        values, lanes = _blank(stop - start, n_values)
        _fill(pads[0], pads[1], bits, first + start, width, values, sums)
        offset = _pack_into(packed, offset, lanes, width)
    return packed


def take_in(
    cipher: Hash,
    rows: NDArray[np.uint64],
    choices: NDArray[np.uint8],
    packed: NDArray[np.uint8],
    first: int,
    n_bits: int,
    sums: NDArray[np.uint16],
) -> None:
    """The right site adds up in `sums` what it receives: T [XCLP §3.2, OT steps 2 and 3]."""
    n_values, width, offset = sums.shape[1], width_of(n_bits), 0
    for start, stop in blocks_of(len(rows), n_values):
        pads = _pads(cipher, rows[start:stop], first + start, n_values)
        values, lanes = _blank(stop - start, n_values)
        n_bytes = _n_block_bytes(values.size, width)
        words = packed[offset : offset + n_bytes].view(np.uint16).reshape(width, -1)
        _unpack(words, width, lanes)
        _gather(pads, values, choices[start:stop], first + start, n_bits, sums)
        offset += n_bytes


def _pads(cipher: Hash, rows: NDArray[np.uint64], first: int, n_values: int) -> NDArray[np.uint16]:
    return cipher.pads(rows, first, 2 * n_values).view(np.uint16)


def _blank(count: int, n_values: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    n = count * n_values
    lanes = np.empty(-(-n // _LANES) * _LANES, dtype=np.uint16)
    lanes[n:] = 0
    return lanes[:n].reshape(count, n_values), lanes.reshape(_LANES, -1)


def _pack_into(
    packed: NDArray[np.uint8], offset: int, lanes: NDArray[np.uint16], width: int
) -> int:
    end = offset + 2 * width * lanes.shape[1]
    _pack(lanes, width, packed[offset:end].view(np.uint16).reshape(width, -1))
    return end


@numba.njit(nogil=True, cache=True)
def _fill(pads, others, bits, first, width, values, sums):  # type: ignore[no-untyped-def]
    n_bits, mask = bits.shape[0], np.uint16((1 << width) - 1)
    for row in range(values.shape[0]):
        point, bit = divmod(first + row, n_bits)
        into, b, zero, one, out = sums[point], bits[bit], pads[row], others[row], values[row]
        for v in range(out.shape[0]):
            into[v] += np.uint16(zero[v] - b[v])
            out[v] = np.uint16(zero[v] + 1 - 2 * b[v] - one[v]) & mask


@numba.njit(nogil=True, cache=True)
def _gather(pads, values, choices, first, n_bits, sums):  # type: ignore[no-untyped-def]
    for row in range(values.shape[0]):
        # a mask instead of a branch, so that the time does not tell the choice
        chosen = np.uint16(0) - np.uint16(choices[row])
        into, pad, given = sums[(first + row) // n_bits], pads[row], values[row]
        for v in range(given.shape[0]):
            into[v] += np.uint16(pad[v] + (given[v] & chosen))


@numba.njit(nogil=True, cache=True)
def _pack(lanes, width, words):  # type: ignore[no-untyped-def]
    words[:] = 0
    for lane in range(lanes.shape[0]):
        word, shift = divmod(lane * width, 16)
        low, values = words[word], lanes[lane]
        for v in range(values.shape[0]):
            low[v] |= np.uint16(values[v] << shift)
        if shift + width > 16:
            high = words[word + 1]
            for v in range(values.shape[0]):
                high[v] |= np.uint16(values[v] >> (16 - shift))


@numba.njit(nogil=True, cache=True)
def _unpack(words, width, lanes):  # type: ignore[no-untyped-def]
    mask = np.uint16((1 << width) - 1)
    for lane in range(lanes.shape[0]):
        word, shift = divmod(lane * width, 16)
        low, values = words[word], lanes[lane]
        if shift + width > 16:
            high = words[word + 1]
            for v in range(values.shape[0]):
                values[v] = np.uint16((low[v] >> shift) | (high[v] << (16 - shift))) & mask
        else:
            for v in range(values.shape[0]):
                values[v] = np.uint16(low[v] >> shift) & mask
