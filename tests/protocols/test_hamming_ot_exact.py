"""Distances by oblivious transfer are exact, and cost what was said."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ot_talk import SMALL, check, run
from peers import draw, group_of, slow

from colabel.protocols.hamming import ot, ot_values
from colabel.protocols.hamming.ot import OtHamming


@pytest.mark.parametrize(
    ("sizes", "n_bits", "chunk_bytes"),
    [
        ((1, 1), 1, SMALL),
        ((1, 1), 1, 1),
        ((1, 1), 4096, ot.CHUNK_BYTES),
        ((3, 2), 13, 1),
        ((2, 3), 13, SMALL),
        ((1, 40), 9, SMALL),
        ((40, 1), 9, SMALL),
        ((3, 1, 4, 2), 100, SMALL),
        ((5, 6), 255, SMALL),
        ((5, 6), 256, 5000),
        ((4,), 16, SMALL),
    ],
)
def test_distances_are_exact(sizes, n_bits, chunk_bytes):
    check(draw(sizes, n_bits), chunk_bytes=chunk_bytes)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(1, 7), min_size=2, max_size=3),
    st.integers(1, 40),
    st.integers(100, 2000),
    st.integers(0, 2**32),
)
def test_distances_of_any_sizes_are_exact(sizes, n_bits, chunk_bytes, seed):
    check(draw(sizes, n_bits, seed), chunk_bytes=chunk_bytes)


@pytest.mark.parametrize("n_bits", [1, 8, 31, 4096])
def test_equal_and_opposite_points(n_bits):
    """Distances 0 and L are different numbers, also when L is a power of two."""
    zeros, ones = np.zeros((2, n_bits), int), np.ones((3, n_bits), int)
    check(
        {"a": np.concatenate([zeros, ones]), "b": np.concatenate([ones, zeros])}, chunk_bytes=40_000
    )


def test_the_longest_codes():
    codes = draw((2, 1), 65_535)
    codes["site-1"][0] = 1 - codes["site-0"][0]
    check(codes, chunk_bytes=ot.CHUNK_BYTES)


def test_blocks_and_chunks_may_end_anywhere(monkeypatch):
    monkeypatch.setattr(ot_values, "_BLOCK_VALUES", 50)
    for chunk_bytes in (64, 100, 333, 4096):
        check(draw((7, 5), 23), chunk_bytes=chunk_bytes)


def test_newcomers_against_all_others():
    codes = draw((3, 2, 4), 24)
    group, distances = run(codes, newcomers=("site-1",))
    assert group.names == tuple(codes)
    others = np.concatenate([codes["site-0"], codes["site-2"]])
    np.testing.assert_array_equal(distances.rows(0, 2), slow(codes["site-1"], others))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 16), st.integers(1, 100), st.integers(0, 2**32))
def test_packing_keeps_every_value(width, count, seed):
    values = np.random.default_rng(seed).integers(0, 1 << width, (count, 3), dtype=np.uint16)
    blank, lanes = ot_values._blank(count, 3)
    blank[:] = values
    n_bytes = ot_values.n_packed_bytes(count, 3, width)
    packed = np.empty(n_bytes, np.uint8)
    assert ot_values._pack_into(packed, 0, lanes, width) == n_bytes
    # slow: lane after lane, value after value, each column of words a little-endian number
    words = packed.view(np.uint16).reshape(width, -1)
    for column, numbers in enumerate(lanes.T.tolist()):
        whole = sum(number << (width * lane) for lane, number in enumerate(numbers))
        assert whole == sum(int(w) << (16 * i) for i, w in enumerate(words[:, column]))
    again = np.empty_like(lanes)
    ot_values._unpack(words, width, again)
    np.testing.assert_array_equal(again, lanes)


def test_steps_depend_on_the_largest_pair_only():
    way = OtHamming(SMALL)
    steps = [way.cost(group_of(draw((6,) * n, 40)), 40).steps for n in (2, 3, 5)]
    assert len(set(steps)) == 1
    assert way.cost(group_of(draw((12, 12), 40)), 40).steps > steps[0]


def test_messages_are_bounded():
    schedule = ot_values.Schedule(500, 500, 4096, ot.CHUNK_BYTES)
    sizes = [
        size(number)
        for number in range(schedule.n_chunks)
        for size in (schedule.value_bytes, schedule.column_bytes)
    ]
    assert max(sizes) <= ot.CHUNK_BYTES + 1000
    assert sum(schedule.chunk(number)[1] for number in range(schedule.n_chunks)) == 500 * 4096
