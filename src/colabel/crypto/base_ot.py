"""Random oblivious transfers of keys, on the prime-order group of edwards25519. Not audited.

The sender ends with two keys per transfer, the receiver with the one it chose, and the sender
does not learn which. This is the protocol of Chou and Orlandi (Latincrypt 2015), against peers
that follow it; points that are no members of the group, and the neutral one, are refused.
The group is libsodium's (PyNaCl).

step     who        sends                      learns
offer    sender     A = a·G                    nothing
choose   receiver   B_i = b_i·G + s_i·A        the key of s_i: hash of b_i·A = a·(B_i − s_i·A)
keys     sender     nothing                    both keys: hashes of a·B_i and of a·(B_i − A)
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from nacl import bindings
from numpy.typing import NDArray

from colabel.crypto.prg import SEED_BYTES, stream

POINT_BYTES = 32
KEY_BYTES = SEED_BYTES  # a key seeds a stream
_WIDE = 64  # bytes reduced to a scalar, so many that it is uniform but for 2⁻²⁵⁹


def offer(seed: bytes) -> bytes:
    """The sender's point A; the secret scalar comes from the seed."""
    return bindings.crypto_scalarmult_ed25519_base_noclamp(_scalars(seed, 1)[0])


def choose(
    tag: bytes, offered: bytes, choices: Sequence[int], seed: bytes
) -> tuple[tuple[bytes, ...], NDArray[np.uint8]]:
    """The receiver's points, one per choice (0 or 1), and the keys it chose (one per row)."""
    check_point("the offered point", offered)
    points, keys = [], []
    for number, (choice, scalar) in enumerate(
        zip(choices, _scalars(seed, len(choices)), strict=True)
    ):
        plain = bindings.crypto_scalarmult_ed25519_base_noclamp(scalar)
        # both are made whatever the choice, so that the time does not tell it
        moved = bindings.crypto_core_ed25519_add(plain, offered)
        points.append((plain, moved)[choice])
        shared = bindings.crypto_scalarmult_ed25519_noclamp(scalar, offered)
        keys.append(_key(tag, number, offered, points[-1], shared))
    return tuple(points), _rows(keys)


def both_keys(tag: bytes, seed: bytes, points: Sequence[bytes]) -> NDArray[np.uint8]:
    """The sender's keys: shape (2, number of transfers, bytes of a key)."""
    scalar, offered = _scalars(seed, 1)[0], offer(seed)
    shift = bindings.crypto_scalarmult_ed25519_noclamp(scalar, offered)
    firsts, seconds = [], []
    for number, point in enumerate(points):
        check_point(f"point {number}", point)
        shared = bindings.crypto_scalarmult_ed25519_noclamp(scalar, point)
        firsts.append(_key(tag, number, offered, point, shared))
        # a·(B − A) = a·B − a·A, one multiplication less
        moved = bindings.crypto_core_ed25519_sub(shared, shift)
        seconds.append(_key(tag, number, offered, point, moved))
    return np.stack([_rows(firsts), _rows(seconds)])


def check_point(what: str, point: bytes) -> None:
    """Refuse what is no point of the prime-order group, or the neutral one, or not canonical."""
    if len(point) != POINT_BYTES:
        raise ValueError(f"{what} has {len(point)} bytes, not {POINT_BYTES}")
    if not bindings.crypto_core_ed25519_is_valid_point(point):
        raise ValueError(f"{what} is not in the prime-order group")


def _scalars(seed: bytes, count: int) -> list[bytes]:
    wide = stream(seed, "base ot scalars", _WIDE * count)
    return [
        bindings.crypto_core_ed25519_scalar_reduce(wide[start : start + _WIDE])
        for start in range(0, len(wide), _WIDE)
    ]


def _key(tag: bytes, number: int, offered: bytes, point: bytes, shared: bytes) -> bytes:
    parts = (b"colabel/base ot", len(tag).to_bytes(4, "big"), tag, number.to_bytes(4, "big"))
    return hashlib.sha256(b"".join((*parts, offered, point, shared))).digest()


def _rows(keys: Sequence[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), KEY_BYTES)
