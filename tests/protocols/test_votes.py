"""Votes: what a plain count gives, and nothing about who."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sessions import Consortium, GiveMatrix, RecordingEngine

from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import InputError, SitesLost
from colabel.protocols.setup import agree
from colabel.protocols.sums.base import Hidden
from colabel.protocols.votes import ballot, count_votes

SETTINGS = {"max_examples": 25, "deadline": None}


def counted(labels, n_classes, engine=LocalEngine, protected=True, **settings):
    """The counts that the server gets for these labels (sites × points), and the run."""
    names = [f"site-{number:03}" for number in range(len(labels))]
    ballots = [ballot(np.array(own), n_classes).matrix for own in labels]
    matrices = {name: [own] for name, own in zip(names, ballots, strict=True)}
    talk = Consortium(matrices=matrices, engine=engine, **settings)

    def conversation():
        n_masks = 1 if protected else -1
        group, sums = yield from agree(
            names, b"plan", n_masks=n_masks, seed_is_public=not protected
        )
        return (yield from count_votes(sums, "votes", dict.fromkeys(group.names, GiveMatrix(0))))

    return talk.engine.run(conversation()), talk


def plain_count(labels, n_classes):
    found = np.zeros((len(labels[0]), n_classes), int)
    for own in labels:
        for point, label in enumerate(own):
            if label >= 0:
                found[point, label] += 1
    return found


@pytest.mark.parametrize("protected", [True, False])
@settings(**SETTINGS)
@given(data=st.data())
def test_counts_are_those_of_counting(protected, data):
    n_classes, n_points = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    own = st.lists(st.integers(-1, n_classes - 1), min_size=n_points, max_size=n_points)
    labels = data.draw(st.lists(own, min_size=2, max_size=6))
    found, _ = counted(labels, n_classes, protected=protected)
    np.testing.assert_array_equal(found, plain_count(labels, n_classes))
    assert found.dtype == np.int64


def test_all_may_abstain():
    found, _ = counted([[-1, -1]] * 3, 2)
    assert not found.any()


@pytest.mark.parametrize(("n_sites", "n_bytes"), [(255, 1), (256, 2), (300, 2)])
def test_more_sites_than_a_byte_can_count(n_sites, n_bytes):
    """All vote for the same class, so that one byte would overflow."""
    found, talk = counted([[0]] * n_sites, 2, engine=RecordingEngine, protected=False)
    np.testing.assert_array_equal(found, [[n_sites, 0]])
    sent = {reply.ring.itemsize for *_, reply in talk.engine.messages if isinstance(reply, Hidden)}
    assert sent == {n_bytes}


@pytest.mark.parametrize("label", [3, 100, -2])
def test_a_vote_for_no_class_is_refused(label):
    with pytest.raises(InputError, match="which is no class"):
        ballot(np.array([0, label]), 3)


def test_what_is_sent_is_as_long_whoever_votes_for_what():
    runs = [[[0, 1, 2]] * 3, [[-1, -1, -1]] * 3, [[2, 2, 2], [0, 0, 0], [-1, 1, 1]]]
    lengths = set()
    for labels in runs:
        _, talk = counted(labels, 3)
        lengths.add(tuple((e.step, e.site, e.bytes_up) for e in talk.engine.costs.exchanges))
    assert len(lengths) == 1


def test_a_lost_site_is_not_counted():
    labels = [[0, 1], [0, 1], [0, 0], [1, 1]]
    found, _ = counted(labels, 2, faults=[Fault("site-003", "votes", "before")])
    np.testing.assert_array_equal(found, plain_count(labels[:3], 2))


def test_one_site_alone_is_not_counted():
    faults = [Fault(name, "votes", "before") for name in ("site-001", "site-002")]
    with pytest.raises(SitesLost, match="its sum would be its data"):
        counted([[0], [1], [1]], 2, faults=faults)
