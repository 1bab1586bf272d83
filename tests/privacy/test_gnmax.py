"""What GNMax costs: against dp-accounting, by hand, and against true Rényi divergences."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from colabel.errors import InputError
from colabel.privacy.gnmax import (
    ORDERS,
    Gnmax,
    converted,
    data_dependent,
    log_other,
    spent,
    spent_with,
)

DELTA = 1e-5


@pytest.mark.parametrize(("n_points", "noise"), [(1, 2.0), (100, 10.0), (1000, 40.0), (7, 0.9)])
def test_the_guarantee_is_that_of_a_gaussian_of_sensitivity_root_2(n_points, noise):
    dp = pytest.importorskip("dp_accounting")
    accountant = dp.rdp.RdpAccountant(orders=ORDERS)
    event = dp.GaussianDpEvent(noise / math.sqrt(2))
    accountant.compose(dp.SelfComposedDpEvent(event, n_points))
    expected = accountant.get_epsilon(DELTA)
    assert spent(Gnmax(noise=noise), n_points).epsilon == pytest.approx(expected, rel=1e-9)


def test_by_hand():
    """100 labels under σ = 20: α/4 at every order; the best of four orders, on paper."""
    tried = [
        order / 4 + math.log((order - 1) / order) - math.log(DELTA * order) / (order - 1)
        for order in (7.0, 7.5, 8.0, 8.5)
    ]
    assert spent(Gnmax(noise=20.0), 100).epsilon == pytest.approx(min(tried), rel=0.01)
    assert spent(Gnmax(noise=20.0), 0).epsilon == 0


@pytest.mark.parametrize(("n_points", "noise"), [(100, 20.0), (1000, 100.0)])
def test_it_is_a_little_more_than_the_truth(n_points, noise):
    """The Gaussian mechanism composes exactly (Dong et al. 2022)."""
    mu = math.sqrt(2 * n_points) / noise

    def excess(epsilon):
        below = norm.cdf(mu / 2 - epsilon / mu)
        return below - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - DELTA

    exact = brentq(excess, 0, 100)
    assert exact < spent(Gnmax(noise=noise), n_points).epsilon < 1.15 * exact


def chances(counts, noise):
    """Who leads under noise, by numerical integration."""

    def leads(label):
        others = [n for at, n in enumerate(counts) if at != label]

        def density(x):
            return norm.pdf(x, counts[label], noise) * np.prod(norm.cdf(x, others, noise))

        return quad(density, counts[label] - 12 * noise, counts[label] + 12 * noise, epsabs=0)[0]

    return np.array([leads(label) for label in range(len(counts))])


def neighbours(counts):
    """One vote goes from one class to another."""
    for source in np.flatnonzero(counts):
        for target in range(len(counts)):
            if source != target:
                other = np.array(counts)
                other[[source, target]] += [-1, 1]
                yield other


@pytest.mark.parametrize("counts", [[20, 0], [14, 6], [10, 10], [40, 0, 0], [18, 9, 3], [30, 5, 5]])
@pytest.mark.parametrize("noise", [2.0, 6.0])
def test_no_neighbour_diverges_more_than_the_theorem_says(counts, noise):
    orders = np.array([1.5, 2.0, 4.0, 8.0])
    bound = data_dependent(np.array([counts]), noise, orders)[0]
    mine = chances(counts, noise)
    for other in neighbours(counts):
        theirs = chances(other, noise)
        for order, most in zip(orders, bound, strict=True):
            exact = math.log((mine**order * theirs ** (1 - order)).sum()) / (order - 1)
            assert exact <= most + 1e-6
            assert most <= order / noise**2 + 1e-12


def test_the_theorem_by_hand():
    """[PATE Thm. 6] as it is written, where nothing is too small for a float."""
    noise, order = 4.0, 3.0
    q = 2 * norm.cdf(-25 / (math.sqrt(2) * noise))
    mu_2 = noise * math.sqrt(math.log(1 / q))
    mu_1 = mu_2 + 1
    first, second = mu_1 / noise**2, mu_2 / noise**2
    a = (1 - q) / (1 - (q * math.exp(second)) ** ((mu_2 - 1) / mu_2))
    b = math.exp(first) / q ** (1 / (mu_1 - 1))
    by_hand = math.log((1 - q) * a ** (order - 1) + q * b ** (order - 1)) / (order - 1)
    found = data_dependent(np.array([[25, 0, 0]]), noise, np.array([order]))[0, 0]
    assert found == pytest.approx(by_hand, rel=1e-9)
    assert found < 0.1 * order / noise**2


@pytest.mark.parametrize("counts", [[20, 0, 0], [9, 8, 3], [5, 5, 5]])
def test_another_label_is_no_more_probable_than_said(counts):
    for noise in (1.0, 5.0, 50.0):
        true = 1 - chances(counts, noise)[np.argmax(counts)]
        assert true <= math.exp(log_other(np.array([counts]), noise)[0]) + 1e-9


def test_agreement_is_cheaper_and_never_dearer():
    plan = Gnmax(noise=40.0)
    sure = np.tile([250, 0, 0], (500, 1))
    torn = np.tile([84, 83, 83], (500, 1))
    assert spent_with(plan, sure).epsilon < 0.3 * spent(plan, 500).epsilon
    assert spent_with(plan, torn).epsilon == pytest.approx(spent(plan, 500).epsilon)


def test_confident_answers_pay_for_every_check_and_for_as_many_labels_as_there_may_be():
    plan = Gnmax(noise=10.0, threshold=60.0, threshold_noise=20.0, most_answers=30)
    expected = converted(100 * ORDERS / (2 * 20.0**2) + 30 * ORDERS / 10.0**2, DELTA)
    assert spent(plan, 100) == expected
    counts = np.tile([50, 50], (100, 1))
    assert spent_with(plan, counts).epsilon == pytest.approx(expected.epsilon)
    counts[:80] = [100, 0]  # whichever points get a label: the dearest are counted
    at_most = spent_with(plan, counts).epsilon
    assert spent_with(plan, np.tile([100, 0], (100, 1))).epsilon < at_most < expected.epsilon


def test_settings_are_checked_all_at_once():
    assert Gnmax(noise=1.0).problems() == []
    assert len(Gnmax(noise=-1.0, threshold=3.0, most_answers=-1, delta=0.0).problems()) == 4
    assert len(Gnmax(noise=1.0, threshold_noise=2.0).problems()) == 1
    with pytest.raises(InputError, match="between 0 and 1"):
        converted(ORDERS, 0.0)
