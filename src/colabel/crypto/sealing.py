"""Sealed messages: ChaCha20-Poly1305 under a key that serves for one message only (PyCA).

Every message gets a key of its own by HKDF from the shared secret, its label and a random salt,
so no nonce repeats, not even when a site that was killed seals the same label again. The label is
bound as associated data: what was sealed for one place opens in no other.
"""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from colabel.randomness import secret

_SALT, _TAG = 16, 16
OVERHEAD = _SALT + _TAG
_NONCE = bytes(12)  # each key is used once


class NotAuthentic(Exception):
    """The bytes were not sealed by a holder of this secret under this label."""


def seal(shared: bytes, label: bytes, content: bytes | bytearray) -> bytes:
    """Encrypt and authenticate."""
    salt = secret(_SALT)
    return salt + _key(shared, label, salt).encrypt(_NONCE, content, label)


def unseal(shared: bytes, label: bytes, sealed: bytes) -> bytes:
    """The content, or `NotAuthentic`."""
    salt, rest = sealed[:_SALT], memoryview(sealed)[_SALT:]
    if len(rest) < _TAG:
        raise NotAuthentic
    try:
        return _key(shared, label, salt).decrypt(_NONCE, rest, label)
    except InvalidTag:
        raise NotAuthentic from None


def _key(shared: bytes, label: bytes, salt: bytes) -> ChaCha20Poly1305:
    info = b"colabel/sealing/" + label
    return ChaCha20Poly1305(HKDF(SHA256(), 32, salt=salt, info=info).derive(shared))
