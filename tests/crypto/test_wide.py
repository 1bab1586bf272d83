"""Numbers modulo 2^80 in two limbs against Python's integers, up to the edge of what is exact."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import slow_lwe as slow
from colabel.crypto import wide
from colabel.crypto.wide import MOST_TERMS, Wide
from colabel.randomness import data

KNOWN = json.loads((Path(__file__).parent / "vectors" / "lwe.json").read_text())
HALF, LIMB = 2**39, 2**40
EDGES = [-HALF, -HALF + 1, -1, 0, 1, HALF - 1, HALF]
LIMBS = st.one_of(st.sampled_from(EDGES), st.integers(-HALF, HALF)).map(float)
NUMBERS = st.one_of(
    st.sampled_from([0, 1, 2**39, 2**40, 2**64, 2**79, slow.Q - 1]), st.integers(0, slow.Q - 1)
)


def whole(found):
    """As Python's integers, 0 … 2^80 − 1."""
    return [
        [(int(low) + LIMB * int(high)) % slow.Q for low, high in zip(*rows, strict=True)]
        for rows in zip(*found, strict=True)
    ]


def balanced(found):
    return all((np.abs(limb) <= HALF).all() and (limb == np.rint(limb)).all() for limb in found)


def pairs(shape, limbs=LIMBS):
    return st.tuples(*[arrays(np.float64, shape, elements=limbs)] * 2).map(lambda two: Wide(*two))


SHAPES = array_shapes(min_dims=2, max_dims=2, max_side=5)


def of_numbers(numbers):
    """Wide, by the wire's format."""
    low = np.array([[n % 2**64 for n in row] for row in numbers], np.uint64)
    high = np.array([[n >> 64 for n in row] for row in numbers], np.uint16)
    return wide.unpack(wide.Packed(low, high))


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known["purpose"])
def test_known_answers(known):
    seed, (n_rows, n_columns) = bytes.fromhex(known["seed"]), known["shape"]
    drawn = slow.uniform(seed, known["purpose"], n_rows, n_columns)
    assert [[f"{number:020x}" for number in row] for row in drawn] == known["uniform"]
    memory = np.full(2 * n_rows * n_columns + 3, np.nan)
    found = wide.uniform(seed, known["purpose"], n_rows, n_columns, memory)
    assert whole(found) == drawn
    assert balanced(found)
    assert np.isnan(memory[-3:]).all()


@settings(max_examples=20, deadline=None)
@given(st.binary(min_size=32, max_size=32), st.integers(1, 5), st.integers(1, 5))
def test_any_uniform_matrix_by_hand(seed, n_rows, n_columns):
    found = wide.uniform(seed, "A/0", n_rows, n_columns, np.empty(50))
    assert whole(found) == slow.uniform(seed, "A/0", n_rows, n_columns)


def test_uniform_numbers_are_uniform():
    found = wide.uniform(bytes(32), "A", 300, 1000, np.empty(600_000))
    for limb in found:
        scaled = limb / LIMB
        assert abs(scaled.mean()) < 5 / np.sqrt(12 * scaled.size)
        assert abs(scaled.var() - 1 / 12) < 5 / np.sqrt(180 * scaled.size)
        assert len(np.unique(limb.astype(np.int64) % 1024)) == 1024
    assert abs(np.corrcoef(found.low.reshape(-1), found.high.reshape(-1))[0, 1]) < 0.01


@settings(deadline=None)  # the first call compiles
@given(SHAPES.flatmap(lambda shape: pairs(shape, st.integers(-(2**52), 2**52).map(float))))
def test_folding_keeps_the_number_and_brings_the_limbs_into_range(numbers):
    before = whole(numbers)
    found = numbers.fold()
    assert whole(found) == before
    assert balanced(found)


@settings(deadline=None)  # the first call compiles
@given(SHAPES.flatmap(pairs))
def test_packing_is_the_number_in_ten_bytes(numbers):
    packed = wide.pack(numbers)
    for row, low, high in zip(whole(numbers), *packed, strict=True):
        for number, below, above in zip(row, low, high, strict=True):
            assert below.tobytes() + above.tobytes() == number.to_bytes(10, "little")
    again = wide.unpack(packed)
    assert whole(again) == whole(numbers)
    assert balanced(again)


@settings(deadline=None)  # the first call compiles
@given(st.lists(NUMBERS, min_size=1, max_size=5))
def test_unpacking_any_ten_bytes(numbers):
    found = of_numbers([numbers])
    assert whole(found) == [numbers]
    assert balanced(found)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 6), st.integers(1, 4), st.booleans())
def test_products(draw, n_rows, n_terms, n_columns, wide_left):
    shapes = (n_rows, n_terms), (n_terms, n_columns)
    small = arrays(np.float64, shapes[wide_left], elements=st.sampled_from([-1.0, 0.0, 1.0]))
    number, weights = draw.draw(pairs(shapes[not wide_left])), draw.draw(small)
    total = draw.draw(pairs((n_rows, n_columns)))
    weights_by_hand = [[int(value) for value in row] for row in weights]
    two = (whole(number), weights_by_hand) if wide_left else (weights_by_hand, whole(number))
    wanted = slow.modulo(slow.plus(whole(total), slow.product(*two)))
    memory = draw.draw(st.sampled_from([None, np.full(2 * n_rows * n_columns + 3, np.nan)]))
    wide.add_product(*((number, weights) if wide_left else (weights, number)), total, memory)
    assert whole(total) == wanted
    assert balanced(total)


@settings(deadline=None)  # the first call compiles
@given(SHAPES.flatmap(lambda shape: st.tuples(pairs(shape), pairs(shape))))
def test_sums(two):
    more, total = two
    wanted = slow.modulo(slow.plus(whole(more), whole(total)))
    wide.add(more, total)
    assert whole(total) == wanted
    assert balanced(total)


def extreme_product(n_terms, limb, sign, wide_left, start=0.0):
    """Whether a sum of so many equal limbs of the largest size is right."""
    ones, limbs = np.full((1, n_terms), sign), np.full((n_terms, 1), float(limb))
    total = Wide(np.full((1, 1), start), np.full((1, 1), start))
    if wide_left:
        wide.add_product(Wide(limbs.T.copy(), limbs.T.copy()), ones.T.copy(), total)
    else:
        wide.add_product(ones, Wide(limbs, limbs), total)
    once = int(start) + n_terms * limb * int(sign)
    return whole(total) == [[(once + LIMB * once) % slow.Q]]


@pytest.mark.parametrize("wide_left", [True, False])
@pytest.mark.parametrize("limb", [-HALF, HALF - 1, HALF])
@pytest.mark.parametrize("n_terms", [MOST_TERMS - 1, MOST_TERMS, MOST_TERMS + 1, 65_535 + 3072])
def test_products_at_the_edge_are_exact(n_terms, limb, wide_left):
    for sign in (-1.0, 1.0):
        for start in (-HALF, 0, HALF):
            assert extreme_product(n_terms, limb, sign, wide_left, float(start))


def test_products_beyond_the_edge_are_caught(monkeypatch):
    """An odd sum above 2^53 is no float64."""
    n_terms = 2**14 + 2**13 + 1
    assert extreme_product(n_terms, HALF - 1, 1.0, wide_left=True)
    monkeypatch.setattr(wide, "MOST_TERMS", 2**20)
    assert not extreme_product(n_terms, HALF - 1, 1.0, wide_left=True)


@pytest.mark.parametrize("seed", range(3))
def test_larger_products_of_edges(seed):
    """Limbs from the edges only, enough terms for two rounds, three columns."""
    rng = data(seed, "wide edges")
    n_terms = MOST_TERMS + 100
    limbs = rng.choice(np.array(EDGES, float), (2, n_terms, 3))
    left = rng.choice([-1.0, 0.0, 1.0], (2, n_terms))
    total = Wide.zeros(2, 3)
    wide.add_product(left, Wide(*limbs), total)
    low, high, weights = (part.astype(int).tolist() for part in (*limbs, left))
    exact = slow.plus(
        slow.product(weights, low), slow.product([[LIMB * w for w in row] for row in weights], high)
    )
    assert whole(total) == slow.modulo(exact)


@settings(deadline=None)  # the first call compiles
@given(SHAPES.flatmap(pairs), st.sampled_from([1, 8, 16, 24, 32, 39, 40]))
def test_the_top_of_a_number(numbers, n_bits):
    found = wide.top(numbers.fold(), n_bits)
    unit = 2 ** (80 - n_bits)
    for number, row in zip(whole(numbers), found, strict=True):
        for exact, high in zip(number, row, strict=True):
            assert 0 <= high < 2**n_bits
            # half a unit, and what the low limb may hide
            assert abs(slow.centred(int(high) * unit - exact)) <= unit // 2 + HALF


@settings(deadline=None)  # the first call compiles
@given(st.lists(NUMBERS, min_size=1, max_size=5), st.sampled_from([8, 24, 32, 40]))
def test_the_top_by_hand(numbers, n_bits):
    clear = [number for number in numbers if number % LIMB != HALF]  # else either will do
    if clear:
        assert wide.top(of_numbers([clear]), n_bits).tolist() == [
            [slow.top(n, n_bits) for n in clear]
        ]


def test_views_of_columns_share_memory():
    numbers = Wide.zeros(2, 5)
    numbers.columns(slice(1, 3)).low[:] = 7
    assert numbers.low[0].tolist() == [0, 7, 7, 0, 0]
    assert numbers.shape == (2, 5)
