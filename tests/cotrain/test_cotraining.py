"""Algorithm 1 of FedCT: against a plain loop, in clear and under masks, with losses."""

import numpy as np
import pytest
from worlds import N_CLASSES, draw, run, trees, world

from colabel.cotrain.consensus import ConsensusPlan, consensus, count
from colabel.engines.faults import Fault
from colabel.errors import InputError, RemoteProtocolError, SitesLost
from colabel.jobs.cotrain import learn_alone, plan_for

MAJORITY = ConsensusPlan()


def by_hand(sites, public, rounds, rule=MAJORITY, seed=0):
    """Algorithm 1 as it is written."""
    models = {name: learner.make() for name, learner in trees(sites).items()}
    x, y = public[:0], np.empty(0, np.int64)
    for turn in range(rounds):
        votes = []
        for site in sites.sites:
            model = models[site.name] = trees(sites)[site.name].make()
            model.fit(np.concatenate([site.points, x]), np.concatenate([site.labels, y]))
            votes.append(model.predict(public))
        labels = consensus(count(votes, N_CLASSES), rule, seed, turn)
        x, y = public[labels >= 0], labels[labels >= 0]
    for site in sites.sites:
        models[site.name].fit(np.concatenate([site.points, x]), np.concatenate([site.labels, y]))
    return labels, models


@pytest.mark.parametrize("votes", ["clear", "masked"])
@pytest.mark.parametrize("rule", [MAJORITY, ConsensusPlan(rule="qualified", quorum=0.9)])
def test_it_is_the_algorithm(votes, rule):
    sites, public = world()
    labels, models = by_hand(sites, public, 3, rule)
    outcome = run(sites, public, rounds=3, consensus=rule, votes=votes)
    np.testing.assert_array_equal(outcome.result.consensus, labels)
    points, _ = draw(300, 5)
    for name, learner in outcome.learners.items():
        np.testing.assert_array_equal(learner.predict(points), models[name].predict(points))


def test_labels_of_others_help():
    sites, public = world(n_each=9)
    points, truth = draw(2000, 7)
    alone = trees(sites)
    learn_alone(sites, alone)
    together = run(sites, public, rounds=4).learners

    def right(learners):
        return np.mean([(held.predict(points) == truth).mean() for held in learners.values()])

    assert right(together) > right(alone) + 0.03


def test_the_consensus_is_learnt_from(monkeypatch):
    """It would pass unnoticed if P stayed empty: then no label ever changes after turn one."""
    sites, public = world()
    seen = []
    outcome = run(sites, public, rounds=4, judge=lambda held: {"n": _n_fitted(held, seen)})
    own = int(sites.sites[0].labelled.sum())
    assert seen[0] == own
    assert seen[1] > own + 100
    assert outcome.history[1]["changed"] > 0


def _n_fitted(learners, seen):
    seen.append(int(next(iter(learners.values())).model.tree_.n_node_samples[0]))
    return seen[-1]


def test_a_period_saves_turns():
    sites, public = world()
    outcome = run(sites, public, rounds=6, period=3)
    assert len(outcome.history) == 2
    assert sum(e.step == "label" for e in outcome.costs.exchanges) == 2 * len(sites)


def test_labels_travel_packed():
    sites, public = world(n_public=4000)
    outcome = run(sites, public, rounds=2, votes="clear")
    sent = [e.bytes_up for e in outcome.costs.exchanges if e.step == "label"]
    assert max(sent) <= 4000 * 2 / 8 + 200


@pytest.mark.parametrize("votes", ["clear", "masked"])
def test_a_lost_site_has_no_vote(votes):
    sites, public = world()
    faults = [Fault("site-1", "label", "before")]
    outcome = run(sites, public, rounds=1, votes=votes, faults=faults)
    assert outcome.result.votes.sum(axis=1).max() == len(sites) - 1
    assert outcome.result.finished == ("site-0", "site-2", "site-3")


def test_who_answers_late_votes_again_the_next_time():
    sites, public = world()
    found = run(sites, public, rounds=3, votes="clear", faults=[Fault("site-1", "label", "late")])
    assert [len(event["sites"]) for event in found.history][-1] in (3, 4)
    assert found.result.consensus.shape == (200,)


def test_nobody_left_says_so():
    sites, public = world(n_sites=2)
    faults = [Fault(name, "label", "before") for name in sites.names]
    with pytest.raises(SitesLost):
        run(sites, public, rounds=2, votes="clear", faults=faults)


def test_restarted_sites_say_the_same():
    sites, public = world()
    plain = run(sites, public, rounds=3, votes="clear")
    faults = [Fault("site-2", "label", "restart"), Fault("site-0", "label", "twice")]
    again = run(sites, public, rounds=3, votes="clear", faults=faults)
    np.testing.assert_array_equal(again.result.consensus, plain.result.consensus)


def test_the_ledger_says_who_saw_what():
    sites, public = world()
    clear, masked = (run(sites, public, rounds=2, votes=votes) for votes in ("clear", "masked"))
    assert any(e.what == "each site's labels of the public points" and e.mechanism == "in clear"
               for e in clear.ledger.seen_by("server"))  # fmt: skip
    assert not any("labels" in e.what and e.mechanism == "in clear"
                   for e in masked.ledger.seen_by("server"))  # fmt: skip
    for outcome in (clear, masked):
        assert any("consensus" in e.what for e in outcome.ledger.seen_by("each site"))


def test_what_cannot_work_is_said_before():
    sites, public = world()
    learners = trees(sites)
    del learners["site-1"]
    with pytest.raises(InputError, match="no learner"):
        run(sites, public, learners)
    with pytest.raises(InputError, match="same columns"):
        run(sites, public[:, :2])
    with pytest.raises(InputError, match="cannot learn from probabilities"):
        run(sites, public, exchange="scores")
    with pytest.raises(InputError, match="period is 7"):
        run(sites, public, rounds=3, period=7)


def test_other_public_points_are_refused():
    from colabel.engines.local import LocalEngine
    from colabel.federation.cotraining import cotrain
    from colabel.federation.cotraining_role import cotraining_role
    from colabel.federation.own_cotraining import Desk

    sites, public = world()
    learners = trees(sites)
    desks = {name: Desk(public, learners[name]) for name in sites.names}
    desks["site-3"] = Desk(public[::-1], learners["site-3"])
    engine = LocalEngine(sites.sites, cotraining_role(desks.__getitem__))
    with pytest.raises(RemoteProtocolError, match="other public points"):
        engine.run(cotrain(sites.names, plan_for(public, N_CLASSES)))


def test_a_plan_that_is_no_text_is_refused_cleanly():
    from colabel.engines.local import LocalEngine
    from colabel.federation.cotraining_role import cotraining_role
    from colabel.federation.own_cotraining import Desk
    from colabel.protocols.keys import Hello
    from colabel.wire import pack, seal_in

    sites, public = world()
    desk = Desk(public, trees(sites)["site-0"])
    engine = LocalEngine(sites.sites, cotraining_role(lambda name: desk))
    broken = pack(plan_for(public, N_CLASSES)).replace(b"majority", b"\xa6ajority")
    with pytest.raises(RemoteProtocolError, match="not a plan that can be followed"):
        engine.sessions["site-0"].receive(seal_in("s", 0, "server", Hello(broken, -1)))
