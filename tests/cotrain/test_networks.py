"""Networks that go on from their last state: saved and restored to the bit, alive in every part."""

import numpy as np
import pytest
from worlds import N_CLASSES, world

from colabel.cotrain.learners import Examples
from colabel.engines.faults import Fault
from colabel.jobs.cotrain import cotrain_sites, plan_for
from colabel.learning.cotraining import NetworkLearner
from colabel.learning.models import ModelPlan
from colabel.learning.plan import LocalPlan, OptimiserPlan

MODEL = ModelPlan(name="mlp_head", shape=(3,), n_classes=N_CLASSES)
ADAM = LocalPlan(steps=5, labelled_batch=8, optimiser=OptimiserPlan(name="adam", rate=0.01))


def learners(sites, plan=ADAM, seed=0):
    return {name: NetworkLearner(MODEL, plan, seed, name) for name in sites.names}


def run(sites, public, held=None, faults=(), **settings):
    plan = plan_for(public, N_CLASSES, **{"rounds": 4, "votes": "clear", **settings})
    return cotrain_sites(sites, public, held or learners(sites), plan, faults=faults)


def parameters(outcome):
    return {
        f"{site}/{name}": array
        for site, held in outcome.learners.items()
        for name, array in held.save().items()
    }


@pytest.mark.parametrize("optimiser", ["adam", "sgd", "rmsprop"])
def test_a_site_that_restarts_goes_on_to_the_bit(optimiser):
    sites, public = world()
    plan = LocalPlan(steps=5, labelled_batch=8, optimiser=OptimiserPlan(name=optimiser, rate=0.01))
    plain = parameters(run(sites, public, learners(sites, plan)))
    faults = [Fault("site-1", "label", "restart")]
    again = parameters(run(sites, public, learners(sites, plan), faults))
    assert plain.keys() == again.keys()
    for name, array in plain.items():
        np.testing.assert_array_equal(array, again[name])


def test_it_goes_on_from_where_it_was():
    sites, _ = world()
    one, two = (NetworkLearner(MODEL, ADAM, 0, "a") for _ in range(2))
    own = Examples(sites.sites[0].points, sites.sites[0].labels)
    nothing = Examples.nothing(own.points)
    for turn in range(3):
        one.learn(own, nothing, turn)
    for turn in range(3):
        fresh = NetworkLearner(MODEL, ADAM, 0, "a")
        fresh.load(two.save())
        two = fresh
        two.learn(own, nothing, turn)
    for name, array in one.save().items():
        np.testing.assert_array_equal(array, two.save()[name])


@pytest.mark.parametrize("exchange", ["labels", "scores"])
def test_public_points_change_what_is_learnt(exchange):
    sites, public = world()
    with_public = run(sites, public, exchange=exchange).learners["site-0"].save()
    alone = learners(sites)["site-0"]
    site = sites.sites[0]
    for turn in range(5):
        alone.learn(Examples(site.points, site.labels), Examples.nothing(site.points), turn)
    assert any((with_public[name] != array).any() for name, array in alone.save().items())


def test_soft_labels_are_not_taken_for_hard_ones():
    sites, public = world()
    hard, soft = (learners(sites)["site-0"] for _ in range(2))
    own = Examples.nothing(public)
    shares = np.tile(np.array([0.5, 0.3, 0.2], np.float32), (len(public), 1))
    hard.learn(own, Examples(public, shares.argmax(axis=1)), 0)
    soft.learn(own, Examples(public, shares.argmax(axis=1), shares), 0)
    for _ in range(60):
        soft.learn(own, Examples(public, shares.argmax(axis=1), shares), 1)
        hard.learn(own, Examples(public, shares.argmax(axis=1)), 1)
    np.testing.assert_allclose(soft.shares(public).mean(axis=0), [0.5, 0.3, 0.2], atol=0.05)
    assert hard.shares(public)[:, 0].mean() > 0.9
