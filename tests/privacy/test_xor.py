"""The XOR mechanism: flips are rare enough, frequent enough, and cost what is said."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from colabel.errors import InputError
from colabel.privacy.mechanisms.xor import (
    claimed_epsilon,
    epsilon_per_label,
    flip,
    flip_probability,
    independent_theta,
    row_probabilities,
    survives,
    xor,
)

GENEROUS = 1e-6
LINKED = np.array([[-1.0, 0.3, -0.2], [0.3, -0.5, 0.4], [-0.2, 0.4, -2.0]])


def slow_row_probabilities(theta):
    rows = [np.array(bits[::-1], float) for bits in product((0, 1), repeat=len(theta))]
    weights = np.array([math.exp(row @ theta @ row) for row in rows])
    return weights / weights.sum()


def slow_epsilon_per_label(theta):
    """By the definition: all answers, all pairs of labels (and abstentions)."""
    chances, places = slow_row_probabilities(theta), 2 ** np.arange(len(theta))
    answers = np.arange(2 ** len(theta))
    told = [chances[answers ^ own] for own in (*places, 0)]
    return max(np.log(one / other).max() for one in told for other in told)


def test_the_papers_numbers_are_a_coin():
    """[FedCT §5]: s* = 3000, ε = 0.1, ten classes."""
    flips = flip_probability(independent_theta(0.1, 3000, 10))
    assert ((flips > 0.49999) & (flips < 0.5)).all()
    larger = flip_probability(independent_theta(100, 3000, 10))
    assert (larger < flips).all()


@pytest.mark.parametrize(("epsilon", "s", "n_classes"), [(0.1, 3000, 10), (2.0, 4, 2), (1, 6, 3)])
def test_corollary_1_is_met_with_equality(epsilon, s, n_classes):
    theta = independent_theta(epsilon, s, n_classes)
    assert claimed_epsilon(theta, s) == pytest.approx(epsilon)
    # s bits are s/2 labels
    assert s / 2 * epsilon_per_label(theta) == pytest.approx(epsilon / math.sqrt(n_classes))


@pytest.mark.parametrize(("n_classes", "holds"), [(2, False), (3, False), (4, True), (10, True)])
def test_with_labels_for_bits_corollary_1_fails_for_few_classes(n_classes, holds):
    theta = independent_theta(1.0, 5, n_classes)
    assert (5 * epsilon_per_label(theta) <= 1 + 1e-9) == holds


def test_corollary_1_fails_for_linked_bits():
    theta = -0.1 * np.ones((3, 3))
    assert claimed_epsilon(theta, 2) == pytest.approx(0.6)
    assert epsilon_per_label(theta) == pytest.approx(0.8)
    assert slow_epsilon_per_label(theta) == pytest.approx(0.8)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-3, 0), min_size=2, max_size=5))
def test_cost_of_independent_bits_is_that_of_all_answers(diagonal):
    theta = np.diag(diagonal)
    assert epsilon_per_label(theta) == pytest.approx(slow_epsilon_per_label(theta), abs=1e-9)


def test_cost_of_linked_bits_is_that_of_all_answers():
    assert epsilon_per_label(LINKED) == pytest.approx(slow_epsilon_per_label(LINKED))
    np.testing.assert_allclose(row_probabilities(LINKED), slow_row_probabilities(LINKED))


def test_bits_flip_as_often_as_promised():
    theta, n = np.diag([-0.1, -1.0, -3.0]), 200_000
    label = np.tile([False, True, False], (n, 1))
    flipped = xor(label, theta) ^ label
    for column, chance in zip(flipped.T, flip_probability(theta), strict=True):
        counts = np.bincount(column, minlength=2)
        assert chisquare(counts, [n * (1 - chance), n * chance]).pvalue > GENEROUS
        assert counts[1] > 0.03 * n  # there is noise at all
    np.testing.assert_allclose(flip_probability(theta), 1 / (1 + np.exp([0.1, 1.0, 3.0])))
    together = np.bincount(flipped @ [1, 2, 4], minlength=8)
    assert chisquare(together, n * row_probabilities(theta)).pvalue > GENEROUS


def test_linked_bits_flip_together_as_promised():
    n = 200_000
    label = np.tile([True, False, False], (n, 1))
    flipped = xor(label, LINKED) ^ label
    counts = np.bincount(flipped @ [1, 2, 4], minlength=8)
    assert chisquare(counts, n * slow_row_probabilities(LINKED)).pvalue > GENEROUS
    np.testing.assert_allclose(flipped.mean(axis=0), flip_probability(LINKED), atol=0.01)


def test_bytes_flip_as_bits_do():
    bits = np.ones((50_000, 2), np.uint8)
    found = flip(bits, 0.25)
    assert found.dtype == np.uint8
    assert set(np.unique(found)) == {0, 1}
    assert (found == 0).mean() == pytest.approx(0.25, abs=0.01)
    assert flip(bits, 0.5).mean() == pytest.approx(0.5, abs=0.01)
    assert (flip(bits, np.array([1e-9, 0.5])) == 0).mean(axis=0)[0] < 1e-3


@pytest.mark.parametrize("theta", [independent_theta(1, 2, 3), LINKED])
def test_nobody_can_seed_it(theta):
    bits = np.zeros((1000, 3), bool)
    np.random.seed(0)
    first = xor(bits, theta)
    np.random.seed(0)
    assert (first != xor(bits, theta)).any()
    assert first.any()


def test_noise_between_points_is_refused():
    bits, theta = np.zeros((2, 2), bool), -np.eye(2)
    np.testing.assert_array_equal(xor(bits, 100 * theta, [np.zeros((2, 2))]), bits)
    with pytest.raises(InputError, match="Λ is not 0"):
        xor(bits, theta, [np.ones((2, 2))])


def test_theta_that_means_nothing_is_refused():
    bits = np.zeros((2, 2), bool)
    with pytest.raises(InputError, match="more often than not"):
        xor(bits, np.eye(2))
    with pytest.raises(InputError, match="more often than not"):
        xor(bits, np.array([[-1.0, 5.0], [5.0, -1.0]]))
    with pytest.raises(InputError, match="symmetric"):
        xor(bits, np.array([[-1.0, 0.5], [0.0, -1.0]]))
    with pytest.raises(InputError, match="at most 12 classes"):
        xor(np.zeros((2, 13), bool), -np.ones((13, 13)))
    with pytest.raises(InputError) as told:
        xor(np.zeros((2, 3), bool), -np.eye(2), [np.eye(2)])
    assert len(told.value.problems) == 2
    for chance in (0.6, -0.1, math.nan):
        with pytest.raises(InputError, match="not from 0 to"):
            flip(bits, chance)


@pytest.mark.parametrize(
    ("n_classes", "odds", "n_sites"), [(2, 0.3, 5), (10, 1.0, 5), (4, 0.1, 60)]
)
def test_survival_is_that_of_simulation(n_classes, odds, n_sites):
    rng, n = np.random.default_rng(0), 20_000
    counts = rng.binomial(n_sites, 1 / (1 + math.exp(odds)), (n, n_classes))
    counts[:, 0] = rng.binomial(n_sites, 1 / (1 + math.exp(-odds)), n)
    right = (np.argmax(counts + 0.5 * rng.random(counts.shape), axis=1) == 0).mean()
    assert survives(n_classes, odds, n_sites) == pytest.approx(right, abs=0.02)
