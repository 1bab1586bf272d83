"""Base transfers: the chosen key and no other, from a group that has been checked."""

import json
from pathlib import Path

import numpy as np
import pytest
import slow_ot
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl import bindings
from scipy.stats import chisquare

from colabel.crypto import base_ot
from colabel.randomness import secret

VECTORS = json.loads((Path(__file__).parent / "vectors" / "ot_base.json").read_text())
TAG, SEED = b"tag", bytes(32)


def hexed(keys):
    return [key.tobytes().hex() for key in keys]


def test_the_slow_curve_is_the_curve():
    assert slow_ot.times(slow_ot.ORDER, slow_ot.BASE) == slow_ot.NEUTRAL
    one = bytes([1]) + bytes(31)
    assert slow_ot.encoded(slow_ot.BASE) == bindings.crypto_scalarmult_ed25519_base_noclamp(one)


@pytest.mark.parametrize("vector", VECTORS, ids=["one", "four"])
def test_known_answers(vector):
    tag, offered = bytes.fromhex(vector["tag"]), bytes.fromhex(vector["offered"])
    sender, receiver = (bytes.fromhex(vector[f"{who}_seed"]) for who in ("sender", "receiver"))
    assert base_ot.offer(sender) == offered
    points, chosen = base_ot.choose(tag, offered, vector["choices"], receiver)
    assert [point.hex() for point in points] == vector["points"]
    assert hexed(chosen) == vector["chosen"]
    both = base_ot.both_keys(tag, sender, points)
    assert [hexed(pair) for pair in both.swapaxes(0, 1)] == vector["both"]


@pytest.mark.parametrize("vector", VECTORS, ids=["one", "four"])
def test_known_answers_by_integers(vector):
    tag = bytes.fromhex(vector["tag"])
    seeds = (bytes.fromhex(vector[f"{who}_seed"]) for who in ("sender", "receiver"))
    offered, points, chosen, both = slow_ot.base_transfers(tag, *seeds, vector["choices"])
    assert offered.hex() == vector["offered"]
    assert [point.hex() for point in points] == vector["points"]
    assert [key.hex() for key in chosen] == vector["chosen"]
    assert [[key.hex() for key in pair] for pair in both] == vector["both"]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=20), st.binary(max_size=40))
def test_the_receiver_gets_what_it_chose_and_not_the_other(choices, tag):
    seed = secret(32)
    points, chosen = base_ot.choose(tag, base_ot.offer(seed), choices, secret(32))
    both = base_ot.both_keys(tag, seed, points)
    for number, choice in enumerate(choices):
        np.testing.assert_array_equal(both[choice, number], chosen[number])
        assert (both[1 - choice, number] != chosen[number]).any()
    assert len({key.tobytes() for key in both.reshape(-1, 32)}) == 2 * len(choices)


def test_keys_depend_on_tag_and_place():
    offered = base_ot.offer(SEED)
    points, keys = base_ot.choose(TAG, offered, [0, 0], secret(32))
    assert (base_ot.both_keys(b"other", SEED, points)[0] != keys).any(axis=1).all()
    assert (base_ot.both_keys(TAG, SEED, points[::-1])[0] != keys[::-1]).any(axis=1).all()


def points_tell_choices(choose):
    """Whether the points chosen for 0 and for 1 can be told apart by their bytes."""
    offered, seen = base_ot.offer(SEED), {}
    for choice in (0, 1):
        points, _ = choose(TAG, offered, [choice] * 600, secret(32))
        values = np.frombuffer(b"".join(point[:8] for point in points), np.uint8)
        seen[choice] = chisquare(np.bincount(values >> 4, minlength=16)).pvalue
    return min(seen.values()) < 1e-9


def test_points_do_not_tell_the_choice():
    assert not points_tell_choices(base_ot.choose)


def test_points_without_a_scalar_do(monkeypatch):
    one = bytes([1]) + bytes(31)
    monkeypatch.setattr(base_ot, "_scalars", lambda seed, count: [one] * count)
    assert points_tell_choices(base_ot.choose)


def small_order():
    """Points of order 1, 2, 4 and 8."""
    eighth = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
    half = slow_ot.encoded((0, slow_ot.P - 1))
    return [bytes([1]) + bytes(31), half, bytes(32), bytes.fromhex(eighth)]


def outside():
    mixed = slow_ot.add(slow_ot.BASE, (0, slow_ot.P - 1))
    whole = slow_ot.P + 1
    return [
        slow_ot.encoded(mixed),
        whole.to_bytes(32, "little"),
        bytes([2]) + bytes(31),
        bytes([255]) * 32,
        b"",
        bytes(31),
        bytes(33),
    ]


@pytest.mark.parametrize("point", [*small_order(), *outside()], ids=lambda point: point.hex()[:8])
def test_points_outside_the_group_are_refused(point):
    with pytest.raises(ValueError, match=r"the offered point (is not in|has)"):
        base_ot.choose(TAG, point, [0], SEED)
    good, _ = base_ot.choose(TAG, base_ot.offer(SEED), [0], SEED)
    with pytest.raises(ValueError, match=r"point 1 (is not in|has)"):
        base_ot.both_keys(TAG, SEED, [*good, point])


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=32, max_size=32))
def test_any_bytes_are_a_point_or_refused(data):
    try:
        base_ot.both_keys(TAG, SEED, [data])
    except ValueError as error:
        assert "point 0" in str(error)
