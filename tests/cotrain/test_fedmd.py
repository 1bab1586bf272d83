"""FedMD: its phases in order, on points with superclasses of which each site knows one kind."""

import numpy as np
import pytest
from test_networks import learners
from worlds import draw, trees, world

from colabel.cotrain.learners import Examples, Learner
from colabel.data.site import from_groups
from colabel.engines.faults import Fault
from colabel.errors import InputError
from colabel.jobs.cotrain import learn_alone
from colabel.jobs.fedmd import MdLearner, Passes, fedmd_sites, one_fine_class_each
from colabel.learning.cotraining import NetworkLearner
from colabel.learning.models import ModelPlan
from colabel.learning.plan import LocalPlan, OptimiserPlan


class Diary(Learner):
    """Writes down what it is told."""

    takes_shares = True

    def __init__(self):
        self.calls = []

    def learn(self, own, public, turn):
        self.calls.append((len(own), len(public), public.shares is not None, turn))

    def predict(self, points):
        return np.zeros(len(points), np.int64)

    def shares(self, points):
        return np.tile(np.array([0.5, 0.3, 0.2]), (len(points), 1))


def test_phases_come_in_the_order_of_the_algorithm():
    sites, public = world(n_public=50)
    held = {name: Diary() for name in sites.names}
    labelled = Examples(public, np.zeros(50, np.int64))
    passes = Passes(public=2, own=1, digest=1, revisit=2)
    outcome = fedmd_sites(sites, labelled, held, rounds=2, passes=passes, n_shared=20)
    transfer = [(50, 0, False, 0), (50, 0, False, 1), (12, 0, False, 2)]
    turns = [(0, 20, True, 3), (12, 0, False, 4), (12, 0, False, 5)]
    again = [(*call[:3], call[3] + 3) for call in turns]
    assert held["site-0"].calls == transfer + turns + again
    assert outcome.learners is held
    assert outcome.result.shares.shape == (20, 3)
    sent = [e.bytes_up for e in outcome.costs.exchanges if e.step == "label"]
    assert max(sent) <= 20 * 3 * 4 + 400


def hierarchy(n, seed, n_coarse=3, n_fine=3):
    """Superclasses lie together; each has kinds that lie apart from each other."""
    places = np.random.default_rng(42)
    centres = 3.0 * places.normal(size=(n_coarse, 1, 6)) + 2.5 * places.normal(
        size=(n_coarse, n_fine, 6)
    )
    rng = np.random.default_rng(seed)
    fine = rng.integers(0, n_coarse * n_fine, n)
    points = centres.reshape(-1, 6)[fine] + rng.normal(size=(n, 6))
    return points, fine, fine // n_fine


def test_each_site_has_one_kind_of_every_superclass():
    _, fine, coarse = hierarchy(3000, 0)
    for n_sites in (2, 3, 7):
        dealt = one_fine_class_each(fine, coarse, n_sites, np.random.default_rng(1))
        for site in range(n_sites):
            for group in range(3):
                assert len(np.unique(fine[(dealt == site) & (coarse == group)])) == 1
        # no kind is kept from everybody if there are sites for it
        assert (dealt == -1).any() == (n_sites < 3)
    with pytest.raises(InputError, match="fewer sites"):
        one_fine_class_each(fine[:9], coarse[:9], 9, np.random.default_rng(1))


def accuracy(learners, points, truth):
    return np.mean([(held.predict(points) == truth).mean() for held in learners.values()])


def test_it_helps_where_each_site_knows_one_kind():
    points, fine, coarse = hierarchy(260, 0)
    dealt = one_fine_class_each(fine[:200], coarse[:200], 3, np.random.default_rng(1))
    sites = from_groups(points[:200], coarse[:200], dealt.astype(str), ["a", "b", "c"])
    public = Examples(points[200:], coarse[200:])
    model = ModelPlan(name="mlp_head", shape=(6,), n_classes=3)
    plan = LocalPlan(steps=40, labelled_batch=16, optimiser=OptimiserPlan(name="adam", rate=0.003))

    def make():
        return {name: NetworkLearner(model, plan, 0, name) for name in sites.names}

    together, alone = make(), make()
    fedmd_sites(sites, public, together, rounds=3, votes="clear")
    learn_alone(sites, alone, turns=8)
    new, _, truth = hierarchy(2000, 5)
    assert accuracy(together, new, truth) > accuracy(alone, new, truth) + 0.05


def test_what_the_public_labels_and_the_digest_are_for():
    """Leave one out, and the models are others."""
    sites, _ = world()
    points, truth = draw(60, 3)
    public = Examples(points, truth)
    found = []
    for passes in (Passes(), Passes(public=0), Passes(digest=0), Passes(revisit=0)):
        held = learners(sites)
        fedmd_sites(sites, public, held, rounds=2, passes=passes, votes="clear")
        found.append(held["site-0"].save()["head.weight"])
    for other in found[1:]:
        assert np.abs(found[0] - other).max() > 1e-4


def test_a_site_that_restarts_goes_on_to_the_bit():
    sites, _ = world()
    public = Examples(*draw(60, 3))
    plain, again = learners(sites), learners(sites)
    fedmd_sites(sites, public, plain, rounds=3, votes="clear")
    faults = [Fault("site-1", "label", "restart")]
    fedmd_sites(sites, public, again, rounds=3, votes="clear", faults=faults)
    for name, array in plain["site-1"].save().items():
        np.testing.assert_array_equal(array, again["site-1"].save()[name])


def test_what_cannot_work_is_said_before():
    sites, _ = world()
    points, truth = draw(60, 3)
    with pytest.raises(InputError, match="without a label"):
        fedmd_sites(sites, Examples(points, np.full(60, -1)), learners(sites))
    with pytest.raises(InputError, match="100 of 60") as told:
        fedmd_sites(
            sites, Examples(points, truth), learners(sites), n_shared=100, passes=Passes(own=-1)
        )
    assert len(told.value.problems) == 2
    with pytest.raises(InputError, match="MdLearner cannot learn from probabilities"):
        fedmd_sites(sites, Examples(points, truth), trees(sites))
    wrapped = MdLearner(trees(sites)["site-0"], Examples(points, truth), Passes())
    assert not wrapped.takes_shares
