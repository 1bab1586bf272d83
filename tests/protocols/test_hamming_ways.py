"""What every way to compare codes must do, by one suite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sessions import SETUP_STEPS, Consortium, draw_codes, true_distances

from colabel.engines.faults import Fault
from colabel.errors import InputError
from colabel.protocols.hamming import WAYS, by_name
from colabel.protocols.hamming.pairs import orient
from colabel.protocols.keys import Group, Welcome

QUICK = [name for name in WAYS if name not in ("paillier", "ot")]  # those have suites of their own


def steps_of(way, codes, n_bits):
    talk = Consortium(codes)
    talk.distances(way, n_bits)
    steps = [event["step"] for event in talk.seen if event["event"] == "step"]
    return [step for step in steps if step not in SETUP_STEPS]


@pytest.mark.parametrize("way", QUICK)
@pytest.mark.parametrize(
    ("sizes", "n_bits"),
    [((3, 5, 2), 100), ((1, 1), 1), ((1, 1), 7), ((2, 1), 8), ((2, 3), 4096), ((1, 2), 8192)],
)
def test_exact(way, sizes, n_bits):
    codes = draw_codes(sizes, n_bits)
    group, found = Consortium(codes).distances(way, n_bits)
    np.testing.assert_array_equal(found, true_distances(codes, group.names, n_bits))
    assert found.max() == n_bits or len(codes["site-1"]) == 1  # opposite points are among them


@pytest.mark.parametrize("way", QUICK)
def test_the_longest_codes(way):
    codes = draw_codes((1, 2), 65_535)
    _, found = Consortium(codes).distances(way, 65_535)
    np.testing.assert_array_equal(found, true_distances(codes, codes, 65_535))
    assert found.max() == 65_535


@pytest.mark.parametrize("way", ["dealer", "sketch"])
@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    n_bits=st.integers(1, 70),
    seed=st.integers(0, 99),
)
def test_exact_for_any_sizes(way, sizes, n_bits, seed):
    codes = draw_codes(sizes, n_bits, seed)
    _, found = Consortium(codes).distances(way, n_bits)
    np.testing.assert_array_equal(found, true_distances(codes, codes, n_bits))


@pytest.mark.parametrize("way", QUICK)
@pytest.mark.parametrize("sizes", [(3, 5, 2), (1, 1), (4,), (2, 300)])
def test_costs_are_exact(way, sizes):
    codes = draw_codes(sizes, 130)
    talk = Consortium(codes)
    talk.distances(way, 130)
    cost = talk.cost(way, 130)
    assert talk.measured() == (cost.bytes_up, cost.bytes_down, cost.steps)


@pytest.mark.parametrize("way", QUICK)
def test_steps_do_not_grow_with_the_sites(way):
    few = steps_of(way, draw_codes((2, 2, 2), 16), 16)
    assert steps_of(way, draw_codes((2,) * 6, 16), 16) == few


@pytest.mark.parametrize("way", QUICK)
def test_what_is_sent_is_as_long_whatever_the_codes(way):
    sent = []
    for seed in (0, 1):
        talk = Consortium(draw_codes((3, 4), 50, seed))
        talk.distances(way, 50)
        sent.append(
            [(e.step, e.site, e.bytes_up, e.bytes_down) for e in talk.engine.costs.exchanges]
        )
    assert sent[0] == sent[1]


def cases():
    for way in QUICK:
        for step in steps_of(way, draw_codes((2, 2, 2), 16), 16):
            for moment in ("before", "during", "after", "late"):
                for lost in ("site-0", "site-1", "site-2"):
                    yield pytest.param(way, step, moment, lost, id=f"{step}-{moment}-{lost}")


@pytest.mark.parametrize(("way", "step", "moment", "lost"), list(cases()))
def test_a_lost_site_is_as_if_never_there(way, step, moment, lost):
    codes = draw_codes((2, 3, 4), 40)
    talk = Consortium(codes, faults=[Fault(lost, step, moment)])
    group, found = talk.distances(way, 40)
    np.testing.assert_array_equal(found, true_distances(codes, group.names, 40))
    assert set(talk.names) - set(group.names) <= {lost}
    if moment in ("before", "during"):
        asked = next(e["sites"] for e in talk.seen if e.get("step") == step)
        assert (lost in group.names) == (lost not in asked)


@pytest.mark.parametrize("way", QUICK)
def test_every_site_restarts_before_every_step(way):
    codes = draw_codes((2, 3, 2), 40)
    steps = steps_of(way, codes, 40)
    faults = [Fault(name, step, "restart") for name in codes for step in steps]
    again = [Fault(name, step, "twice") for name in codes for step in steps]
    for what in (faults, again):
        _, found = Consortium(codes, faults=what).distances(way, 40)
        np.testing.assert_array_equal(found, true_distances(codes, codes, 40))


@pytest.mark.parametrize("way", QUICK)
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
