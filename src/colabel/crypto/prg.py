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


class Stream:
    """The bytes that a shared seed gives for a purpose, the same everywhere, from any place on."""

    def __init__(self, seed: bytes, purpose: str) -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed has {SEED_BYTES} bytes, this one has {len(seed)}")
        info = f"colabel/{purpose}".encode()
        self._key = HKDF(SHA256(), 32, salt=None, info=info).derive(seed)

    def fill(self, out: NDArray[Any], start: int = 0) -> None:
        """Into an array (contiguous), leaving out `start` bytes at the beginning."""
        target = memoryview(out.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        cipher = self._from(start)
        for done in range(0, len(target), len(_CHUNK)):
            part = target[done : done + len(_CHUNK)]
            cipher.update_into(_CHUNK[: len(part)], part)

    def like(self, array: NDArray[Any], start: int = 0) -> NDArray[Any]:
        """As another array of this shape and type."""
        drawn = np.empty(array.shape, array.dtype)
        self.fill(drawn, start)
        return drawn

    def take(self, n_bytes: int) -> bytes:
        """The first of them."""
        found: bytes = self._from(0).update(bytes(n_bytes))
        return found

    def _from(self, start: int) -> Any:
        block, rest = divmod(start, _BLOCK)
        counted = block.to_bytes(8, "little") + _NONCE
        cipher = Cipher(algorithms.ChaCha20(self._key, counted), mode=None).encryptor()
        cipher.update(bytes(rest))
        return cipher


def stream(seed: bytes, purpose: str, n_bytes: int) -> bytes:
    """Expand a shared seed."""
    return Stream(seed, purpose).take(n_bytes)


def fill(seed: bytes, purpose: str, out: NDArray[Any], start: int = 0) -> None:
    """The same bytes, into an array; `start`: how many to leave out at the beginning."""
    Stream(seed, purpose).fill(out, start)
