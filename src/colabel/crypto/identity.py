"""Long-term identities: Ed25519 keys that say which site a message comes from (PyCA)."""

import base64
import binascii
from collections.abc import Mapping
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from colabel.randomness import secret

KEY_BYTES = 32
_PREFIX = "ed25519:"


class PublicIdentity:
    """What others know of a site: enough to check its signatures."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._key = Ed25519PublicKey.from_public_bytes(raw)

    def signed(self, statement: bytes, signature: bytes) -> bool:
        """Whether this identity signed this statement."""
        try:
            self._key.verify(signature, statement)
        except InvalidSignature:
            return False
        return True

    def __str__(self) -> str:
        return _PREFIX + base64.b64encode(self.raw).decode()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicIdentity) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    @classmethod
    def parse(cls, line: str) -> Self:
        """From `ed25519:…`, as `str` writes it; a `ValueError` says what is wrong."""
        if not line.startswith(_PREFIX):
            raise ValueError(f"a public key begins with {_PREFIX!r}")
        try:
            raw = base64.b64decode(line.removeprefix(_PREFIX), validate=True)
        except binascii.Error as error:
            raise ValueError(f"not base64: {error}") from None
        if len(raw) != KEY_BYTES:
            raise ValueError(f"a public key has {KEY_BYTES} bytes, this one has {len(raw)}")
        return cls(raw)


class Identity:
    """A site's own identity. Never printed."""

    def __init__(self, raw: bytes) -> None:
        if len(raw) != KEY_BYTES:
            raise ValueError(f"a secret key has {KEY_BYTES} bytes, this one has {len(raw)}")
        self._raw = raw
        self._key = Ed25519PrivateKey.from_private_bytes(raw)
        self.public = PublicIdentity(self._key.public_key().public_bytes_raw())

    @classmethod
    def new(cls) -> Self:
        """A fresh one."""
        return cls(secret(KEY_BYTES))

    def sign(self, statement: bytes) -> bytes:
        """A signature that `PublicIdentity.signed` accepts."""
        return self._key.sign(statement)

    def secret_bytes(self) -> bytes:
        """The secret key, for its owner's own disk."""
        return self._raw


Roster = Mapping[str, PublicIdentity]
