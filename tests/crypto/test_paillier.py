"""Paillier against its definition in plain integers, and against python-paillier's ciphertexts."""

import json
from math import gcd
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colabel.crypto import big_integers, paillier

VECTORS = json.loads((Path(__file__).parent / "vectors" / "paillier.json").read_text())["keys"]
SMALL = paillier.from_primes(2**61 - 1, 2**89 - 1, weakest_bits=0)
SLOTS = st.integers(0, SMALL.public.modulus - 1)


def slow_encrypt(modulus, value, r):
    return pow(1 + modulus, value, modulus**2) * pow(r, modulus, modulus**2) % modulus**2


def slow_decrypt(p, q, ciphertext):
    """By the order of the group, without remainders modulo p and q."""
    modulus, order = p * q, (p - 1) * (q - 1)
    return (pow(ciphertext, order, modulus**2) - 1) // modulus * pow(order, -1, modulus) % modulus


def cases():
    for key in VECTORS:
        for case in key["cases"]:
            yield tuple(int(number, 16) for number in (key["p"], key["q"], *case.values()))


@pytest.fixture(params=["gmpy2", "int"])
def arithmetic(request, monkeypatch):
    if request.param == "int":
        monkeypatch.setattr(big_integers, "gmpy2", None)
    elif big_integers.gmpy2 is None:
        pytest.skip("gmpy2 is not installed")


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: f"{case[0].bit_length()}-bit-p")
@pytest.mark.usefixtures("arithmetic")
def test_known_answers(case):
    p, q, value, r, ciphertext = case
    private = paillier.from_primes(p, q, weakest_bits=0)
    public = private.public
    assert slow_encrypt(p * q, value, r) == ciphertext
    assert slow_decrypt(p, q, ciphertext) == value
    residue = big_integers.powers([r], public.modulus, public.square)
    assert public.hide([value], residue) == [ciphertext]
    # r^N = (r^q)^p mod p², which is how the owner makes it
    assert private.lift([pow(r, q, p)], [pow(r, p, q)]) == residue
    assert private.decrypt([ciphertext]) == [value]
    assert public.unpack(public.pack([ciphertext])) == [ciphertext]


@given(st.lists(SLOTS, max_size=4), st.booleans())
def test_both_ways_to_encrypt_are_decrypted(values, by_owner):
    ciphertexts = (SMALL if by_owner else SMALL.public).encrypt(values)
    assert SMALL.decrypt(ciphertexts) == values
    assert [slow_decrypt(SMALL.p, SMALL.q, int(c)) for c in ciphertexts] == values


@given(SLOTS, SLOTS)
def test_sums(left, right):
    public, modulus = SMALL.public, SMALL.public.modulus
    a, b = SMALL.encrypt([left, right])
    assert SMALL.decrypt([public.add(a, b)]) == [(left + right) % modulus]
    assert SMALL.decrypt(public.add_plain([a], [right])) == [(left + right) % modulus]
    assert SMALL.decrypt(public.blind([a])) == [left]


@given(st.lists(SLOTS, max_size=20), st.integers(0, 2**32), st.integers(1, 40))
def test_subset_sums(values, seed, n_rows):
    chosen = np.random.default_rng(seed).random((n_rows, len(values))) < 0.5
    got = SMALL.decrypt(SMALL.public.subset_sums(SMALL.encrypt(values), chosen))
    want = [sum(v for v, c in zip(values, row, strict=True) if c) for row in chosen.tolist()]
    assert got == [total % SMALL.public.modulus for total in want]


def test_both_arithmetics_agree(monkeypatch):
    bases, modulus = [3**500, 7**300, 5], 2**521 - 1
    chosen = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)
    fast = big_integers.powers(bases, 2**300 + 1, modulus)
    products = big_integers.subset_products(bases, chosen, modulus)
    monkeypatch.setattr(big_integers, "gmpy2", None)
    assert big_integers.powers(bases, 2**300 + 1, modulus) == fast
    assert big_integers.subset_products(bases, chosen, modulus) == products


@pytest.mark.parametrize("owner", [True, False])
def test_the_residues_are_uniform(owner):
    """Every one of the (p − 1)(q − 1) N-th residues equally often."""
    key = paillier.from_primes(11, 17, weakest_bits=0)
    n_residues, draws = 160, 16_000
    drawn = (key if owner else key.public).residues(draws)
    assert set(drawn) == {pow(r, 187, 187**2) for r in range(187) if gcd(r, 187) == 1}
    _, counts = np.unique([int(residue) for residue in drawn], return_counts=True)
    expected = draws / n_residues
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    assert abs(chi_square - (n_residues - 1)) < 6 * np.sqrt(2 * (n_residues - 1))


def test_numbers_below_a_bound_are_uniform():
    counts = np.bincount(big_integers.below(10, 20_000, "test"), minlength=10)
    assert ((counts - 2000) ** 2 / 2000).sum() < 50
    assert len(set(big_integers.below(2**64, 1000, "test"))) == 1000


def test_a_sum_shows_its_parts_until_it_is_blinded():
    a, b = SMALL.encrypt([1, 2])
    together = SMALL.public.add(a, b)
    assert together == a * b % SMALL.public.modulus**2
    assert SMALL.public.blind([together]) != [together]
    assert len(set(SMALL.public.blind([together] * 50))) == 50


def test_a_new_key_works_and_hides_its_primes():
    key = paillier.generate(2048)
    assert key.public.n_bits == 2048
    assert key.public.cipher_size == 512
    assert key.decrypt(key.public.encrypt([5])) == [5]
    assert key.decrypt(key.encrypt([key.public.modulus - 1])) == [key.public.modulus - 1]
    for text in (repr(key), str(key), f"{key!r:}"):
        assert text == "PrivateKey(2048 bits)"
    assert paillier.PublicKey.of_peer(key.public.to_bytes()) == key.public


@pytest.mark.parametrize(
    "make",
    [
        lambda: paillier.generate(1024),
        lambda: paillier.from_primes(2**521 - 1, 2**607 - 1),
        lambda: paillier.PublicKey.of_peer(((2**521 - 1) * (2**607 - 1)).to_bytes(141, "big")),
        lambda: paillier.PublicKey.of_peer(b""),
    ],
)
def test_weak_keys_are_refused(make):
    with pytest.raises(ValueError, match=r"is weak: at least 2048 bits"):
        make()


def test_moduli_that_are_none_are_refused():
    with pytest.raises(ValueError, match="small factor"):
        paillier.PublicKey.of_peer((2**3071 + 2).to_bytes(384, "big"))
    with pytest.raises(ValueError, match="too long"):
        paillier.PublicKey.of_peer(b"\xff" * 5000)
    for p, q in ((13, 13), (3, 7)):
        with pytest.raises(ValueError, match="make no key"):
            paillier.from_primes(p, q, weakest_bits=0)


@pytest.mark.parametrize(
    ("number", "rule"),
    [
        (0, "out of range"),
        (SMALL.public.modulus**2, "out of range"),
        (SMALL.p, "shares a factor"),
        (SMALL.public.modulus, "shares a factor"),
    ],
)
def test_numbers_that_are_no_ciphertexts_are_refused(number, rule):
    public = SMALL.public
    with pytest.raises(ValueError, match=rule):
        public.unpack(public.pack([public.encrypt([1])[0], number]))


@given(st.binary(max_size=200))
def test_bytes_are_ciphertexts_or_refused(data):
    try:
        read = SMALL.public.unpack(data)
    except ValueError:
        return
    assert SMALL.public.pack(read) == data
    SMALL.decrypt(read)
