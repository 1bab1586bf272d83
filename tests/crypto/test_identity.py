"""Signatures against RFC 8032 by hand, and public lines that are right or refused."""

import base64
import hashlib
import json
from pathlib import Path

import pytest
import slow_ot as curve
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel.crypto.identity import Identity, PublicIdentity

VECTORS = json.loads((Path(__file__).parent / "vectors" / "rfc.json").read_text())["ed25519"]
KNOWN = [{name: bytes.fromhex(text) for name, text in case.items()} for case in VECTORS]
KEYS = st.binary(min_size=32, max_size=32)


def number_of(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def expanded(secret):
    half = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(half[:32], "little") & ~7 & (2**254 - 1) | 2**254
    return scalar, half[32:], curve.encoded(curve.times(scalar, curve.BASE))


def slow_sign(secret, statement):
    """[RFC 8032, 5.1.6]."""
    scalar, prefix, public = expanded(secret)
    r = number_of(prefix, statement) % curve.ORDER
    commitment = curve.encoded(curve.times(r, curve.BASE))
    challenge = number_of(commitment, public, statement)
    return commitment + ((r + challenge * scalar) % curve.ORDER).to_bytes(32, "little")


def slow_signed(public, statement, signature):
    """[RFC 8032, 5.1.7]."""
    challenge = number_of(signature[:32], public, statement) % curve.ORDER
    left = curve.times(int.from_bytes(signature[32:], "little"), curve.BASE)
    moved = curve.times(challenge, curve.decoded(public))
    return left == curve.add(curve.decoded(signature[:32]), moved)


@pytest.mark.parametrize("known", KNOWN, ids=["RFC 8032 test 1", "RFC 8032 test 2"])
def test_known_answers(known):
    own = Identity(known["secret"])
    assert own.public.raw == known["public"] == expanded(known["secret"])[2]
    assert own.sign(known["statement"]) == known["found"]
    assert slow_sign(known["secret"], known["statement"]) == known["found"]
    assert own.public.signed(known["statement"], known["found"])
    assert slow_signed(known["public"], known["statement"], known["found"])


@settings(max_examples=15, deadline=None)
@given(KEYS, st.binary(max_size=100))
def test_any_signature_by_hand(secret, statement):
    own = Identity(secret)
    signature = own.sign(statement)
    assert signature == slow_sign(secret, statement)
    assert slow_signed(own.public.raw, statement, signature)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(0, 511))
def test_nothing_else_is_signed(statement, other, place):
    own = Identity.new()
    signature = own.sign(statement)
    changed = bytearray(signature)
    changed[place // 8] ^= 1 << place % 8
    assert own.public.signed(statement, signature)
    assert not own.public.signed(statement, bytes(changed))
    assert own.public.signed(other, signature) == (other == statement)
    assert not Identity.new().public.signed(statement, signature)
    assert not own.public.signed(statement, signature[:-1])
    assert not own.public.signed(statement, b"")


def test_a_signature_has_one_form_only():
    """s + order would satisfy the equation as well."""
    own = Identity.new()
    signature = own.sign(b"x")
    larger = int.from_bytes(signature[32:], "little") + curve.ORDER
    twin = signature[:32] + larger.to_bytes(32, "little")
    assert slow_signed(own.public.raw, b"x", twin)
    assert not own.public.signed(b"x", twin)


@settings(max_examples=50, deadline=None)
@given(KEYS)
def test_a_public_line_is_read_back(secret):
    public = Identity(secret).public
    again = PublicIdentity.parse(str(public))
    assert again == public
    assert hash(again) == hash(public)
    assert str(public) == "ed25519:" + base64.b64encode(public.raw).decode()
    assert public != str(public)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("", "begins with 'ed25519:'"),
        ("x25519:" + "A" * 43 + "=", "begins with 'ed25519:'"),
        (" ed25519:" + "A" * 43 + "=", "begins with 'ed25519:'"),
        ("ed25519:" + "A" * 43, "not base64"),
        ("ed25519:" + "A" * 42 + "!=", "not base64"),
        ("ed25519:" + "A" * 42 + "é=", "ASCII"),
        ("ed25519:", "has 32 bytes, this one has 0"),
        ("ed25519:" + "A" * 40, "has 32 bytes, this one has 30"),
        ("ed25519:" + "A" * 44, "has 32 bytes, this one has 33"),
    ],
)
def test_other_lines_are_refused(line, rule):
    with pytest.raises(ValueError, match=rule):
        PublicIdentity.parse(line)


@given(st.text(max_size=60))
def test_any_line_is_a_key_or_refused(line):
    for text in (line, "ed25519:" + line):
        with pytest.raises(ValueError):
            PublicIdentity.parse(text)


def test_a_secret_key_is_never_printed():
    own = Identity.new()
    assert len(own.secret_bytes()) == 32
    for text in (repr(own), str(own), f"{own!r:}"):
        assert own.secret_bytes().hex() not in text
        assert base64.b64encode(own.secret_bytes()).decode() not in text
    assert Identity.new().secret_bytes() != own.secret_bytes()
    with pytest.raises(ValueError, match="a secret key has 32 bytes, this one has 31"):
        Identity(bytes(31))
