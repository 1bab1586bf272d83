"""Randomised response: the chances are exactly the promised ones."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from colabel.errors import InputError
from colabel.privacy.mechanisms import ALL
from colabel.privacy.mechanisms import randomised_response as response
from colabel.privacy.mechanisms.randomised_response import keeps, n_values, randomised_response

GENEROUS = 1e-6
EPSILON = st.floats(1e-9, 100)


@pytest.mark.parametrize(("n_classes", "epsilon"), [(2, 0.1), (3, 1.0), (10, 2.0), (7, 5.0)])
def test_answers_have_the_promised_chances(n_classes, epsilon):
    label, n = n_classes - 1, 200_000
    found = randomised_response(np.full(n, label), n_classes, epsilon)
    kept = math.exp(epsilon) / (math.exp(epsilon) + n_classes - 1)
    expected = np.full(n_classes, (1 - kept) / (n_classes - 1))
    expected[label] = kept
    assert chisquare(np.bincount(found, minlength=n_classes), n * expected).pvalue > GENEROUS
    assert keeps(n_classes, epsilon) == pytest.approx(kept)


@pytest.mark.parametrize("label", [-1, 0, 2])
def test_an_abstention_is_one_more_answer(label):
    n, epsilon = 200_000, 1.0
    found = randomised_response(np.full(n, label), 3, epsilon, abstaining=True)
    kept = keeps(3, epsilon, abstaining=True)
    expected = np.full(4, (1 - kept) / 3)
    expected[label + 1] = kept
    assert kept == pytest.approx(math.e / (math.e + 3))
    assert chisquare(np.bincount(found + 1, minlength=4), n * expected).pvalue > GENEROUS


@settings(deadline=None)
@given(epsilon=EPSILON, n_options=st.integers(2, 1000))
def test_no_answer_tells_more_than_epsilon(epsilon, n_options):
    """Of what is drawn, in whole numbers: every other answer has `other`, the label the rest."""
    other = n_values(n_options, epsilon)
    own = ALL - (n_options - 1) * other
    assert own >= other >= 1
    assert math.log(Fraction(own, other)) <= epsilon
    assert own / ALL == pytest.approx(keeps(n_options, epsilon), abs=1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 3.0])
def test_labels_do_move(epsilon):
    labels = np.random.default_rng(0).integers(0, 10, 50_000)
    moved = (randomised_response(labels, 10, epsilon) != labels).mean()
    assert moved == pytest.approx(1 - keeps(10, epsilon), abs=0.015)
    assert moved > 0.2


def test_nobody_can_seed_it():
    labels = np.zeros(1000, int)
    np.random.seed(0)
    first = randomised_response(labels, 10, 0.1)
    np.random.seed(0)
    assert (first != randomised_response(labels, 10, 0.1)).mean() > 0.5


def test_very_large_epsilon_changes_nothing_that_can_be_seen():
    labels = np.random.default_rng(0).integers(0, 5, (100, 7))
    np.testing.assert_array_equal(randomised_response(labels, 5, 1e6), labels)


def test_no_labels_no_answers():
    assert randomised_response(np.empty(0, int), 5, 1.0).shape == (0,)


def test_what_cannot_be_answered_is_refused_all_at_once():
    with pytest.raises(InputError) as told:
        randomised_response(np.array([0, -1, 7]), 1, 0.0)
    assert len(told.value.problems) == 4
    with pytest.raises(InputError, match="make abstaining one of the answers"):
        randomised_response(np.array([0, -1]), 2, 1.0)
    for epsilon in (math.nan, math.inf, -1.0):
        with pytest.raises(InputError, match="ε per label"):
            randomised_response(np.array([0]), 2, epsilon)


def simulated(n_classes, epsilon, n_sites, abstaining, n=20_000):
    """All sites label class 0; the winner is the first of the largest of randomly nudged counts."""
    rng = np.random.default_rng(1)
    kept = keeps(n_classes, epsilon, abstaining=abstaining)
    chances = np.full(n_classes + abstaining, kept * math.exp(-epsilon))
    chances[0] = kept
    votes = rng.multinomial(n_sites, chances / chances.sum(), n)[:, :n_classes]
    return (np.argmax(votes + 0.5 * rng.random(votes.shape), axis=1) == 0).mean()


@pytest.mark.parametrize("abstaining", [False, True])
@pytest.mark.parametrize(
    ("n_classes", "epsilon", "n_sites"),
    [(2, 0.5, 5), (2, 0.1, 4), (10, 1.0, 5), (10, 1.0, 50), (3, 0.2, 300), (50, 1.0, 120)],
)
def test_survival_is_that_of_simulation(n_classes, epsilon, n_sites, abstaining):
    found = response.survives(n_classes, epsilon, n_sites, abstaining=abstaining)
    assert found == pytest.approx(simulated(n_classes, epsilon, n_sites, abstaining), abs=0.02)


@pytest.mark.parametrize("n_classes", [2, 5, 40])
def test_many_sites_are_counted_as_exactly_as_some(n_classes, monkeypatch):
    for epsilon in (0.1, 0.5, 1.0, 3.0):
        exact = response.survives(n_classes, epsilon, 100)
        monkeypatch.setattr(response, "_EXACT_UP_TO", 10)
        assert response.survives(n_classes, epsilon, 100) == pytest.approx(exact, abs=1e-3)
        monkeypatch.undo()


def test_one_site_survives_as_often_as_its_label():
    assert response.survives(7, 1.5, 1) == pytest.approx(keeps(7, 1.5))
