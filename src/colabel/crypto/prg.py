"""A pseudo-random byte stream: ChaCha20 under a key derived per purpose with HKDF-SHA256."""

from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

SEED_BYTES = 32
_BLOCK = 64
_NONCE = bytes(8)  # every (seed, purpose) has a key of its own, used once
_CHUNK = bytes(2**18)  # stays in the cache


def stream(seed: bytes, purpose: str, n_bytes: int) -> bytes:
    """Expand a shared seed; the same seed and purpose give the same bytes everywhere."""
    return _cipher(seed, purpose).update(bytes(n_bytes))


def fill(seed: bytes, purpose: str, out: NDArray[Any], start: int = 0) -> None:
    """The same bytes, into an array (contiguous).

    `start`: how many of them to leave out at the beginning.
    """
    target = memoryview(out.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
    cipher = _cipher(seed, purpose, start)
    for start in range(0, len(target), len(_CHUNK)):
        part = target[start : start + len(_CHUNK)]
        cipher.update_into(_CHUNK[: len(part)], part)


def _cipher(seed: bytes, purpose: str, start: int = 0) -> Any:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, this one has {len(seed)}")
    key = HKDF(SHA256(), 32, salt=None, info=f"colabel/{purpose}".encode()).derive(seed)
    block, rest = divmod(start, _BLOCK)
    counted = block.to_bytes(8, "little") + _NONCE
    cipher = Cipher(algorithms.ChaCha20(key, counted), mode=None).encryptor()
    cipher.update(bytes(rest))
    return cipher
