"""Paillier: nothing but clean refusals."""

from functools import partial

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paillier_talk import KEY_BITS, Peer, a_pair, run

from colabel.errors import RemoteProtocolError
from colabel.protocols.channels import seal
from colabel.protocols.hamming import paillier
from colabel.protocols.hamming.paillier import PaillierHamming


def refused(rule):
    return pytest.raises(RemoteProtocolError, match=rule)


@pytest.mark.parametrize("key_bits", [-1, 0, 512, 1024, 2047, 10**6])
def test_sites_make_no_weak_keys(key_bits):
    site = Peer("a", np.ones((1, 8), int), "ab")
    with refused("a key that protects nothing"):
        site.handle(paillier.PaillierEncrypt(key_bits, 8), PaillierHamming.handlers)


def test_sites_use_no_weak_keys():
    _, b, reply = a_pair(n_right=1)
    with refused("weak"):
        b.handle(paillier.PaillierAdd(8, {"a": reply.codes}), PaillierHamming.handlers)


@pytest.mark.parametrize("n_bits", [-8, 0, 16, 10**9])
def test_codes_of_another_length_are_refused(n_bits):
    a, b, reply = a_pair(n_right=1)
    for site, request in (
        (a, paillier.PaillierEncrypt(KEY_BITS, n_bits)),
        (b, paillier.PaillierAdd(n_bits, {"a": reply.codes})),
        (a, paillier.PaillierDecrypt(n_bits, True, {})),
    ):
        with refused("codes of another length"):
            site.handle(request)


def test_skipped_swapped_and_turned_messages_are_refused():
    a, b, reply = a_pair(n_right=1)
    fresh = Peer("a", a.bits, "ab")
    sums = b.handle(paillier.PaillierAdd(8, {"a": reply.codes}))
    with refused("a step was skipped"):
        fresh.handle(paillier.PaillierDecrypt(8, True, {"b": sums.sums["a"]}))
    with refused("not sealed"):
        a.handle(paillier.PaillierDecrypt(8, True, {"b": reply.codes}))
    with refused("not sealed"):
        b.handle(paillier.PaillierAdd(8, {"a": sums.sums["a"]}))
    with refused("not a member|not sealed"):
        b.handle(paillier.PaillierAdd(8, {"c": reply.codes}))


ODD = st.one_of(st.binary(max_size=600), st.binary(min_size=128, max_size=128))


@given(modulus=ODD, ciphertexts=ODD)
@settings(max_examples=150, deadline=None)
def test_peers_that_encrypt_nonsense_are_refused(modulus, ciphertexts):
    a, b = Peer("a", np.ones((2, 8), int), "ab"), Peer("b", np.ones((2, 8), int), "ab")
    for content in (paillier.EncryptedCodes(modulus, ciphertexts), paillier.EncryptedSums(modulus)):
        sealed = paillier.seal_for_all(a, "paillier codes", content)
        with refused("not encrypted codes|malformed content|another length"):
            b.handle(paillier.PaillierAdd(8, {"a": sealed}))


KEYED = a_pair(n_right=1)


@given(ODD)
@settings(max_examples=150, deadline=None)
def test_peers_that_add_nonsense_are_refused(data):
    a, b, _ = KEYED
    sealed = seal(b, "a", "paillier sums", paillier.EncryptedSums(data))
    try:
        reply = a.handle(paillier.PaillierDecrypt(8, False, {"b": sealed}))
    except RemoteProtocolError as error:
        assert error.rule == "not encrypted sums"
    else:
        assert len(data) == len(reply.totals["b"]) * 2


@given(st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.data_too_large])
def test_requests_of_nonsense_are_refused(data):
    a, b, reply = KEYED
    site = data.draw(st.sampled_from([a, b]))
    names = st.one_of(st.sampled_from(["a", "b", "c", "*"]), st.text(max_size=4))
    content = st.one_of(
        st.binary(max_size=80),
        st.just(reply.codes),
        st.integers(0, len(reply.codes) - 1).map(lambda cut: reply.codes[:cut]),
        st.integers(0, len(reply.codes) - 1).map(partial(flipped, reply.codes)),
    )
    sealed = st.dictionaries(names, content, min_size=1, max_size=2)
    number = st.one_of(st.just(8), st.integers(-(2**40), 2**40))
    kind = data.draw(st.sampled_from([paillier.PaillierAdd, paillier.PaillierDecrypt]))
    rest = (True,) if kind is paillier.PaillierDecrypt else ()
    message = kind(data.draw(number), *rest, data.draw(sealed))
    try:
        site.handle(message)
    except RemoteProtocolError:
        return
    assert (site, kind, message.n_bits) == (b, paillier.PaillierAdd, 8)
    assert message.codes == {"a": reply.codes}


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_replies_of_nonsense_are_refused(data):
    """The server gets what the sites sent, or says that it did not."""
    codes = {"a": np.zeros((2, 4), int), "b": np.ones((1, 4), int)}
    victim = data.draw(st.sampled_from(["a", "b"]))
    kinds = [paillier.PaillierCodes, paillier.PaillierSums, paillier.PaillierTotals]
    kind = data.draw(st.sampled_from(kinds))
    field = data.draw(st.sampled_from([f.name for f in msgspec.structs.fields(kind)]))
    binary = st.one_of(st.binary(max_size=40), st.binary(min_size=128, max_size=128))
    arrays = st.sampled_from([np.zeros(0), np.zeros((1, 1), np.uint16), np.zeros(3, np.uint16)])
    value = {
        "modulus": binary,
        "codes": binary,
        "sums": st.dictionaries(st.sampled_from("abc"), binary),
        "masks": st.dictionaries(st.sampled_from("abc"), binary),
        "totals": st.dictionaries(st.sampled_from("abc"), binary),
        "own": arrays,
    }[field]
    nonsense = data.draw(value)

    def meddle(name, reply):
        if name != victim or type(reply) is not kind:
            return reply
        return msgspec.structs.replace(reply, **{field: nonsense})

    try:
        _, distances, _ = run(codes, meddle=meddle)
    except RemoteProtocolError:
        return
    assert distances.rows(0, 3).max() <= 4
