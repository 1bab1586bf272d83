"""FedAvg as one of the methods in a table."""

import numpy as np
import pytest
from test_networks import ADAM, MODEL, learners
from worlds import draw, world

from colabel.cotrain.learners import Examples
from colabel.federation.training_plan import PrivacyPlan
from colabel.jobs.cotrain import learn_alone
from colabel.jobs.fedavg_for_comparison import fedavg_sites
from colabel.learning.models import make
from colabel.learning.parameters import n_bytes, read


def accuracy(learner, points, truth):
    return (learner.predict(points) == truth).mean()


def test_the_learner_is_the_global_model():
    sites, _ = world()
    points, truth = draw(2000, 7)
    found = fedavg_sites(sites, MODEL, ADAM, 12)
    for name, array in found.training.model.items():
        np.testing.assert_array_equal(found.learner.save()[name], array)
    alone = learners(sites)
    learn_alone(sites, alone, turns=12)
    mean = np.mean([accuracy(held, points, truth) for held in alone.values()])
    assert accuracy(found.learner, points, truth) > mean + 0.02
    found.learner.learn(Examples(points, truth), Examples.nothing(points), 0)  # it can go on


@pytest.mark.parametrize("protection", ["none", "masked"])
def test_a_round_costs_a_model_each_way(protection):
    sites, _ = world()
    found = fedavg_sites(sites, MODEL, ADAM, 3, protection=protection)
    size = n_bytes(read(make(MODEL)))
    assert size <= found.bytes_up <= size + 1500
    assert size <= found.bytes_down <= size + 1500
    assert found.spent is None


def test_privacy_is_counted():
    sites, _ = world()
    found = fedavg_sites(sites, MODEL, ADAM, 3, privacy=PrivacyPlan(clip=0.1, noise=10.0))
    assert 0 < found.spent.epsilon < 5
