"""Every step × every kind of fault, against [XCLP §3.3, Robustness]."""

import numpy as np
import pytest

from colabel.conversation import UNPROTECTED, Done
from colabel.crypto.identity import Identity
from colabel.data.site import Site, Sites
from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import InputError, RemoteProtocolError, SitesLost
from colabel.federation.labelling import cross_client_labels
from colabel.federation.own_labels import Influence, OwnLabels
from colabel.federation.plan import LabellingPlan
from colabel.federation.roles import LABELLING
from colabel.jobs.label import label
from colabel.protocols import keys
from colabel.protocols.hamming.clear import ShareCodes
from colabel.protocols.sums import Contribute, Deliver
from colabel.protocols.sums.base import Terms
from colabel.wire import pack, seal_in
from consortia import make_sites

SEED = bytes(range(32))
LOST = "site-2"
TERMS = Terms("influence", "rows", "scores", -1, ("site-0",), {"site-0": 1})
STEPS = ("hello", "moments", "moments.back", "codes", "influence", "influence.back")


def plan_for(sites, **settings):
    """The plain path; test_protected_dropouts.py has the protected one."""
    defaults = {
        "hamming": "clear",
        "n_neighbors": 5,
        "alpha": 0.9,
        "n_bits": 512,
        "seed": SEED,
        "features": "centred",
    }
    return LabellingPlan(n_classes=len(sites.classes), **(defaults | settings))


def without(sites, name):
    return Sites(tuple(site for site in sites.sites if site.name != name), sites.classes)


def unlabelled(sites, name):
    """The same points in the same session order, without that site's labels."""
    changed = [
        Site(site.name, site.points, np.full(len(site), -1)) if site.name == name else site
        for site in sites.sites
    ]
    return Sites(tuple(changed), sites.classes)


def same(got, want, names):
    for name in names:
        np.testing.assert_array_equal(got.own[name].labels, want.own[name].labels)
        np.testing.assert_allclose(
            got.own[name].distributions, want.own[name].distributions, atol=1e-5
        )


@pytest.mark.parametrize("moment", ["before", "during"])
@pytest.mark.parametrize("step", ["hello", "moments"])
def test_lost_before_the_codes_is_never_having_taken_part(sites, step, moment):
    plan = plan_for(sites)
    got = label(sites, plan, faults=[Fault(LOST, step, moment)])
    others = without(sites, LOST)
    same(got, label(others, plan), others.names)
    assert got.own[LOST] is None
    assert got.labelled.group.names == others.names


@pytest.mark.parametrize(
    ("step", "moment"),
    [("hello", "after"), ("codes", "before"), ("codes", "during"), ("codes", "late")],
)
def test_lost_while_codes_are_compared_is_the_same(sites, step, moment):
    plan = plan_for(sites, features="identity")
    got = label(sites, plan, faults=[Fault(LOST, step, moment)])
    others = without(sites, LOST)
    same(got, label(others, plan), others.names)
    assert LOST not in got.labelled.group.names


@pytest.mark.parametrize(
    ("step", "moment"),
    [("codes", "after"), ("influence", "before"), ("influence", "during"), ("influence", "late")],
)
def test_lost_after_the_codes_is_having_no_labels(sites, step, moment):
    plan = plan_for(sites, keep_labels=False)
    got = label(sites, plan, faults=[Fault(LOST, step, moment)])
    others = without(sites, LOST).names
    want = label(unlabelled(sites, LOST), plan)
    same(got, want, others)
    assert got.own[LOST] is None
    assert got.labelled.received == others


@pytest.mark.parametrize(
    ("step", "moment"),
    [("influence", "after"), ("influence.back", "before"), ("influence.back", "during")],
)
def test_lost_on_the_way_back_changes_nothing_for_the_others(sites, step, moment):
    plan = plan_for(sites)
    got = label(sites, plan, faults=[Fault(LOST, step, moment)])
    same(got, label(sites, plan), without(sites, LOST).names)
    assert LOST not in got.labelled.received


@pytest.mark.parametrize("moment", ["twice", "again", "restart"])
@pytest.mark.parametrize("step", STEPS)
def test_repeats_and_restarts_change_nothing(sites, step, moment):
    plan = plan_for(sites)
    got = label(sites, plan, faults=[Fault(LOST, step, moment)])
    same(got, label(sites, plan), sites.names)


def test_every_site_restarts_at_every_step(sites):
    plan = plan_for(sites)
    faults = [Fault(name, step, "restart") for name in sites.names for step in STEPS]
    same(label(sites, plan, faults=faults), label(sites, plan), sites.names)


def test_the_order_of_arrival_does_not_matter(sites):
    plan = plan_for(sites)
    engine = LocalEngine(sites.sites, LABELLING, shuffle=True)
    engine.run(cross_client_labels(sites.names, plan))
    want = label(sites, plan)
    for name in sites.names:
        got = engine.sessions[name].recall(OwnLabels)
        np.testing.assert_array_equal(got.labels, want.own[name].labels)


@pytest.mark.parametrize("step", ["draw", "share"])
def test_the_site_that_draws_the_seed_may_be_lost(sites, step):
    plan = plan_for(sites, seed=None, features="identity")
    got = label(
        sites, plan, faults=[Fault("site-0", step, "before"), Fault("site-1", step, "before")]
    )
    assert set(got.labelled.group.names) < set(sites.names)
    assert all(got.own[name] is not None for name in got.labelled.group.names)


@pytest.mark.parametrize("step", STEPS[:-1])
def test_all_lost_is_an_error_that_says_when(sites, step):
    faults = [Fault(name, step, "before") for name in sites.names]
    with pytest.raises(SitesLost, match=r"no site is left|nothing to compare"):
        label(sites, plan_for(sites), faults=faults)


def test_all_lost_on_the_way_back_leaves_nobody_labelled(sites):
    faults = [Fault(name, "influence.back", "before") for name in sites.names]
    assert label(sites, plan_for(sites), faults=faults).labelled.received == ()


def test_a_session_goes_on_only_with_the_same_data(sites):
    from colabel.federation.site import SiteSession

    own = Identity.new()
    session = SiteSession(sites.sites[0], LABELLING, own, {})
    other = Site("site-0", sites.sites[0].points + 1, sites.sites[0].labels)
    with pytest.raises(InputError, match="the data changed since the session was saved"):
        SiteSession.load(other, LABELLING, own, {}, session.save())


def test_skipped_steps_are_refused(sites):
    engine = LocalEngine(sites.sites, LABELLING)
    with pytest.raises(RemoteProtocolError, match="a step was skipped"):
        engine.sessions["site-0"].receive(seal_in("s", 0, "server", ShareCodes()))


def test_faults_are_checked():
    with pytest.raises(InputError, match="Did you mean 'before'"):
        Fault("a", "codes", "befor")


def test_what_is_lost_is_told(sites):
    events = []
    label(sites, plan_for(sites), faults=[Fault(LOST, "codes", "before")], listen=events.append)
    assert {"event": "lost", "step": "codes", "site": LOST} in events


def test_the_ledger_names_who_released_what(sites):
    outcome = label(sites, plan_for(sites), faults=[Fault(LOST, "codes", "before")])
    entries = {entry.step: entry for entry in outcome.ledger}
    assert LOST in entries["hello"].sites
    assert LOST not in entries["codes"].sites
    assert {entry.mechanism for entry in outcome.ledger} == {"in clear", UNPROTECTED}
    assert any("fixed in the plan" in entry.what for entry in outcome.ledger.seen_by("everyone"))


def test_more_points_than_the_smallest_site():
    sites = make_sites(2, 3, n_labels=1)
    assert label(sites, plan_for(sites, n_neighbors=50)).labelled.n_neighbors == 5


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (Contribute("Pwn", b"", TERMS), "unknown message"),
        (Contribute("Influence", b"\xc1", TERMS), "malformed message"),
        (Contribute("ShareCodes", pack(ShareCodes()), TERMS), "not to be summed"),
        (Deliver("ShareCodes", TERMS, (), np.zeros((1, 1), "<u8")), "not a total"),
        (keys.Hello(b"nonsense", -1), "not a plan that can be followed"),
        (keys.Hello(pack(LabellingPlan(n_classes=3, n_bits=0)), -1), "not a plan"),
        (Influence(np.zeros((3, 3)), (2, 2), 1.0), "columns of another shape"),
        (Done(), "not a request"),
    ],
)
def test_requests_that_make_no_sense_are_refused(sites, message, rule):
    engine = LocalEngine(sites.sites, LABELLING)
    engine.run(cross_client_labels(sites.names, plan_for(sites)))
    with pytest.raises(RemoteProtocolError, match=rule):
        engine.sessions["site-0"].receive(seal_in(engine._session, 99, "server", message))
