"""Two sites agree on a secret through a server that sees all they send (X25519, HKDF: PyCA)."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from colabel.crypto.prg import SEED_BYTES

KEY_BYTES = 32
_ANY = X25519PrivateKey.from_private_bytes(bytes(KEY_BYTES))  # no secret: only to try keys


def public_of(secret_key: bytes) -> bytes:
    """The half that is shown."""
    return X25519PrivateKey.from_private_bytes(secret_key).public_key().public_bytes_raw()


def usable(public: bytes) -> bool:
    """Whether this is a key to agree with: 32 bytes, and not one that makes every secret zero."""
    try:
        _ANY.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        return False
    return True


def agree(secret_key: bytes, peer: bytes, context: bytes) -> bytes:
    """The secret that both ends compute, and nobody else; different in every context.

    A peer's key that leads to an all-zero secret is a `ValueError`.
    """
    own = X25519PrivateKey.from_private_bytes(secret_key)
    joint = own.exchange(X25519PublicKey.from_public_bytes(peer))
    first, second = sorted((public_of(secret_key), peer))
    info = b"colabel/agreement/" + first + second + context
    return HKDF(SHA256(), SEED_BYTES, salt=None, info=info).derive(joint)
