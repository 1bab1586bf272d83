"""Shamir's secret sharing of 32-byte secrets over a prime field (1979). Not audited.

Any `threshold` shares give the secret; fewer are independent of it. Holders are numbered from 1.
"""

from collections.abc import Mapping

from colabel.randomness import secret

PRIME = 2**256 + 297  # the smallest prime above 2^256
SECRET_BYTES, SHARE_BYTES = 32, 33


def split(value: bytes, threshold: int, n_holders: int) -> list[bytes]:
    """One share for each of the holders 1 … n."""
    if len(value) != SECRET_BYTES:
        raise ValueError(f"a secret has {SECRET_BYTES} bytes, this one has {len(value)}")
    if not 1 <= threshold <= n_holders:
        raise ValueError(f"threshold {threshold} of {n_holders} holders is impossible")
    coefficients = [int.from_bytes(value), *(_field_element() for _ in range(threshold - 1))]
    return [_evaluate(coefficients, x).to_bytes(SHARE_BYTES) for x in range(1, n_holders + 1)]


def possible(share: bytes) -> bool:
    """Whether this can be a share of something."""
    return len(share) == SHARE_BYTES and int.from_bytes(share) < PRIME


def join(shares: Mapping[int, bytes]) -> bytes:
    """The secret from the shares of enough holders; a `ValueError` if they do not fit."""
    points = {holder: int.from_bytes(share) for holder, share in shares.items()}
    if not points or any(not 0 <= y < PRIME or x < 1 for x, y in points.items()):
        raise ValueError("not shares of one secret")
    total = 0
    for x, y in points.items():  # Lagrange's polynomial at 0
        above, below = 1, 1
        for other in points:
            if other != x:
                above, below = above * other % PRIME, below * (other - x) % PRIME
        total += y * above * pow(below, -1, PRIME)
    found = total % PRIME
    if found >= 2 ** (8 * SECRET_BYTES):
        raise ValueError("not shares of one secret")
    return found.to_bytes(SECRET_BYTES)


def _field_element() -> int:
    while True:  # 33 bytes, of which all but 9 bits are kept; about every second one is below
        candidate = int.from_bytes(secret(SHARE_BYTES)) & (2**257 - 1)
        if candidate < PRIME:
            return candidate


def _evaluate(coefficients: list[int], x: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % PRIME
    return value
