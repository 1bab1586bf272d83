"""Choosing k and α: held-out labels against really hiding them."""

import numpy as np
import pytest
from msgspec.structs import replace

from colabel.data.site import Site, Sites
from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import RemoteProtocolError
from colabel.federation import tuning
from colabel.federation.labelling import cross_client_labels
from colabel.federation.own_trials import Ratings, Try
from colabel.federation.plan import LabellingPlan
from colabel.federation.roles import LABELLING
from colabel.jobs.label import label
from colabel.protocols.sums import Contribute
from colabel.protocols.sums.base import Terms
from colabel.wire import pack
from consortia import make_sites

SEED = bytes(range(32))


def plan_for(sites, **settings):
    defaults = {
        "hamming": "clear",
        "n_bits": 16_384,
        "seed": SEED,
        "n_neighbors": "auto",
        "alpha": "auto",
    }
    return LabellingPlan(n_classes=len(sites.classes), **(defaults | settings))


def held(site):
    """Every third label of a site, from the second on."""
    return np.flatnonzero(site.labelled)[1::3]


def slow_hits(sites, plan, candidate):
    """Hide the held-out labels, label everything again, and see which come back."""
    fixed = {**candidate._asdict(), "class_weighting": plan.class_weighting}
    shown = []
    for site in sites.sites:
        labels = site.labels.copy()
        labels[held(site)] = -1
        shown.append(Site(site.name, site.points, labels))
    outcome = label(Sites(tuple(shown), sites.classes), plan_for(sites, **fixed))
    return np.concatenate(
        [outcome.own[s.name].labels[held(s)] == s.labels[held(s)] for s in sites.sites]
    )


def all_gains(sites, plan, faults=()):
    engine = LocalEngine(sites.sites, LABELLING, faults=faults)
    engine.run(cross_client_labels(sites.names, plan))
    states = [engine.sessions[name] for name in sites.names]
    ratings = [s.recall(Ratings).sums for s in states if s.knows(Ratings)]
    return [sums[:, :5] for sums in ratings], engine


@pytest.mark.parametrize("weighting", ["balanced", "none"])
def test_gains_are_those_of_really_hiding_labels(weighting, monkeypatch):
    monkeypatch.setattr(tuning, "NEIGHBOURS", (3, 40))
    monkeypatch.setattr(tuning, "REACHES", (1.0, 4.0))
    sites = make_sites(3, 20, n_labels=9, seed=2, separation=0.7)
    plan = plan_for(sites, class_weighting=weighting)
    gains, engine = all_gains(sites, plan)
    options = tuning.candidates(cross_group(engine, sites), plan)
    hits = np.array([slow_hits(sites, plan, option) for option in options]).T
    truth = np.concatenate([site.labels[held(site)] for site in sites.sites])
    everything = np.concatenate([site.labels[site.labelled] for site in sites.sites])
    counts = np.maximum(np.bincount(everything, minlength=3) - np.bincount(truth, minlength=3), 1)
    weights = 1 / counts[truth] if weighting == "balanced" else np.ones(len(truth))
    difference = hits.astype(float) - hits[:, :1]
    want = np.stack(
        [
            np.full(len(options), weights.sum()),
            np.full(len(options), (weights**2).sum()),
            weights @ difference,
            weights**2 @ difference,
            weights**2 @ difference**2,
        ],
        axis=1,
    )
    np.testing.assert_allclose(np.sum(gains, axis=0), want, atol=1e-9)
    assert difference.any()


def cross_group(engine, sites):
    from colabel.protocols.keys import Group, Welcome

    return Group(
        {s.name: Welcome(len(s), int(s.labelled.sum()), s.points.shape[1]) for s in sites.sites}
    )


def gains_of(mean, spread, n=100):
    """The sums for equally weighted points: the default, and one with these differences."""
    difference = np.full(n, mean) + spread * np.where(np.arange(n) % 2, 1, -1)
    w = np.ones(n)
    rows = [
        [w.sum(), (w**2).sum(), (w * d).sum(), (w**2 * d).sum(), (w**2 * d**2).sum()]
        for d in (np.zeros(n), difference)
    ]
    return np.array(rows)


def test_only_a_clear_winner_is_chosen():
    assert tuning.clear_winner(gains_of(0.3, 0.1), 100) == 1
    assert tuning.clear_winner(gains_of(0.01, 1.0), 100) == 0
    assert tuning.clear_winner(gains_of(-0.5, 0.1), 100) == 0
    assert tuning.clear_winner(np.zeros((3, 5)), 1) == 0


def test_a_better_setting_is_found():
    """Points on two circles: with many neighbours the circles run into one another."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 240)
    truth = np.arange(240) % 2
    height = np.where(truth, 0.35, 0.75) + 0.01 * rng.standard_normal(240)
    points = np.stack([np.cos(angle), np.sin(angle), height], axis=1)
    labels = np.where(rng.random(240) < 0.4, truth, -1)
    parts = [Site(f"s{i}", points[i::3], labels[i::3]) for i in range(3)]
    sites = Sites(tuple(parts), ("0", "1"))
    plan = plan_for(sites, features="identity", n_bits=4096)
    found = label(sites, plan).labelled
    assert (found.n_neighbors, found.alpha) != (20, plan.alpha_for(int((labels >= 0).sum()), 240))


def test_no_labels_leave_the_default():
    sites = make_sites(2, 15, n_labels=0)
    engine = LocalEngine(sites.sites, LABELLING)
    assert engine.run(cross_client_labels(sites.names, plan_for(sites))).n_neighbors == 20


def test_the_server_gets_only_sums_of_gains(sites):
    outcome = label(sites, plan_for(sites))
    by_step = {entry.step: entry.what for entry in outcome.ledger}
    assert "ratings" in by_step["rate"]
    assert {"try", "rate", "influence"} <= {entry.step for entry in outcome.ledger}


@pytest.mark.parametrize("step", ["try", "try.back", "rate"])
def test_a_site_lost_while_trying_gives_no_opinion_and_stays_in_the_graph(sites, step):
    gains, _ = all_gains(sites, plan_for(sites), [Fault("site-1", step, "before")])
    assert len(gains) == len(sites) - (step != "rate")
    outcome = label(sites, plan_for(sites), faults=[Fault("site-1", step, "late")])
    assert outcome.own["site-1"] is not None
    assert all((own.labels >= 0).all() for own in outcome.own.values())


def test_only_what_says_auto_is_tried(sites):
    group = cross_group(None, sites)
    ks = {c.n_neighbors for c in tuning.candidates(group, plan_for(sites, alpha=0.9))}
    alphas = {c.alpha for c in tuning.candidates(group, plan_for(sites, n_neighbors=7))}
    assert ks == {10, 20, 40}
    assert len(alphas) == 4
    fixed = plan_for(sites, n_neighbors=7, alpha=0.9)
    assert tuning.candidates(group, fixed) == [tuning.Candidate(7, 0.9)]


def tell_what_was_tried(sites, plan):
    """What a site was asked while settings were tried."""
    asked = {}

    def spy(session, request):
        asked[session.name] = request
        return LABELLING.handlers[Try](session, request)

    role = LABELLING._replace(handlers={**LABELLING.handlers, Try: spy})
    engine = LocalEngine(sites.sites, role)
    engine.run(cross_client_labels(sites.names, plan))
    return asked, engine


def test_no_label_is_both_held_out_and_propagated():
    sites = make_sites(3, 20, n_labels=7)
    asked, _ = tell_what_was_tried(sites, plan_for(sites))
    for request in asked.values():
        assert request.own == (1, 4)
        assert request.columns.shape[1:] == (6, 5)


def test_held_out_and_kept_labels_cannot_change_places():
    """The second half of what would give a site another's labels."""
    sites = make_sites(2, 20, n_labels=6)
    asked, engine = tell_what_was_tried(sites, plan_for(sites))
    swapped = replace(asked["site-0"], own=(0, 2, 3, 5), columns=asked["site-0"].columns[:, :, :2])
    terms = Terms("try", "rows", "scores", -1, ("site-0", "site-1"), {"site-0": 3, "site-1": 3})
    with pytest.raises(RemoteProtocolError, match="other labels held out than before"):
        engine.sessions["site-0"].answer(Contribute("Try", pack(swapped), terms))


def test_a_site_with_one_label_keeps_it():
    sites = make_sites(3, 10, n_labels=1)
    asked, _ = tell_what_was_tried(sites, plan_for(sites))
    assert asked == {}


def test_few_held_out_labels_do_not_make_confidence_extreme():
    """Three hits in a row speak for the highest exponent; sixty do."""
    sure = -np.log(np.clip(0.5 + np.array(tuning.EXPONENTS) / 40, 0, 1))
    assert tuning.likeliest_exponent(np.zeros(len(sure))) == tuning.USUAL_EXPONENT
    assert tuning.likeliest_exponent(3 * sure) < 6.0
    assert tuning.likeliest_exponent(60 * sure) == max(tuning.EXPONENTS)
