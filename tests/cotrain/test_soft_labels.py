"""Distributed distillation: what is exchanged are soft labels, and they are what is learnt from."""

import numpy as np
import pytest
from test_networks import MODEL, learners, parameters
from worlds import N_CLASSES, world

from colabel.cotrain.learners import Examples
from colabel.engines.faults import Fault
from colabel.jobs.cotrain import cotrain_sites, plan_for
from colabel.learning.cotraining import NetworkLearner
from colabel.learning.plan import LocalPlan, OptimiserPlan

PLAIN = LocalPlan(steps=1, labelled_batch=8, optimiser=OptimiserPlan(rate=0.1))


def run(sites, public, held=None, faults=(), **settings):
    plan = plan_for(public, N_CLASSES, exchange="scores", **{"rounds": 3, **settings})
    return cotrain_sites(sites, public, held or learners(sites), plan, faults=faults)


def by_hand(sites, public, rounds):
    """A plain loop: learn, predict, average the probabilities."""
    held, shared = learners(sites), Examples.nothing(public)
    for turn in range(rounds + 1):
        for name, learner in held.items():
            learner.learn(Examples(sites[name].points, sites[name].labels), shared, turn)
        if turn < rounds:
            last = np.mean([learner.shares(public) for learner in held.values()], axis=0)
            shared = Examples(public, last.argmax(axis=1), last.astype(np.float32))
    return last, held


@pytest.mark.parametrize("votes", ["clear", "masked"])
def test_the_mean_of_the_probabilities_is_that_of_a_plain_loop(votes):
    sites, public = world()
    outcome = run(sites, public, votes=votes)
    shares, held = by_hand(sites, public, 3)
    np.testing.assert_allclose(outcome.result.shares, shares, atol=1e-5)
    np.testing.assert_allclose(outcome.result.shares.sum(axis=1), 1, atol=1e-6)
    for name, learner in held.items():
        np.testing.assert_allclose(
            outcome.learners[name].shares(public), learner.shares(public), atol=1e-4
        )


def test_masked_and_clear_agree():
    sites, public = world()
    clear, masked = (run(sites, public, votes=votes) for votes in ("clear", "masked"))
    np.testing.assert_allclose(clear.result.shares, masked.result.shares, atol=1e-5)
    for name, array in parameters(clear).items():
        np.testing.assert_allclose(array, parameters(masked)[name], atol=1e-4)


def test_a_step_goes_down_the_cross_entropy_of_the_soft_labels():
    """By hand: the bias of the head moves by rate · (targets − probabilities), averaged."""
    _, public = world()
    held = NetworkLearner(MODEL, PLAIN, 0, "a")
    points = public[:8].astype(np.float32)
    soft = np.tile(np.array([0.5, 0.3, 0.2], np.float32), (8, 1))
    before, said = held.save()["head.bias"], held.shares(points)
    held.learn(Examples.nothing(points), Examples(points, soft.argmax(axis=1), soft), 0)
    moved = held.save()["head.bias"] - before
    np.testing.assert_allclose(moved, 0.1 * (soft - said).mean(axis=0), atol=1e-6)
    hard = np.eye(3, dtype=np.float32)[soft.argmax(axis=1)]
    assert np.abs(moved - 0.1 * (hard - said).mean(axis=0)).max() > 0.01


def test_soft_and_hard_labels_lead_elsewhere():
    sites, public = world()
    soft = parameters(run(sites, public, votes="clear"))
    plan = plan_for(public, N_CLASSES, rounds=3, votes="clear")
    hard = parameters(cotrain_sites(sites, public, learners(sites), plan))
    assert any((soft[name] != array).any() for name, array in hard.items())


@pytest.mark.parametrize(("votes", "around"), [("clear", 200), ("masked", 400)])
def test_a_site_sends_four_bytes_a_point_and_class(votes, around):
    sites, public = world(n_public=3000)
    outcome = run(sites, public, rounds=2, votes=votes)
    sent = [e.bytes_up for e in outcome.costs.exchanges if e.step == "label"]
    assert len(sent) == 2 * len(sites)
    assert 3000 * N_CLASSES * 4 <= min(sent) <= max(sent) <= 3000 * N_CLASSES * 4 + around


@pytest.mark.parametrize("votes", ["clear", "masked"])
def test_who_is_lost_is_in_no_mean(votes):
    sites, public = world()
    outcome = run(sites, public, votes=votes, faults=[Fault("site-1", "label", "before")])
    np.testing.assert_allclose(outcome.result.shares.sum(axis=1), 1, atol=1e-5)
    assert outcome.result.votes.sum(axis=1).max() == pytest.approx(len(sites) - 1, abs=1e-4)


def test_the_ledger_calls_them_probabilities():
    sites, public = world()
    outcome = run(sites, public, votes="clear")
    assert any(
        e.what == "each site's class probabilities of the public points"
        for e in outcome.ledger.seen_by("server")
    )
