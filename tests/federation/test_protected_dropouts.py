"""Every step × every kind of fault when all is protected, against the plain path as the oracle."""

from functools import cache

import numpy as np
import pytest

from colabel.data.site import Site, Sites
from colabel.engines.faults import Fault
from colabel.errors import SitesLost
from colabel.federation.plan import LabellingPlan
from colabel.jobs.label import label
from consortia import make_sites

SEED = bytes(range(32))
LOST = "site-2"
MEETING = ("hello", "meet", "join")
MOMENTS = ("moments", "moments.unmask", "moments.back")
CODES = ("dealer.exchange", "dealer.compare")
LATTICE = ("lattice.encrypt", "lattice.multiply", "lattice.decrypt")
TRIALS = ("try", "try.unmask", "try.back", "rate", "rate.unmask")
SCORES = ("influence", "influence.unmask", "influence.back")
STEPS = (*MEETING, *MOMENTS, *CODES, *TRIALS, *SCORES)
SITES = make_sites(4, 14)
OTHERS = tuple(name for name in SITES.names if name != LOST)


def plan_for(hamming="dealer", **settings):
    defaults = {"n_neighbors": 5, "alpha": 0.9, "n_bits": 256, "seed": SEED, "keep_labels": False}
    return LabellingPlan(n_classes=3, hamming=hamming, **(defaults | settings))


@cache
def oracle(who, features, n_bits=256):
    """What the plain path gives to all sites, to the others, or if the lost one has no labels."""
    held = {site.name: site for site in SITES.sites}
    if who == "the others":
        del held[LOST]
    if who == "all, but not its labels":
        held[LOST] = Site(LOST, held[LOST].points, np.full(len(held[LOST]), -1))
    plan = plan_for("clear", features=features, n_bits=n_bits)
    return label(Sites(tuple(held.values()), SITES.classes), plan)


def expected(step, moment):
    """Whose points are compared and whose labels count, as labelling.py says."""
    gone = moment in ("before", "during", "after")
    last_codes = step in (CODES[-1], LATTICE[-1])
    if moment in ("twice", "again", "restart"):
        return "all"
    if step in (*MEETING, *CODES, *LATTICE) and not (last_codes and moment == "after"):
        return "the others"
    if step in TRIALS or last_codes:
        return "all, but not its labels" if gone else "all"
    return "all, but not its labels" if step == "influence" and moment != "after" else "all"


def same(got, want, names=OTHERS):
    for name in names:
        np.testing.assert_array_equal(got.own[name].labels, want.own[name].labels)
        np.testing.assert_allclose(
            got.own[name].distributions, want.own[name].distributions, atol=1e-6
        )


def check(step, moment, hamming="dealer", n_bits=256):
    plan = plan_for(hamming, features="identity", n_bits=n_bits)
    got = label(SITES, plan, faults=[Fault(LOST, step, moment)])
    same(got, oracle(expected(step, moment), "identity", n_bits))
    assert (LOST in got.labelled.group.names) == (expected(step, moment) != "the others")
    return got


@pytest.mark.parametrize("moment", ["before", "during", "after", "late"])
@pytest.mark.parametrize("step", [*MEETING, *CODES, *TRIALS, *SCORES])
def test_a_site_is_lost(step, moment):
    got = check(step, moment)
    stays = moment == "late" and step in (*TRIALS, "influence.unmask")
    received = stays or (step, moment) == ("influence.back", "after")
    assert (LOST in got.labelled.received) == received
    assert (got.own[LOST] is not None) == (received or (step, moment) == ("influence.back", "late"))


@pytest.mark.parametrize("moment", ["twice", "again", "restart"])
@pytest.mark.parametrize("step", STEPS)
def test_repeats_and_restarts_change_nothing(step, moment):
    got = label(SITES, plan_for(features="scaled"), faults=[Fault(LOST, step, moment)])
    same(got, oracle("all", "scaled"), SITES.names)


@pytest.mark.parametrize("moment", ["before", "during"])
@pytest.mark.parametrize("step", ["hello", "meet", "join", "moments"])
def test_lost_before_its_moments_came_is_never_having_taken_part(step, moment):
    got = label(SITES, plan_for(features="scaled"), faults=[Fault(LOST, step, moment)])
    same(got, oracle("the others", "scaled"))
    assert got.own[LOST] is None


@pytest.mark.parametrize(
    ("step", "moment"),
    [("moments", "after"), ("moments.unmask", "before"), ("moments.unmask", "during"),
     ("moments.back", "before"), ("moments.back", "during"), ("moments.back", "late")],
)  # fmt: skip
def test_lost_after_its_moments_came_it_is_in_the_mean_only(step, moment):
    got = label(SITES, plan_for(features="scaled"), faults=[Fault(LOST, step, moment)])
    assert got.labelled.group.names == got.labelled.received == OTHERS
    want = oracle("the others", "scaled")
    same_labels = [got.own[name].labels == want.own[name].labels for name in OTHERS]
    assert np.mean(same_labels) > 0.8


@pytest.mark.parametrize("step", ["moments", "moments.unmask"])
def test_late_with_its_moments_it_goes_on(step):
    got = label(SITES, plan_for(features="scaled"), faults=[Fault(LOST, step, "late")])
    assert got.labelled.received == SITES.names
    if step == "moments.unmask":  # its points are in the mean
        same(got, oracle("all", "scaled"), SITES.names)


@pytest.mark.parametrize("step", ["moments", "try", "influence"])
def test_too_few_left_start_again_among_themselves(step):
    """Two of four are lost, and more than half are needed for a secret."""
    faults = [Fault(name, f"{step}.unmask", "before") for name in SITES.names[2:]]
    steps = []

    def listen(event):
        steps.append(event.get("step"))

    plan = plan_for(features="scaled")
    got = label(SITES, plan, faults=faults, listen=listen)
    assert "renew" in steps
    assert got.labelled.received == SITES.names[:2]


def test_a_late_site_is_not_told_sums_of_those_who_started_again():
    faults = [
        Fault("site-1", "moments", "before"),
        Fault("site-2", "moments", "late"),
        Fault("site-3", "moments.unmask", "late"),
    ]
    got = label(SITES, plan_for(features="scaled"), faults=faults)
    assert got.labelled.received
    assert set(got.labelled.received) <= {"site-0", "site-2", "site-3"}


@pytest.mark.parametrize("step", [s for s in STEPS if not s.startswith(("try", "rate"))][:-1])
def test_all_lost_is_an_error_that_says_when(step):
    faults = [Fault(name, step, "before") for name in SITES.names]
    with pytest.raises(SitesLost, match=r"no site is left|nothing to compare"):
        label(SITES, plan_for(features="scaled"), faults=faults)


@pytest.mark.parametrize(
    ("step", "moment"),
    [("lattice.encrypt", "during"), ("lattice.multiply", "before"), ("lattice.decrypt", "late"),
     ("lattice.decrypt", "after"), ("lattice.multiply", "restart")],
)  # fmt: skip
def test_the_default_way(step, moment):
    check(step, moment, "lattice", n_bits=64)


def test_the_ledger_says_who_released_what_and_how():
    got = label(SITES, plan_for(features="scaled", seed=None))
    by_step = {(entry.step, entry.to): entry.mechanism for entry in got.ledger}
    assert by_step["moments", "server"] == by_step["influence", "server"] == "masked"
    assert by_step["meet", "sites"] == "encrypted"
    in_clear = {entry.what for entry in got.ledger.seen_by("server") if "clear" in entry.mechanism}
    assert in_clear == {
        "number of points, of labelled points and of features",
        "the distances of its own points",
    }
