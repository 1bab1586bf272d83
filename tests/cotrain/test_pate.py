"""PATE: one exchange, labels by noisy votes, a student that has seen nothing else."""

import numpy as np
import pytest
from scipy.stats import norm
from worlds import N_CLASSES, draw, trees, world

from colabel.cotrain.consensus import ConsensusPlan, consensus, count
from colabel.cotrain.learners import Fitted
from colabel.engines.faults import Fault
from colabel.errors import InputError, SitesLost
from colabel.federation.pate import aggregate
from colabel.jobs.cotrain import plan_for
from colabel.jobs.pate import pate_sites
from colabel.privacy.gnmax import Gnmax, spent
from colabel.privacy.label_accounting import LabelPrivacy


class Recorded(Fitted):
    """Remembers what it was given."""

    seen = None

    def learn(self, own, public, turn):
        self.seen = (own, public)
        super().learn(own, public, turn)


def run(sites, public, gnmax=None, faults=(), **settings):
    plan = plan_for(public, N_CLASSES, **{"rounds": 1, **settings})
    teachers = trees(sites)
    student = Recorded(teachers["site-0"].make, N_CLASSES)
    return pate_sites(sites, public, teachers, student, plan, gnmax=gnmax, faults=faults)


def counts_by_hand(sites, public):
    votes = []
    for name, learner in trees(sites).items():
        site = sites[name]
        votes.append(learner.make().fit(site.points, site.labels).predict(public))
    return count(votes, N_CLASSES)


@pytest.mark.parametrize("votes", ["clear", "masked"])
def test_plurality_is_a_plain_loop(votes):
    sites, public = world()
    outcome = run(sites, public, votes=votes)
    counts = counts_by_hand(sites, public)
    np.testing.assert_array_equal(outcome.result.votes, counts)
    expected = consensus(counts, ConsensusPlan(), 0, 0)
    np.testing.assert_array_equal(outcome.result.labels, expected)
    given = expected >= 0
    student = outcome.student.make().fit(public[given], expected[given])
    points, _ = draw(300, 5)
    np.testing.assert_array_equal(outcome.student.predict(points), student.predict(points))
    assert outcome.spent is None


def test_the_student_sees_public_points_and_labels_only():
    sites, public = world()
    outcome = run(sites, public)
    own, shown = outcome.student.seen
    assert len(own) == 0
    given = outcome.result.labels >= 0
    np.testing.assert_array_equal(shown.points, public[given])
    np.testing.assert_array_equal(shown.labels, outcome.result.labels[given])
    assert shown.shares is None


def test_it_is_worth_something():
    sites, public = world(n_sites=8, n_public=600)
    points, truth = draw(2000, 7)
    outcome = run(sites, public)
    student = (outcome.student.predict(points) == truth).mean()
    each = [(held.predict(points) == truth).mean() for held in outcome.teachers.values()]
    assert student > np.mean(each) + 0.03


def test_teachers_label_once_and_nothing_comes_back():
    sites, public = world()
    for votes in ("clear", "masked"):
        outcome = run(sites, public, votes=votes)
        assert sum(e.step == "label" for e in outcome.costs.exchanges) == len(sites)
        assert not any(e.step == "finish" for e in outcome.costs.exchanges)
        assert outcome.ledger.seen_by("each site") == []
        own, learner = sites["site-0"], trees(sites)["site-0"]
        alone = learner.make().fit(own.points, own.labels)
        points, _ = draw(200, 5)
        np.testing.assert_array_equal(
            outcome.teachers["site-0"].predict(points), alone.predict(points)
        )


def test_bytes_are_those_of_one_exchange_of_labels():
    sites, public = world(n_public=4000)
    outcome = run(sites, public, votes="clear")
    sent = [e.bytes_up for e in outcome.costs.exchanges if e.step == "label"]
    assert 4000 * 2 / 8 <= min(sent) <= max(sent) <= 4000 * 2 / 8 + 200
    assert 4000 * 2 / 8 <= outcome.bytes_released <= 4000 * 3 / 8
    masked = run(sites, public, votes="masked")
    sent = [e.bytes_up for e in masked.costs.exchanges if e.step == "label"]
    assert 4000 * 3 <= max(sent) <= 4000 * 3 + 400


def test_gnmax_is_the_argmax_of_normal_noise():
    """Of two classes 6 : 4 the first one leads with the chance that the normal law says."""
    counts, plan = np.tile([6.0, 4.0, 0.0], (20_000, 1)), plan_for(np.zeros((1, 1)), 3, rounds=1)
    counts[:, 2] = -1e6
    found = aggregate(counts, plan, Gnmax(noise=3.0))
    expected = norm.cdf(2 / (3 * np.sqrt(2)))
    assert abs((found == 0).mean() - expected) < 4 * np.sqrt(0.25 / 20_000)
    assert (aggregate(counts, plan, Gnmax(noise=3.0)) != found).any()  # never the same noise
    assert (aggregate(counts, plan, Gnmax(noise=1e-3)) == 0).all()


def test_confident_gnmax_answers_where_enough_agree():
    plan = plan_for(np.zeros((1, 1)), 2, rounds=1)
    counts = np.array([[90.0, 10.0], [55.0, 45.0], [10.0, 90.0]] * 50)
    sure = Gnmax(noise=1.0, threshold=75.0, threshold_noise=2.0)
    np.testing.assert_array_equal(aggregate(counts, plan, sure), [0, -1, 1] * 50)
    few = Gnmax(noise=1.0, threshold=75.0, threshold_noise=2.0, most_answers=5)
    found = aggregate(counts, plan, few)
    np.testing.assert_array_equal(found[:9], [0, -1, 1, 0, -1, 1, 0, -1, -1])
    assert (found >= 0).sum() == 5
    edge = aggregate(np.tile([75.0, 25.0], (5000, 1)), plan, sure)
    assert 0.45 < (edge == 0).mean() < 0.55


def test_who_learns_what():
    sites, public = world()
    outcome = run(sites, public, gnmax=Gnmax(noise=0.5))
    published = outcome.ledger.seen_by("everyone")
    assert [entry.mechanism for entry in published] == ["GNMax, σ = 0.5"]
    assert published[0].sites == sites.names
    # the server has exact counts, whatever noise the student's labels have
    np.testing.assert_array_equal(outcome.result.votes, counts_by_hand(sites, public))
    assert any("the sum of all sites' labels" in e.what for e in outcome.ledger.seen_by("server"))
    assert outcome.spent == spent(Gnmax(noise=0.5), len(public))
    plain = run(sites, public, votes="clear")
    assert "no protection" in plain.ledger.seen_by("everyone")[0].mechanism


def test_noise_inside_the_sum_protects_from_the_server_too():
    sites, public = world()
    privacy = LabelPrivacy(mechanism="counts", epsilon=200.0)
    outcome = run(sites, public, privacy=privacy)
    assert (outcome.result.votes != counts_by_hand(sites, public)).any()
    assert outcome.ledger.seen_by("everyone")[0].mechanism == privacy.named()


@pytest.mark.parametrize("votes", ["clear", "masked"])
def test_a_lost_site_has_no_vote(votes):
    sites, public = world()
    outcome = run(sites, public, votes=votes, faults=[Fault("site-1", "label", "before")])
    assert outcome.result.votes.sum(axis=1).max() == len(sites) - 1
    faults = [Fault(name, "label", "before") for name in sites.names]
    with pytest.raises(SitesLost):
        run(sites, public, votes=votes, faults=faults)


def test_what_is_no_pate_is_said_before():
    sites, public = world()
    with pytest.raises(InputError, match="teachers label once"):
        run(sites, public, rounds=3)
    with pytest.raises(InputError, match="noise is -1"):
        run(sites, public, gnmax=Gnmax(noise=-1.0))
    privacy = LabelPrivacy(mechanism="counts", epsilon=2.0)
    with pytest.raises(InputError, match="only one is counted"):
        run(sites, public, gnmax=Gnmax(noise=1.0), privacy=privacy)
    with pytest.raises(InputError, match="no public point a label"):
        run(sites, public, gnmax=Gnmax(noise=1.0, threshold=1e6, threshold_noise=1.0))
