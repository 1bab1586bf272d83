"""The stream, and the slow ciphers that it and its neighbours are checked against."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import slow_ciphers as slow
from colabel.crypto import prg

VECTORS = Path(__file__).parent / "vectors"
KNOWN = json.loads((VECTORS / "prg.json").read_text())
RFC = {
    kind: [
        {name: value if name == "counter" else bytes.fromhex(value) for name, value in case.items()}
        for case in cases
    ]
    for kind, cases in json.loads((VECTORS / "rfc.json").read_text()).items()
}


def test_the_slow_ciphers_give_the_answers_of_their_rfcs():
    for case in RFC["hkdf"]:
        found = slow.hkdf(case["secret"], case["info"], case["salt"], len(case["found"]))
        assert found == case["found"]
    for case in RFC["chacha20_block"]:
        assert slow.chacha_block(case["key"], case["counter"], case["nonce"]) == case["found"]
    for case in RFC["chacha20"]:
        length = len(case["content"])
        pad = slow.key_stream(case["key"], case["counter"], case["nonce"], length)
        assert slow.plus(case["content"], pad) == case["found"]
    for case in RFC["poly1305"]:
        assert slow.poly1305(case["key"], case["content"]) == case["found"]
    for case in RFC["aead"]:
        found = slow.aead(case["key"], case["nonce"], case["content"], case["bound"])
        assert found == case["found"]
    for case in RFC["x25519"]:
        assert slow.x25519(case["secret"], case["point"]) == case["found"]


@pytest.mark.parametrize("make", [prg.stream, slow.stream], ids=["fast", "slow"])
@pytest.mark.parametrize("known", KNOWN, ids=["empty purpose", "a block", "not ASCII"])
def test_known_answers(make, known):
    wanted = bytes.fromhex(known["bytes"])
    assert make(bytes.fromhex(known["seed"]), known["purpose"], len(wanted)) == wanted


@settings(max_examples=40, deadline=None)
@given(st.binary(min_size=32, max_size=32), st.text(max_size=20), st.integers(0, 300))
def test_any_stream_by_hand(seed, purpose, n_bytes):
    assert prg.stream(seed, purpose, n_bytes) == slow.stream(seed, purpose, n_bytes)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 7), max_size=3),
    st.sampled_from(["u1", "<u2", "<u8", "<i8"]),
    st.text(max_size=5),
)
def test_filling_an_array_is_the_same_stream(shape, dtype, purpose):
    out = np.ones(shape, dtype)
    prg.fill(bytes(32), purpose, out)
    assert out.tobytes() == prg.stream(bytes(32), purpose, out.nbytes)


@pytest.mark.parametrize("more", [-1, 0, 1, 63, 2**18 + 5])
def test_filling_goes_on_where_a_chunk_ends(more):
    out = np.empty(2**18 + more, np.uint8)
    prg.fill(bytes(32), "long", out)
    assert out.tobytes() == prg.stream(bytes(32), "long", len(out))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300), st.integers(0, 300))
def test_any_part_of_a_stream(start, n_bytes):
    wanted = slow.stream(bytes(32), "part", start + n_bytes)[start:]
    out = np.empty(n_bytes, np.uint8)
    prg.fill(bytes(32), "part", out, start)
    assert out.tobytes() == wanted


def test_far_parts_of_a_stream():
    whole = prg.stream(bytes(32), "far", 70_000 * 64)
    out = np.empty(100, np.uint8)
    prg.fill(bytes(32), "far", out, 69_000 * 64 + 5)
    assert out.tobytes() == whole[69_000 * 64 + 5 :][:100]


@pytest.mark.parametrize("length", [0, 31, 33])
def test_seeds_of_another_length_are_refused(length):
    with pytest.raises(ValueError, match=f"a seed has 32 bytes, this one has {length}"):
        prg.stream(bytes(length), "x", 1)
    with pytest.raises(ValueError, match="a seed has 32 bytes"):
        prg.fill(bytes(length), "x", np.empty(1, np.uint8))


def streams_are_unrelated():
    """Whether streams of like purposes, and of seeds one bit apart, differ at random."""
    seeds = [bytes(32), b"\x01" + bytes(31), bytes(31) + b"\x80"]
    found = [
        np.frombuffer(prg.stream(seed, purpose, 20_000), np.uint8)
        for seed in seeds
        for purpose in ("E/0", "E/1", "E/01")
    ]
    differences = [a ^ b for number, a in enumerate(found) for b in found[:number]]
    values = [chisquare(np.bincount(d, minlength=256)).pvalue for d in (*found, *differences)]
    return min(values) > 1e-9


def test_streams_of_other_seeds_and_purposes_are_unrelated():
    assert streams_are_unrelated()


def test_streams_that_forget_their_purpose_are_caught(monkeypatch):
    true = prg.Stream.__init__
    monkeypatch.setattr(prg.Stream, "__init__", lambda self, seed, purpose: true(self, seed, ""))
    assert not streams_are_unrelated()
