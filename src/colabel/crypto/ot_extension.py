"""Many correlated transfers out of 128 base transfers, by symmetric ciphers only. Not audited.

This is the extension of Ishai, Kilian, Nissim and Petrank (CRYPTO 2003), against peers that
follow it. In the base transfers the roles are turned round: here the *sender* holds 128 secret
bits s and one key each, the *receiver* both keys of each.

step      who        makes                                        learns
corrects  receiver   t_i, and columns u = G(k⁰) ⊕ G(k¹) ⊕ x       nothing
rows      sender     q_i = t_i ⊕ x_i·s, from u and its keys       nothing about x
pads      both       H(q_i, i) and H(q_i ⊕ s, i); H(t_i, i)       receiver: one of the two

G is ChaCha20. H is a fixed-key cipher, π(π(x) ⊕ tweak) ⊕ π(x) with the transfer's and the block's
number in the tweak (Guo, Katz, Wang, Weng, Yu, IEEE S&P 2020); π is AES-128 under a public key.
Transfers are numbered from 0; nobody may use a number twice with the same keys. Bits are packed
as by `np.packbits`.
"""

from collections.abc import Sequence

import numba
import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from colabel.crypto.prg import stream

KAPPA = 128
HASH_KEY_BYTES = 16
BLOCK_BYTES = 16


def n_column_bytes(count: int) -> int:
    """Bytes of the columns for so many transfers."""
    return KAPPA * -(-count // 8)


def corrections(
    pairs: NDArray[np.uint8], choices: NDArray[np.uint8], first: int
) -> NDArray[np.uint8]:
    """The receiver's columns u for the transfers from `first` on; choices are unpacked bits."""
    zero = _columns(pairs[0], first, len(choices))
    return zero ^ _columns(pairs[1], first, len(choices)) ^ np.packbits(choices)


def receiver_rows(pairs: NDArray[np.uint8], first: int, count: int) -> NDArray[np.uint64]:
    """The receiver's rows t_i, two words each."""
    return _transpose(_columns(pairs[0], first, count), count)


def sender_rows(
    keys: NDArray[np.uint8], secret_bits: NDArray[np.uint8], sent: NDArray[np.uint8], first: int
) -> NDArray[np.uint64]:
    """The sender's rows q_i, from the receiver's columns; as many as these have bits."""
    count = 8 * sent.shape[1]
    own = _columns(keys, first, count)
    return _transpose(own ^ (sent * secret_bits[:, None]), count)


def as_row(secret_bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The secret s as a row, to be added to rows."""
    return np.packbits(secret_bits).view(np.uint64)


class Hash:
    """The hash that breaks the correlation of the rows; the key is public."""

    def __init__(self, key: bytes) -> None:
        # each block is a new input under a public key: what ECB hides badly is not secret here
        cipher = Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305
        self._encryptor = cipher.encryptor()

    def pads(self, rows: NDArray[np.uint64], first: int, n_bytes: int) -> NDArray[np.uint8]:
        """A pad for each row, of at least n_bytes (whole blocks)."""
        once = self._permute(np.ascontiguousarray(rows))
        blocks = np.empty((len(rows), -(-n_bytes // BLOCK_BYTES), 2), dtype=np.uint64)
        _tweak(once, first, blocks)
        pads = self._permute(blocks)
        _add_rows(once, pads)
        return pads.view(np.uint8).reshape(len(rows), -1)

    def _permute(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        out = np.empty(words.nbytes + BLOCK_BYTES - 1, dtype=np.uint8)
        self._encryptor.update_into(words.view(np.uint8).reshape(-1).data, out.data)
        return out[: words.nbytes].view(np.uint64).reshape(words.shape)


def _columns(keys: NDArray[np.uint8], first: int, count: int) -> NDArray[np.uint8]:
    n_bytes = -(-count // 8)
    parts: Sequence[bytes] = [stream(k.tobytes(), f"ot column/{first}", n_bytes) for k in keys]
    return np.frombuffer(b"".join(parts), dtype=np.uint8).reshape(len(keys), n_bytes)


def _transpose(columns: NDArray[np.uint8], count: int) -> NDArray[np.uint64]:
    rows = np.empty((8 * columns.shape[1], KAPPA // 8), dtype=np.uint8)
    _transpose_bits(columns, rows)
    return rows.view(np.uint64)[:count]


@numba.njit(nogil=True, cache=True)
def _transpose_bits(columns, rows):  # type: ignore[no-untyped-def]
    # 8 × 8 bits at a time, in one word: swap halves of 1, then 2, then 4 bits across the diagonal
    for byte in range(columns.shape[1]):
        for group in range(rows.shape[1]):
            word = np.uint64(0)
            for column in range(8 * group, 8 * group + 8):
                word = (word << np.uint64(8)) | np.uint64(columns[column, byte])
            swap = (word ^ (word >> np.uint64(7))) & np.uint64(0x00AA00AA00AA00AA)
            word ^= swap ^ (swap << np.uint64(7))
            swap = (word ^ (word >> np.uint64(14))) & np.uint64(0x0000CCCC0000CCCC)
            word ^= swap ^ (swap << np.uint64(14))
            swap = (word ^ (word >> np.uint64(28))) & np.uint64(0x00000000F0F0F0F0)
            word ^= swap ^ (swap << np.uint64(28))
            for row in range(8):
                rows[8 * byte + row, group] = (word >> np.uint64(56 - 8 * row)) & np.uint64(255)


@numba.njit(nogil=True, cache=True)
def _tweak(rows, first, blocks):  # type: ignore[no-untyped-def]
    for row in range(blocks.shape[0]):
        number = np.uint64(first + row)
        for block in range(blocks.shape[1]):
            blocks[row, block, 0] = rows[row, 0] ^ number
            blocks[row, block, 1] = rows[row, 1] ^ np.uint64(block)


@numba.njit(nogil=True, cache=True)
def _add_rows(rows, blocks):  # type: ignore[no-untyped-def]
    for row in range(blocks.shape[0]):
        for block in range(blocks.shape[1]):
            blocks[row, block, 0] ^= rows[row, 0]
            blocks[row, block, 1] ^= rows[row, 1]
