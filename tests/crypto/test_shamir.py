"""Shares against polynomials in plain integers: enough of them give the secret, fewer nothing."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from colabel.crypto import shamir

KNOWN = json.loads((Path(__file__).parent / "vectors" / "shamir.json").read_text())
P = shamir.PRIME
SECRETS = st.binary(min_size=32, max_size=32)


def slow_shares(coefficients, n_holders):
    """Powers, one by one."""
    return [
        sum(c * x**power for power, c in enumerate(coefficients)) % P
        for x in range(1, n_holders + 1)
    ]


def slow_polynomial(points):
    """The coefficients, by Gaussian elimination of the powers of x."""
    rows = [[pow(x, power, P) for power in range(len(points))] + [y] for x, y in points.items()]
    for place in range(len(rows)):
        pivot = next(row for row in rows[place:] if row[place])
        rows.remove(pivot)
        pivot = [value * pow(pivot[place], -1, P) % P for value in pivot]
        rows = [[(a - row[place] * b) % P for a, b in zip(row, pivot, strict=True)] for row in rows]
        rows.insert(place, pivot)
    return [row[-1] for row in rows]


def is_prime(number):
    """Miller and Rabin's test with the first bases."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53):
        power = pow(base, odd, number)
        seen = [pow(power, 2**i, number) for i in range(twos)]
        if power != 1 and number - 1 not in seen:
            return False
    return True


def test_the_field_is_the_smallest_that_holds_all_secrets():
    assert [n for n in range(2**256, P + 1) if is_prime(n)] == [P]


@pytest.mark.parametrize("known", KNOWN, ids=["1 of 1", "2 of 3", "3 of 5", "4 of 4"])
def test_known_answers(known, monkeypatch):
    secret, threshold = bytes.fromhex(known["secret"]), known["threshold"]
    drawn = [int(text, 16) for text in known["coefficients"]]
    wanted = [bytes.fromhex(text) for text in known["shares"]]
    coefficients = [int.from_bytes(secret, "big"), *drawn]
    slow = slow_shares(coefficients, len(wanted))
    assert [share.to_bytes(33, "big") for share in slow] == wanted
    source = iter(drawn)
    monkeypatch.setattr(shamir, "_field_element", lambda: next(source))
    assert shamir.split(secret, threshold, len(wanted)) == wanted
    for holders in combinations(range(1, len(wanted) + 1), threshold):
        assert shamir.join({x: wanted[x - 1] for x in holders}) == secret
        assert slow_polynomial({x: slow[x - 1] for x in holders}) == coefficients


@settings(max_examples=60, deadline=None)
@given(SECRETS, st.integers(1, 8), st.integers(0, 5), st.randoms())
def test_enough_shares_give_the_secret_whoever_holds_them(secret, threshold, more, random):
    shares = shamir.split(secret, threshold, threshold + more)
    assert all(len(share) == shamir.SHARE_BYTES for share in shares)
    holders = random.sample(range(1, threshold + more + 1), random.randint(threshold, len(shares)))
    chosen = {x: shares[x - 1] for x in holders}
    assert shamir.join(chosen) == secret
    points = {x: int.from_bytes(share, "big") for x, share in chosen.items()}
    polynomial = slow_polynomial(points)
    assert polynomial[0] == int.from_bytes(secret, "big")
    assert not any(polynomial[threshold:])


@settings(max_examples=60, deadline=None)
@given(SECRETS, st.integers(2, 6), st.integers(0, 263))
def test_too_few_or_changed_shares_give_something_else(secret, threshold, place):
    shares = dict(enumerate(shamir.split(secret, threshold, threshold), start=1))
    changed = bytearray(shares[1])
    changed[place // 8] ^= 1 << place % 8
    few = {x: share for x, share in shares.items() if x > 1}
    for chosen in (few, {**shares, 1: bytes(changed)}):
        try:
            assert shamir.join(chosen) != secret
        except ValueError as error:
            assert str(error) == "not shares of one secret"


def shares_tell(n_draws=4000):
    """Whether any threshold − 1 shares, or their difference, depend on the secret."""
    values = []
    for secret in (bytes(32), b"\xff" * 32):
        drawn = [shamir.split(secret, 3, 5) for _ in range(n_draws)]
        numbers = np.array([[int.from_bytes(s, "big") * 64 // P for s in each] for each in drawn])
        values += [chisquare(np.bincount(column, minlength=64)).pvalue for column in numbers.T]
        pairs = (numbers[:, 0] + 8 * numbers[:, 4]) % 64
        values.append(chisquare(np.bincount(pairs, minlength=64)).pvalue)
    return min(values) < 1e-9


def test_shares_below_the_threshold_are_uniform():
    assert not shares_tell()


def test_a_polynomial_without_randomness_is_caught(monkeypatch):
    monkeypatch.setattr(shamir, "_field_element", lambda: 1)
    assert shares_tell(500)


def test_elements_of_the_field_are_drawn_again_until_they_are_below(monkeypatch):
    draws = [b"\xff" * 33, P.to_bytes(33, "big"), (P - 1 + 2**260).to_bytes(33, "big")]
    monkeypatch.setattr(shamir, "secret", lambda n_bytes: draws.pop(0))
    assert shamir._field_element() == P - 1
    assert draws == []


@pytest.mark.parametrize(("threshold", "n_holders"), [(0, 3), (-1, 3), (4, 3), (1, 0)])
def test_impossible_thresholds_are_refused(threshold, n_holders):
    with pytest.raises(ValueError, match=f"threshold {threshold} of {n_holders} holders"):
        shamir.split(bytes(32), threshold, n_holders)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_secrets_of_another_length_are_refused(length):
    with pytest.raises(ValueError, match=f"a secret has 32 bytes, this one has {length}"):
        shamir.split(bytes(length), 1, 1)


@pytest.mark.parametrize(
    "shares",
    [
        {},
        {1: P.to_bytes(33, "big")},
        {1: b"\xff" * 33},
        {0: bytes(33)},
        {-1: bytes(33)},
        {1: (2**256).to_bytes(33, "big")},
        {1: bytes(33), P + 1: bytes(33)},
    ],
)
def test_what_are_no_shares_is_refused(shares):
    with pytest.raises(ValueError):
        shamir.join(shares)
