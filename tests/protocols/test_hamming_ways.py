"""What every way to compare codes must do, by one suite."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paillier_talk import tiny_keys
from sessions import Consortium, draw_codes, true_distances
from ways import STEPS, steps_of

from colabel.errors import InputError
from colabel.protocols.hamming import WAYS, by_name
from colabel.protocols.hamming.pairs import orient
from colabel.protocols.keys import Group, Welcome


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    tiny_keys(monkeypatch)


def test_no_way_is_left_out():
    assert set(STEPS) == set(WAYS)


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize(
    ("sizes", "n_bits"),
    [((3, 5, 2), 100), ((1, 1), 1), ((1, 1), 7), ((2, 1), 8), ((2, 3), 4096), ((1, 2), 8192)],
)
def test_exact(way, sizes, n_bits):
    codes = draw_codes(sizes, n_bits)
    group, found = Consortium(codes).distances(way, n_bits)
    np.testing.assert_array_equal(found, true_distances(codes, group.names, n_bits))
    assert found.max() == n_bits or len(codes["site-1"]) == 1  # opposite points are among them


@pytest.mark.parametrize("way", list(WAYS))
def test_the_longest_codes(way):
    codes = draw_codes((1, 2), 65_535)
    _, found = Consortium(codes).distances(way, 65_535)
    np.testing.assert_array_equal(found, true_distances(codes, codes, 65_535))
    assert found.max() == 65_535


@pytest.mark.parametrize("way", ["dealer", "sketch", "ot", "paillier"])
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    n_bits=st.integers(1, 70),
    seed=st.integers(0, 99),
)
def test_exact_for_any_sizes(way, sizes, n_bits, seed):
    codes = draw_codes(sizes, n_bits, seed)
    _, found = Consortium(codes).distances(way, n_bits)
    np.testing.assert_array_equal(found, true_distances(codes, codes, n_bits))


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("sizes", [(3, 5, 2), (1, 1), (4,), (2, 300)])
def test_costs_are_exact(way, sizes):
    codes = draw_codes(sizes, 130)
    talk = Consortium(codes)
    talk.distances(way, 130)
    cost = talk.cost(way, 130)
    assert talk.measured() == (cost.bytes_up, cost.bytes_down, cost.steps)


@pytest.mark.parametrize("way", list(WAYS))
def test_steps_do_not_grow_with_the_sites(way):
    few = steps_of(way, draw_codes((2, 2, 2), 16), 16)
    assert steps_of(way, draw_codes((2,) * 6, 16), 16) == few


def lengths(way, kind):
    """How long each message is, whatever else is in it."""
    rng = np.random.default_rng(0)
    fill = {"zeros": lambda _: 0, "ones": lambda _: 1, "random": lambda n: rng.integers(0, 2, n)}
    bits = [np.broadcast_to(fill[kind]((n, 50)), (n, 50)) for n in (3, 4, 4)]
    codes = {f"site-{i}": np.packbits(b.astype(np.uint8), axis=1) for i, b in enumerate(bits)}
    talk = Consortium(codes)
    talk.distances(way, 50)
    return [(e.step, e.site, e.bytes_up, e.bytes_down) for e in talk.engine.costs.exchanges]


@pytest.mark.parametrize("way", list(WAYS))
def test_what_is_sent_is_as_long_whatever_the_codes(way):
    assert lengths(way, "zeros") == lengths(way, "ones") == lengths(way, "random")


@pytest.mark.parametrize("way", list(WAYS))
def test_newcomers_are_compared_with_all_others(way):
    codes = draw_codes((2, 3, 4, 2), 40)
    group, found = Consortium(codes).distances(way, 40, newcomers=("site-1", "site-3"))
    rows = true_distances(codes, ["site-1", "site-3", "site-0", "site-2"], 40)[:5, 5:]
    np.testing.assert_array_equal(found, rows)
    assert group.names == tuple(codes)


def test_orientation_spreads_the_work():
    sizes = {
        f"s{i}": Welcome(n, 0, 0) for i, n in enumerate([500, 20, 500, 300, 100, 500, 40, 500])
    }
    pairs = orient(Group(sizes))
    assert {frozenset(pair) for pair in pairs} == {
        frozenset((a, b)) for a in sizes for b in sizes if a != b
    }
    work = dict.fromkeys(sizes, 0)
    for left, right in pairs:
        work[right] += sizes[left].n_points * sizes[right].n_points
    shares = [
        2 * work[name] / sum(sizes[name].n_points * sizes[o].n_points for o in sizes if o != name)
        for name in sizes
        if sizes[name].n_points == 500
    ]
    assert max(shares) < 1.3
    assert min(shares) > 0.7


def test_an_unknown_way_gets_a_hint():
    with pytest.raises(InputError, match="Did you mean 'lattice'"):
        by_name("latice")
