"""Distances under Paillier are exact, cost what was said, and survive losses."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paillier_talk import KEY_BITS, STEPS, Peer, WeakPaillier, check, pooled, run
from peers import draw, group_of, slow
from sessions import Consortium, draw_codes, true_distances

from colabel.crypto import paillier as crypto
from colabel.engines.faults import Fault
from colabel.protocols.hamming import WAYS, paillier, slots
from colabel.protocols.hamming.paillier import PaillierHamming


@pytest.mark.parametrize(
    ("sizes", "n_bits"),
    [((1, 1), 1), ((2, 1), 13), ((1, 3), 8), ((3, 2, 4), 64), ((300, 2), 9), ((5,), 16)],
)
def test_distances_are_exact(sizes, n_bits):
    check(draw(sizes, n_bits))


def test_equal_and_opposite_points():
    """Distances 0 and L are different numbers, in every slot, also when L is a power of two."""
    for n_bits in (1, 4, 16):
        zeros, ones = np.zeros((90, n_bits), int), np.ones((90, n_bits), int)
        check({"a": np.concatenate([zeros, ones, ones]), "b": np.concatenate([ones, zeros])[85:95]})


def test_the_longest_codes(monkeypatch):
    tiny = crypto.from_primes(2**61 - 1, 2**89 - 1, weakest_bits=0)
    monkeypatch.setattr(crypto, "generate", lambda n_bits, weakest_bits: tiny)
    check(draw((2, 1), 65_535), handlers=paillier.site_side(weakest_bits=150))


def test_newcomers():
    codes = draw((3, 2, 2), 24)
    group, distances, _ = run(codes, newcomers=("site-1",))
    others = pooled(codes, ("site-0", "site-2"))
    assert group.names == tuple(codes)
    np.testing.assert_array_equal(distances.rows(0, 2), slow(codes["site-1"], others))


def test_real_keys():
    site = Peer("a", draw((2,), 16)["site-0"], "ab")
    reply = site.handle(paillier.PaillierEncrypt(2048, 16), PaillierHamming.handlers)
    asked = paillier.PaillierAdd(16, {"a": reply.codes})
    other = Peer("b", draw((3,), 16)["site-0"], "ab")
    sums = other.handle(asked, PaillierHamming.handlers)
    assert len(sums.masks["a"]) == 3 * 2048 // 8


@given(st.integers(1, 20), st.integers(1, 12), st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_slots_hold_what_is_put_in(count, width, seed):
    values = np.random.default_rng(seed).integers(0, 2**width, (3, count))
    joined = slots.join(values, width)
    assert joined == [sum(int(v) << i * width for i, v in enumerate(row)) for row in values]
    for row, number in zip(values, joined, strict=True):
        np.testing.assert_array_equal(slots.split(number, count, width), row)


def test_236_points_fit_a_real_key():
    assert slots.slots(3072, 4096) == 236


@pytest.mark.parametrize("sizes", [(2, 3), (200, 1, 2), (4,)])
def test_costs_are_exact(sizes):
    codes = draw(sizes, 20)
    cost = PaillierHamming(KEY_BITS).cost(group_of(codes), 20)
    _, _, seen = run(codes)
    assert (cost.bytes_up, cost.bytes_down, cost.steps) == (seen.up, seen.down, len(seen.asked))
    assert cost.steps == (3 if len(sizes) > 1 else 1)
    assert (cost.seconds > 0) == (len(sizes) > 1)


def test_the_size_of_messages_depends_on_public_sizes_only():
    codes = draw((3, 2, 2), 16)
    blank = {name: np.zeros_like(bits) for name, bits in codes.items()}
    assert [s.up for _, s in (check(codes), check(blank))] == [run(codes)[2].up] * 2


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("site", range(4))
def test_a_lost_site_has_never_taken_part(site, step, late):
    codes = draw((2, 3, 1, 2), 8)
    name = f"site-{site}"
    group, seen = check(codes, lost=[(name, step, late)])
    assert len(group.names) == (3 if name in seen.asked[step] else 4)
    assert (name in group.names) == (name not in seen.asked[step])


def test_two_are_lost_in_different_steps():
    codes = draw((2, 2, 2, 2, 2), 8)
    group, _ = check(codes, lost=[("site-1", STEPS[1], False), ("site-3", STEPS[2], True)])
    assert set(group.names) == {"site-0", "site-2", "site-4"}


@pytest.fixture
def consortium(monkeypatch):
    monkeypatch.setitem(WAYS, "paillier", WeakPaillier)
    return partial(Consortium, draw_codes((2, 3, 1), 11))


def test_costs_are_what_the_engine_measures(consortium):
    talk = consortium()
    talk.distances("paillier", 11)
    cost = talk.cost("paillier", 11)
    assert talk.measured() == (cost.bytes_up, cost.bytes_down, cost.steps)


@pytest.mark.parametrize("moment", ["restart", "twice", "again"])
def test_restarts_and_repeats_change_nothing(consortium, moment):
    names = consortium().names
    faults = [Fault(name, step, moment) for name in names for step in STEPS]
    talk = consortium(faults=faults)
    group, found = talk.distances("paillier", 11)
    assert list(group.names) == names
    np.testing.assert_array_equal(found, true_distances(talk.codes, names, 11))


@pytest.mark.parametrize("moment", ["before", "during", "late", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_site_is_lost_over_the_engine(consortium, step, moment):
    talk = consortium(faults=[Fault("site-0", step, moment)])
    group, found = talk.distances("paillier", 11)
    assert {"site-1", "site-2"} <= set(group.names)
    np.testing.assert_array_equal(found, true_distances(talk.codes, group.names, 11))
