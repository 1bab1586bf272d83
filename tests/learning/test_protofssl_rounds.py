"""ProtoFSSL over rounds: who helps, how long, what is judged, what the ledger says."""

import numpy as np
import pytest
from federations import CLASSES, draw, make_federation, model_plan, plan

from colabel.data import Site, Sites
from colabel.engines.faults import Fault
from colabel.errors import InputError, RemoteProtocolError
from colabel.federation.training import State
from colabel.federation.training_plan import Stage
from colabel.jobs.train import initial, train_sites
from colabel.learning.judging import Judge
from colabel.learning.models import make
from colabel.learning.parameters import flatten, write
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.learning.prototypes import dense, probabilities
from colabel.learning.pseudo_labels import embed
from colabel.learning.terms import CrossEntropy, Prototypes, Proximal
from colabel.learning.terms.prototypes import HELPERS, OWN, STORED
from colabel.wire import pack, unpack

LOCAL = LocalPlan(steps=3, optimiser=OptimiserPlan(name="rmsprop", rate=1e-3))


def settings_for(*terms, rounds=2, model=None, **settings):
    stage = Stage(rounds=rounds, terms=terms or (Prototypes(),))
    return plan(stages=(stage,), model=model or model_plan(head=False), local=LOCAL, **settings)


def trained(*terms, sites=None, state=None, faults=(), judge=None, **settings):
    found, _ = make_federation() if sites is None else sites
    made = settings_for(*terms, **settings)
    return train_sites(found, made, state=state, faults=faults, judge=judge)


def came(term, kept, *vectors):
    """Another round, in which each site sends one prototype of class 0."""
    sent = {
        f"site-{n}": {OWN: {"vectors": np.array([[v]], dtype=np.float32), "classes": np.array([0])}}
        for n, v in enumerate(vectors)
    }
    return term.keep_each(kept, sent)


def helping(kept):
    return sorted(kept[HELPERS]["vectors"][:, 0].tolist())


def test_helpers_are_the_sites_of_the_round_before():
    term = Prototypes()
    assert term.send({}, "site-0") == {}
    kept = came(term, {}, 1, 2, 3)
    assert helping(kept) == [1, 2, 3]
    assert helping(came(term, kept, 4, 5)) == [4, 5]
    assert term.send(kept, "site-0") == {HELPERS: kept[HELPERS]}


def test_fewer_helpers_than_sites_are_drawn_among_them():
    term, kept, seen = Prototypes(helpers=2), {}, set()
    for number in range(10):
        kept = came(term, kept, 1, 2, 3, 4)
        assert len(helping(kept)) == 2, number
        seen |= set(helping(kept))
    assert seen == {1, 2, 3, 4}


def test_helpers_stay_for_the_interval():
    term, kept, seen = Prototypes(interval=3), {}, []
    for number in range(7):
        kept = came(term, kept, number)
        seen.append(helping(kept)[0])
    assert seen == [0, 0, 0, 3, 3, 3, 6]


def test_a_longer_memory_gives_more_helpers_first_in_first_out():
    term, kept = Prototypes(memory=2, helpers=9), {}
    for number in range(4):
        kept = came(term, kept, number, number + 0.5)
    assert helping(kept) == [2, 2.5, 3, 3.5]
    assert len(set(kept[HELPERS]["owners"])) == 4


def test_a_round_in_which_nobody_has_labels_changes_nothing():
    term = Prototypes()
    nothing = {OWN: {"vectors": np.empty((0, 1), np.float32), "classes": np.empty(0, np.int64)}}
    assert term.keep_each({}, {"site-0": nothing}) == {}
    kept = came(term, {}, 1)
    assert term.keep_each(kept, {"site-0": nothing}) == kept


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"vectors": np.ones((2, 3)), "classes": np.array([0])},
        {"vectors": np.ones((2, 3)), "classes": np.array([1, 1])},
        {"vectors": np.ones((1, 3)), "classes": np.array([-1])},
        {"vectors": np.full((1, 3), np.nan), "classes": np.array([0])},
        {"vectors": np.ones((1, 2)), "classes": np.array([0])},
    ],
)
def test_what_is_no_table_of_prototypes_is_refused(sent):
    good = {OWN: {"vectors": np.ones((1, 3)), "classes": np.array([0])}}
    with pytest.raises(RemoteProtocolError, match="site-1"):
        Prototypes().keep_each({}, {"site-0": good, "site-1": {OWN: sent}})


def test_the_first_round_is_labelled_only_and_then_helpers_count():
    def after(rounds, weight):
        return flatten(trained(Prototypes(weight=weight), rounds=rounds).model)

    np.testing.assert_array_equal(after(1, 0.0), after(1, 5.0))
    assert np.abs(after(2, 0.0) - after(2, 5.0)).max() > 1e-6


@pytest.mark.parametrize("norm", ["none", "batch", "group", "static"])
def test_with_every_normalisation_and_fedprox(norm):
    model = model_plan(name="small_cnn", head=False, norm=norm)
    outcome = trained(Prototypes(), Proximal(mu=1.0), model=model)
    free = trained(Prototypes(), model=model)
    assert np.isfinite(flatten(outcome.model)).all()
    assert np.abs(flatten(outcome.model) - flatten(free.model)).max() > 1e-7


def test_it_learns_and_is_judged_by_the_prototypes_of_the_last_sites():
    points, truth = draw(300, seed=5)
    settings = settings_for(rounds=8)
    judge = Judge(settings.model, points, truth)
    outcome = trained(rounds=8, judge=judge)
    assert outcome.state.best_score > 0.75
    network, kept = make(settings.model), outcome.state.kept
    write(network, outcome.model)
    latest = {name: kept[STORED][name] for name in ("vectors", "classes", "owners")}
    z = embed(network, judge.points, settings.model)
    found = probabilities(z, dense(latest, CLASSES), "euclidean")
    accuracy = (found.argmax(dim=1).numpy() == truth).mean()
    assert outcome.history[-1]["scores"]["accuracy"] == pytest.approx(accuracy)
    best = judge(outcome.state.best, outcome.state.best_kept, settings.stages[0].terms)
    assert best["accuracy"] == pytest.approx(outcome.state.best_score)


def test_without_prototypes_nothing_is_known():
    settings = settings_for()
    judge = Judge(settings.model, *draw(30))
    assert judge(initial(settings).model, {}, settings.stages[0].terms)["accuracy"] == 0


def test_what_is_kept_travels_and_training_goes_on_the_same():
    whole = trained(rounds=4)
    half = trained(rounds=2).state
    kept = unpack(pack(half.kept), dict[str, dict[str, np.ndarray]])
    rest = trained(rounds=4, state=State(half.model, kept, half.round))
    np.testing.assert_array_equal(flatten(whole.model), flatten(rest.model))


def test_a_site_that_lacks_a_class_and_one_without_labels():
    sites, truth = make_federation(unlabelled_sites=1)
    first = sites.sites[0]
    lacking = Site(first.name, first.points, np.where(first.labels == 0, -1, first.labels))
    mixed = Sites((lacking, *sites.sites[1:]), sites.classes), truth
    outcome = trained(sites=mixed, rounds=3, sites_per_round=4)
    assert np.isfinite(flatten(outcome.model)).all()
    stored = outcome.state.kept[STORED]
    assert len(set(stored["owners"])) == 3
    assert len(stored["vectors"]) == 3 * CLASSES - 1


def test_a_lost_site_helps_nobody():
    faults = [Fault("site-2", "train", "late")]
    outcome = trained(rounds=1, faults=faults, sites_per_round=4)
    assert len(set(outcome.state.kept[HELPERS]["owners"])) == 3


def test_the_ledger_says_who_sees_prototypes_and_what_noise_they_have():
    def told(term, who):
        entries = trained(term).ledger.seen_by(who)
        return next(e for e in entries if "prototypes" in e.what)

    for who in ("server", "each site"):
        assert told(Prototypes(), who).mechanism == "in clear"
        noisy = told(Prototypes(noise=0.5), who).mechanism
        assert noisy == "noise of standard deviation 0.5 added, without accounting"
    assert "all know" in told(Prototypes(noise=1.0, repeatable_noise=True), "server").mechanism


def test_plans_that_mean_nothing_are_refused():
    wrong = settings_for(CrossEntropy(), Prototypes(temperature=0.0, support=0))
    with pytest.raises(InputError) as told:
        wrong.validate()
    assert len(told.value.problems) == 3
    assert "needs the head" in str(told.value)
    with pytest.raises(InputError, match="more than the sum"):
        settings_for(protection="masked").validate()
