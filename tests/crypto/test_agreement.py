"""Both ends agree, and on what: by PyCA, by hand, and as it is written in a file."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slow_ciphers as slow
from colabel.crypto import agreement
from colabel.randomness import secret

KNOWN = json.loads((Path(__file__).parent / "vectors" / "agreement.json").read_text())
KEYS = st.binary(min_size=32, max_size=32)
# x of the points of order 1, 2, 4 and 8 on the curve and its twist, canonical or not
SMALL_ORDER = [
    0,
    1,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
    slow.P - 1,
    slow.P,
    slow.P + 1,
]


@pytest.mark.parametrize("how", [agreement, slow], ids=["fast", "slow"])
@pytest.mark.parametrize("known", KNOWN, ids=["no context", "short", "long"])
def test_known_answers(how, known):
    agree = agreement.agree if how is agreement else slow.agreed
    context, wanted = bytes.fromhex(known["context"]), bytes.fromhex(known["agreed"])
    secrets = [bytes.fromhex(text) for text in known["secrets"]]
    publics = [how.public_of(own) for own in secrets]
    assert [public.hex() for public in publics] == known["publics"]
    assert agree(secrets[0], publics[1], context) == wanted
    assert agree(secrets[1], publics[0], context) == wanted


@settings(max_examples=15, deadline=None)
@given(KEYS, KEYS, st.binary(max_size=40))
def test_any_keys_by_hand(one, other, context):
    peer = agreement.public_of(other)
    found = agreement.agree(one, peer, context)
    assert found == slow.agreed(one, peer, context)
    assert found == agreement.agree(other, agreement.public_of(one), context)


@settings(max_examples=50, deadline=None)
@given(KEYS, KEYS, st.binary(max_size=20), st.binary(max_size=20))
def test_other_contexts_and_peers_give_other_secrets(one, other, context, elsewhere):
    peer = agreement.public_of(other)
    found = agreement.agree(one, peer, context)
    assert (agreement.agree(one, peer, elsewhere) == found) == (context == elsewhere)
    third = agreement.public_of(secret(32))
    assert agreement.agree(one, third, context) != found


def test_both_public_keys_enter_the_secret():
    """X25519 clears a bit that carries no information: the same point, but another key."""
    own, peer = secret(32), agreement.public_of(secret(32))
    twin = peer[:31] + bytes([peer[31] | 0x80])
    assert slow.x25519(own, twin) == slow.x25519(own, peer)
    assert agreement.agree(own, twin, b"") != agreement.agree(own, peer, b"")


@pytest.mark.parametrize("x", SMALL_ORDER, ids=lambda x: hex(x)[:8])
def test_keys_of_small_order_are_refused(x):
    point = x.to_bytes(32, "little")
    assert slow.x25519(bytes(range(32)), point) == bytes(32)
    with pytest.raises(ValueError):
        agreement.agree(bytes(range(32)), point, b"")


@pytest.mark.parametrize("length", [0, 31, 33])
def test_keys_of_another_length_are_refused(length):
    with pytest.raises(ValueError, match="32 bytes"):
        agreement.agree(bytes(32), bytes(length), b"")
    with pytest.raises(ValueError, match="32 bytes"):
        agreement.public_of(bytes(length))
