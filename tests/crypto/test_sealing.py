"""Sealed messages open for whom they were meant, where they were meant, whole, and nowhere else."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import slow_ciphers as slow
from colabel.crypto import sealing

KNOWN = [
    {name: bytes.fromhex(value) for name, value in case.items()}
    for case in json.loads((Path(__file__).parent / "vectors" / "sealing.json").read_text())
]
SHARED, LABEL, CONTENT = bytes(range(32)), b"session/0/codes/a/b", b"what was said"
KEYS = st.binary(min_size=32, max_size=32)
IDS = ["empty", "short", "long"]


@pytest.mark.parametrize("known", KNOWN, ids=IDS)
def test_known_answers(known, monkeypatch):
    assert sealing.unseal(known["shared"], known["label"], known["sealed"]) == known["content"]
    monkeypatch.setattr(sealing, "secret", lambda n_bytes: known["salt"])
    assert sealing.seal(known["shared"], known["label"], known["content"]) == known["sealed"]


@pytest.mark.parametrize("known", KNOWN, ids=IDS)
def test_known_answers_by_hand(known):
    found = slow.sealed(known["shared"], known["label"], known["content"], known["salt"])
    assert found == known["sealed"]


@settings(max_examples=50, deadline=None)
@given(KEYS, st.binary(max_size=60), st.binary(max_size=200))
def test_any_content_by_hand_and_back(shared, label, content):
    data = sealing.seal(shared, label, content)
    assert len(data) == len(content) + sealing.OVERHEAD
    assert data == slow.sealed(shared, label, content, data[:16])
    assert sealing.unseal(shared, label, data) == content


def opens(shared, label, data):
    try:
        sealing.unseal(shared, label, data)
    except sealing.NotAuthentic:
        return False
    return True


def test_every_changed_bit_is_noticed():
    data = sealing.seal(SHARED, LABEL, CONTENT)
    assert opens(SHARED, LABEL, data)
    for place in range(8 * len(data)):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        assert not opens(SHARED, LABEL, bytes(changed)), place


def test_every_cut_and_every_tail_is_noticed():
    data = sealing.seal(SHARED, LABEL, CONTENT)
    for length in range(len(data)):
        assert not opens(SHARED, LABEL, data[:length]), length
        assert not opens(SHARED, LABEL, data[length + 1 :]), length
    assert not opens(SHARED, LABEL, data + b"\x00")
    assert not opens(SHARED, LABEL, data + data)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60), KEYS)
def test_another_label_or_secret_does_not_open(label, shared):
    data = sealing.seal(SHARED, LABEL, CONTENT)
    assert opens(SHARED, label, data) == (label == LABEL)
    assert opens(shared, LABEL, data) == (shared == SHARED)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=100))
def test_any_bytes_are_refused(data):
    assert not opens(SHARED, LABEL, data)


def sealed_twice_tells():
    """Whether sealing under one label twice shows how the two contents differ."""
    pairs = [
        [sealing.seal(SHARED, LABEL, bytes([what] * 64))[16:-16] for what in (0, 1)]
        for _ in range(200)
    ]
    differences = b"".join(slow.plus(one, other) for one, other in pairs)
    counts = np.bincount(np.frombuffer(differences, np.uint8), minlength=256)
    return chisquare(counts).pvalue < 1e-9


def test_sealing_again_uses_another_key():
    assert not sealed_twice_tells()


def test_sealing_without_salt_is_caught(monkeypatch):
    monkeypatch.setattr(sealing, "secret", bytes)
    assert sealed_twice_tells()
