"""A pseudo-random byte stream: ChaCha20 under a key derived per purpose with HKDF-SHA256."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SEED_BYTES = 32
_NONCE = bytes(16)  # every (seed, purpose) has a key of its own, used once


def stream(seed: bytes, purpose: str, n_bytes: int) -> bytes:
    """Expand a shared seed; the same seed and purpose give the same bytes everywhere."""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, this one has {len(seed)}")
    key = HKDF(SHA256(), 32, salt=None, info=f"colabel/{purpose}".encode()).derive(seed)
    return Cipher(algorithms.ChaCha20(key, _NONCE), mode=None).encryptor().update(bytes(n_bytes))
