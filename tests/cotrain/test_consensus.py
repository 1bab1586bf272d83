"""Votes become labels: by hand, ties, quorums, noise."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from colabel.cotrain.consensus import ConsensusPlan, check_votes, consensus, count
from colabel.errors import InputError

VOTES = [np.array([0, 1, 2, 2]), np.array([0, 1, 1, -1]), np.array([0, 2, 0, -1])]


def test_majority_by_hand():
    counts = count(VOTES, 3)
    np.testing.assert_array_equal(counts, [[3, 0, 0], [0, 2, 1], [1, 1, 1], [0, 0, 1]])
    np.testing.assert_array_equal(consensus(counts, ConsensusPlan(), 0, 0), [0, 1, -1, 2])


def test_a_qualified_majority_needs_its_quorum_of_the_votes_cast():
    counts = np.array([[9, 1], [8, 2], [3, 0], [0, 0]])
    plan = ConsensusPlan(rule="qualified", quorum=0.9)
    np.testing.assert_array_equal(consensus(counts, plan, 0, 0), [0, -1, 0, -1])


@settings(max_examples=60, deadline=None)
@given(arrays(np.int64, (3, 20), elements=st.integers(-1, 3)))
def test_majority_is_what_counting_by_hand_gives(votes):
    found = consensus(count(votes, 4), ConsensusPlan(), 0, 0)
    for point, label in zip(votes.T.tolist(), found.tolist(), strict=True):
        ranks = Counter(vote for vote in point if vote >= 0).most_common(2)
        clear = ranks and (len(ranks) == 1 or ranks[0][1] > ranks[1][1])
        assert label == (ranks[0][0] if clear else -1)


def test_ties_are_drawn_evenly_repeatably_and_never_for_who_does_not_lead():
    counts = np.tile([2, 0, 2, 1], (3000, 1))
    plan = ConsensusPlan(ties="seeded")
    first = consensus(counts, plan, 5, 1)
    assert set(first.tolist()) == {0, 2}
    assert 0.45 < (first == 0).mean() < 0.55
    np.testing.assert_array_equal(consensus(counts, plan, 5, 1), first)
    assert (consensus(counts, plan, 5, 2) != first).any()
    assert (consensus(counts, ConsensusPlan(), 5, 1) == -1).all()


def test_noise_may_leave_nobody():
    counts = np.array([[-3, -1], [4, -2]])
    np.testing.assert_array_equal(consensus(counts, ConsensusPlan(), 0, 0), [-1, 0])


def test_settings_are_checked_all_at_once():
    found = ConsensusPlan(rule="most", ties="low", quorum=0.0).problems()
    assert len(found) == 3
    assert ConsensusPlan().problems() == []


@pytest.mark.parametrize(
    ("labels", "match"),
    [([0, 3], "predicts 3, which is no class"), ([0], "labels for 2"), ([0, -2], "-2")],
)
def test_a_learner_may_not_say_anything(labels, match):
    with pytest.raises(InputError, match=match):
        check_votes(np.array(labels), 2, 3)
