"""Sums against plain NumPy: all kinds, all formats, in clear and masked, with every loss."""

import numpy as np
import pytest
from adding import OWNERS, all_sums, asking, consortium, draw_matrices
from sessions import TakeTotal

from colabel.engines.faults import Fault
from colabel.errors import InputError, SitesLost
from colabel.protocols.setup import agree
from colabel.protocols.sums.base import spans
from colabel.protocols.sums.fixed_point import FORMATS

NAMES = tuple(OWNERS)
LOST = "site-2"
STEPS = ("rows", "rows.unmask", "rows.back")


def run(talk, conversation, n_masks=4):
    def whole():
        plain = n_masks < 0
        group, sums = yield from agree(NAMES, b"plan", n_masks=n_masks, seed_is_public=plain)
        return (yield from conversation(group, sums))

    return talk.engine.run(whole())


def total(matrices, number, names=NAMES):
    return np.sum([matrices[name][number] for name in names], axis=0)


def rows_only(group, sums):
    owners = {name: OWNERS[name] for name in group.names}
    return (yield from sums.rows("rows", "x", asking(group.names, 0), owners, TakeTotal))


def shared_only(group, sums):
    return (yield from sums.shared("rows", "x", asking(group.names, 1), TakeTotal))


def public_only(group, sums):
    return (yield from sums.public("rows", "x", asking(group.names, 1)))


@pytest.mark.parametrize("n_masks", [-1, 0, 1, 4])
@pytest.mark.parametrize("seed", range(3))
def test_all_kinds_give_the_sum(n_masks, seed):
    """Without a mask that is left, keys are renewed before the next sum."""
    matrices = draw_matrices(seed=seed)
    talk = consortium(matrices=matrices)
    told, knowing, counts, votes = run(talk, all_sums, n_masks)
    assert tuple(told) == tuple(knowing) == NAMES
    for name, at in spans(OWNERS).items():
        own, shared = talk.totals[name]
        np.testing.assert_allclose(own, total(matrices, 0)[at], atol=4 * 2.0**-41, rtol=2.0**-52)
        np.testing.assert_allclose(shared, total(matrices, 1), atol=2.0**-90, rtol=2.0**-51)
    np.testing.assert_array_equal(counts, total(matrices, 2))
    np.testing.assert_array_equal(votes, total(matrices, 3))


def test_masked_is_what_clear_gives_to_the_last_bit():
    results = []
    for n_masks in (-1, 4):
        talk = consortium()
        _, _, counts, votes = run(talk, all_sums, n_masks)
        results.append([counts, votes, *(t for name in NAMES for t in talk.totals[name])])
    for plain, masked in zip(*results, strict=True):
        np.testing.assert_array_equal(plain, masked)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_as_a_public_sum(form):
    matrices = {name: [np.array([[number, 1.0, 0.0]])] for number, name in enumerate(NAMES)}
    talk = consortium(matrices=matrices)

    def conversation(group, sums):
        return (yield from sums.public("rows", "x", asking(group.names, 0), form))

    np.testing.assert_array_equal(run(talk, conversation), [[6.0, 4.0, 0.0]])


@pytest.mark.parametrize("value", [2.0**189, np.nan, np.inf])
@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_what_could_overflow_is_refused_before_it_is_sent(value, number):
    matrices = draw_matrices()
    matrices[LOST][number] = np.full_like(matrices[LOST][number], value)
    with pytest.raises(InputError, match=rf"{LOST}.*too large to be summed safely"):
        run(consortium(matrices=matrices), all_sums)


# --- losses


def contributors(step, moment):
    """Who is in the sum."""
    lost = step == "rows" and moment != "after"
    return tuple(name for name in NAMES if not (lost and name == LOST))


def learns(step, moment):
    """Whether the site that is lost is told its part, and heard of."""
    if step == "rows":
        return False
    return moment == "late" if step == "rows.unmask" else moment == "after"


@pytest.mark.parametrize("moment", ["before", "during", "after", "late"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("n_masks", [-1, 4])
def test_rows_when_a_site_is_lost(step, moment, n_masks):
    if n_masks < 0 and step == "rows.unmask":
        return  # there is no such step in clear
    matrices = draw_matrices()
    talk = consortium(matrices=matrices, faults=[Fault(LOST, step, moment)])
    told = run(talk, rows_only, n_masks)
    want = total(matrices, 0, contributors(step, moment))
    for name, at in spans(OWNERS).items():
        if name != LOST:
            np.testing.assert_allclose(talk.totals[name][0], want[at], atol=1e-11)
    assert (LOST in told) == learns(step, moment)


@pytest.mark.parametrize("moment", ["before", "during", "after", "late"])
@pytest.mark.parametrize("step", STEPS)
def test_shared_and_public_sums_when_a_site_is_lost(step, moment):
    matrices = draw_matrices()
    want = total(matrices, 1, contributors(step, moment))
    talk = consortium(matrices=matrices, faults=[Fault(LOST, step, moment)])
    told = run(talk, shared_only)
    for name in told:
        np.testing.assert_allclose(talk.totals[name][0], want, rtol=1e-15)
    assert set(told) >= set(NAMES) - {LOST}
    assert (LOST in told) == (learns(step, moment) or (step, moment) == ("rows", "late"))
    if step != "rows.back":
        talk = consortium(matrices=matrices, faults=[Fault(LOST, step, moment)])
        np.testing.assert_allclose(run(talk, public_only), want, rtol=1e-15)


@pytest.mark.parametrize("moment", ["twice", "again", "restart"])
@pytest.mark.parametrize("kind", [rows_only, shared_only])
def test_repeats_and_restarts_change_nothing(moment, kind):
    plain, hurt = consortium(), consortium(
        faults=[Fault(name, step, moment) for name in NAMES for step in STEPS]
    )  # fmt: skip
    assert run(plain, kind) == run(hurt, kind)
    for name in NAMES:
        np.testing.assert_array_equal(plain.totals[name][0], hurt.totals[name][0])


@pytest.mark.parametrize("n_lost", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("step", "moment"), [("rows", "before"), ("rows.unmask", "before"), ("rows.unmask", "late")]
)
@pytest.mark.parametrize("kind", [rows_only, shared_only, public_only])
def test_any_number_of_lost_sites(n_lost, step, moment, kind):
    """With too few left to unmask, they renew their keys and add up among themselves."""
    matrices, there = draw_matrices(), NAMES[: 4 - n_lost]
    again, steps = n_lost > 1, []
    talk = consortium(
        matrices=matrices, faults=[Fault(name, step, moment) for name in NAMES[4 - n_lost :]]
    )
    talk.engine.listen = lambda event: steps.append(event.get("step"))
    summed = there if step == "rows" or again else NAMES
    if not there or (kind is public_only and len(summed) < 2):
        with pytest.raises(SitesLost, match=r"no site is left|one site is left"):
            run(talk, kind)
        return
    found = run(talk, kind)
    assert ("renew" in steps) == again
    if kind is public_only:
        np.testing.assert_allclose(found, total(matrices, 1, summed), rtol=1e-15)
        return
    for name in there:
        at = spans(OWNERS)[name]
        want = total(matrices, 0, summed)[at] if kind is rows_only else total(matrices, 1, summed)
        np.testing.assert_allclose(talk.totals[name][-1], want, rtol=1e-14, atol=1e-11)


def test_a_site_that_was_late_twice_is_not_told_what_it_cannot_read():
    faults = [Fault(LOST, "rows", "late"), Fault("site-3", "rows", "late")]
    talk = consortium(faults=faults)
    told = run(talk, shared_only)
    assert told == ["site-0", "site-1"]
    assert not talk.totals[LOST]


def test_one_site_has_no_sum_for_the_server():
    matrices = {"site-0": [np.ones((1, 1))]}
    talk = consortium(matrices=matrices)

    def conversation():
        _, sums = yield from agree(("site-0",), b"plan", n_masks=1)
        return (yield from sums.public("rows", "x", asking(["site-0"], 0)))

    with pytest.raises(SitesLost, match="its sum would be its data"):
        talk.engine.run(conversation())


def test_messages_are_as_long_whatever_the_numbers():
    lengths = []
    for seed in (0, 1):
        talk = consortium(matrices=draw_matrices(seed=seed))
        run(talk, all_sums)
        lengths.append([(e.step, e.site, e.bytes_up) for e in talk.engine.costs.exchanges])
    zeros = {name: [m * 0 for m in held] for name, held in draw_matrices().items()}
    talk = consortium(matrices=zeros)
    run(talk, all_sums)
    lengths.append([(e.step, e.site, e.bytes_up) for e in talk.engine.costs.exchanges])
    assert lengths[0] == lengths[1] == lengths[2]
