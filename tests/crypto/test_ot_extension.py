"""The extension: correlated rows, and pads of which the receiver knows one of two."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import slow_ot
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import slow_ciphers
from colabel.crypto import ot_extension as extension
from colabel.crypto import prg

VECTORS = json.loads((Path(__file__).parent / "vectors" / "ot_extension.json").read_text())
KEY = bytes(range(16))


def matrix(data, *shape):
    return np.frombuffer(data, np.uint8).reshape(shape)


def ingredients(seed):
    pairs = np.ascontiguousarray(matrix(prg.stream(seed, "pairs", 64 * 128), 128, 2, 32))
    return np.ascontiguousarray(pairs.swapaxes(0, 1)), matrix(prg.stream(seed, "secret", 16), 16)


def both_sides(choices, first, seed=bytes(32)):
    """Rows of receiver and sender, and the sender's secret as a row."""
    pairs, secret = ingredients(seed)
    bits = np.unpackbits(secret)
    keys = np.where(bits[:, None] == 0, pairs[0], pairs[1])
    sent = extension.corrections(pairs, choices, first)
    t = extension.receiver_rows(pairs, first, len(choices))
    q = extension.sender_rows(keys, bits, sent, first)[: len(choices)]
    return t, q, extension.as_row(bits)


def test_the_slow_ciphers_are_the_ciphers():
    block = bytes.fromhex("00112233445566778899aabbccddeeff")
    assert slow_ot.aes(KEY, block).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"  # FIPS 197, C.1
    assert slow_ot.stream(bytes(32), "x", 200) == prg.stream(bytes(32), "x", 200)
    first = slow_ciphers.chacha_block(bytes(32), 0)  # RFC 8439, A.1
    assert first.hex().startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1a")


@pytest.mark.parametrize("vector", VECTORS, ids=["short", "long"])
def test_known_answers(vector):
    seed, first = bytes.fromhex(vector["seed"]), vector["first"]
    choices = np.array(vector["choices"], dtype=np.uint8)
    pairs, secret = ingredients(seed)
    assert secret.tobytes().hex() == vector["secret"]
    sent = extension.corrections(pairs, choices, first)
    assert hashlib.sha256(sent.tobytes()).hexdigest() == vector["columns"]
    assert sent.nbytes == extension.n_column_bytes(len(choices))
    t, q, s = both_sides(choices, first, seed)
    assert [row.tobytes().hex() for row in t] == vector["receiver_rows"]
    assert [row.tobytes().hex() for row in q] == vector["sender_rows"]
    cipher = extension.Hash(bytes.fromhex(vector["hash_key"]))
    for side, rows in enumerate((q, q ^ s)):
        pads = cipher.pads(rows, first, 16 * vector["n_blocks"])
        assert [pad.tobytes().hex() for pad in pads] == [pair[side] for pair in vector["pads"]]


@pytest.mark.parametrize("vector", VECTORS, ids=["short", "long"])
def test_known_answers_by_integers(vector):
    seed, first = bytes.fromhex(vector["seed"]), vector["first"]
    text = slow_ot.stream(seed, "pairs", 64 * 128)
    pairs = [(text[i : i + 32], text[i + 32 : i + 64]) for i in range(0, len(text), 64)]
    sent, t = slow_ot.extended(pairs, vector["choices"], first)
    assert hashlib.sha256(sent).hexdigest() == vector["columns"]
    assert [row.hex() for row in t] == vector["receiver_rows"]
    secret, key = bytes.fromhex(vector["secret"]), bytes.fromhex(vector["hash_key"])
    for number, pads in enumerate(vector["pads"]):
        q = bytes.fromhex(vector["sender_rows"][number])
        rows = (q, slow_ot.plus(q, secret))
        assert rows[vector["choices"][number]] == t[number]
        got = [slow_ot.pad(key, row, first + number, vector["n_blocks"]).hex() for row in rows]
        assert got == pads


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 1), min_size=1, max_size=70),
    st.integers(0, 2**40),
    st.integers(1, 100),
    st.binary(min_size=32, max_size=32),
)
def test_the_receiver_knows_the_chosen_pad_and_not_the_other(choices, first, n_bytes, seed):
    bits = np.array(choices, dtype=np.uint8)
    t, q, s = both_sides(bits, first, seed)
    cipher = extension.Hash(KEY)
    own = cipher.pads(t, first, n_bytes)
    pads = np.stack([cipher.pads(q, first, n_bytes), cipher.pads(q ^ s, first, n_bytes)])
    assert own.shape[1] >= n_bytes
    places = np.arange(len(bits))
    np.testing.assert_array_equal(pads[bits, places], own)
    assert (pads[1 - bits, places] != own).any(axis=1).all()


def test_numbers_do_not_depend_on_how_pads_are_cut():
    t, _, _ = both_sides(np.zeros(50, np.uint8), 0)
    cipher = extension.Hash(KEY)
    whole = cipher.pads(t, 9, 40)
    parts = [cipher.pads(t[:20], 9, 40), cipher.pads(t[20:], 29, 40)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def uniform(data):
    counts = np.bincount(np.ascontiguousarray(data).view(np.uint8).reshape(-1), minlength=256)
    return chisquare(counts).pvalue > 1e-9


@pytest.mark.parametrize("choice", [0, 1])
def test_columns_do_not_show_the_choices(choice):
    pairs, _ = ingredients(bytes(32))
    assert uniform(extension.corrections(pairs, np.full(4000, choice, np.uint8), 0))


def test_columns_without_streams_do(monkeypatch):
    monkeypatch.setattr(extension, "stream", lambda seed, purpose, n: bytes(n))
    pairs, _ = ingredients(bytes(32))
    assert not uniform(extension.corrections(pairs, np.ones(4000, np.uint8), 0))


def test_columns_are_never_used_twice():
    pairs, _ = ingredients(bytes(32))
    none = np.zeros(64, np.uint8)
    at = [extension.corrections(pairs, none, first) for first in (0, 64)]
    assert (at[0] != at[1]).any(axis=1).all()


def pads_are_independent():
    """Whether the two pads of a transfer differ at random, and so do those of equal rows."""
    _, q, s = both_sides(np.zeros(2000, np.uint8), 0)
    cipher = extension.Hash(KEY)
    pairs = cipher.pads(q, 0, 32) ^ cipher.pads(q ^ s, 0, 32)
    equal = cipher.pads(np.repeat(q[:1], 2000, axis=0), 0, 32)
    blocks = equal[:, :16] ^ equal[:, 16:]
    return uniform(pairs) and uniform(equal) and uniform(blocks)


def test_pads_are_independent():
    assert pads_are_independent()


def test_pads_without_the_cipher_are_not(monkeypatch):
    monkeypatch.setattr(extension.Hash, "_permute", lambda self, words: words.copy())
    assert not pads_are_independent()


def test_pads_without_tweaks_are_not(monkeypatch):
    def forgotten(rows, first, blocks):
        blocks[:] = rows[:, None]

    monkeypatch.setattr(extension, "_tweak", forgotten)
    assert not pads_are_independent()


def test_pads_without_the_feed_forward_are_another_function(monkeypatch):
    t, _, _ = both_sides(np.zeros(4, np.uint8), 0)
    before = extension.Hash(KEY).pads(t, 0, 16)
    monkeypatch.setattr(extension, "_add_rows", lambda rows, blocks: None)
    assert (extension.Hash(KEY).pads(t, 0, 16) != before).any()
