"""The two propositions, against simulation."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from colabel.errors import InputError
from colabel.privacy.theory import (
    change_bound,
    convergence_bound,
    figure_5,
    loses_majority,
    sensitivity_bound,
)


def slow_bound(n_public, n_sites, c, t0, last=200_000):
    rounds = np.arange(t0 + 1, last, dtype=float)
    return n_public * ((4 * c / rounds) ** (n_sites / 2)).sum()


@pytest.mark.parametrize(
    ("n_sites", "c", "t0"), [(5, 1, 10), (5, 10, 1000), (50, 2, 30), (8, 3, 0)]
)
def test_the_bound_is_the_sum_it_stands_for(n_sites, c, t0):
    found = convergence_bound(100, n_sites, c, t0)
    assert found == pytest.approx(slow_bound(100, n_sites, c, t0), rel=1e-3)


@pytest.mark.parametrize("n_sites", [3, 4, 5, 10, 51])
def test_a_round_is_bounded(n_sites):
    for accuracy in np.linspace(0.5, 1, 26):
        assert loses_majority(n_sites, accuracy) <= change_bound(1, n_sites, accuracy) + 1e-15
    rng = np.random.default_rng(0)
    votes = (rng.random((100_000, n_sites)) < 0.7).sum(axis=1)
    lost = (2 * votes <= n_sites).mean()
    assert loses_majority(n_sites, 0.7) == pytest.approx(lost, abs=0.01)


def test_two_of_five_votes_are_no_majority():
    """The first line of the proof counts fewer than ⌊m/2⌋ votes only."""
    assert loses_majority(5, 0.9) == pytest.approx(binom.cdf(2, 5, 0.9))
    assert loses_majority(5, 0.9) > 10 * binom.cdf(1, 5, 0.9)


@pytest.mark.parametrize(("n_public", "n_sites", "c", "t0"), [(3, 7, 1.0, 12), (10, 15, 2.0, 15)])
def test_runs_change_no_more_often_than_bounded(n_public, n_sites, c, t0):
    rng, n_runs, last = np.random.default_rng(0), 1000, 200
    changed = np.zeros(n_runs, bool)
    for t in range(t0 + 1, last):
        votes = rng.binomial(n_sites, 1 - c / t, (n_runs, n_public))
        changed |= (2 * votes <= n_sites).any(axis=1)
    bound = convergence_bound(n_public, n_sites, c, t0)
    assert changed.mean() <= bound < 1
    each = [loses_majority(n_sites, 1 - c / t) for t in range(t0 + 1, last)]
    exact = 1 - math.prod((1 - p) ** n_public for p in each)
    assert changed.mean() == pytest.approx(exact, abs=0.02)


def test_what_the_paper_reads_off_figure_5():
    """m = 5 at t0 = 1000: 0.9962 "for c = 1" and 0.7868 for c = 10 are 1 - δ for |U| = 1."""
    assert 1 - convergence_bound(1, 5, 2, 1000) == pytest.approx(0.9962, abs=5e-5)
    assert 1 - convergence_bound(1, 5, 10, 1000) == pytest.approx(0.7868, abs=5e-5)
    assert convergence_bound(10**4, 5, 1, 1000) == pytest.approx(6.74, abs=0.01)
    assert convergence_bound(10**4, 5, 2, 1000) == pytest.approx(38.1, abs=0.1)
    assert convergence_bound(10**4, 5, 10, 1000) == pytest.approx(2132, abs=1)
    for n_sites in (50, 100):
        assert convergence_bound(10**4, n_sites, 10, 1000) < 1e-20


def test_figure_5():
    curves = figure_5(last=50)
    assert [(curve.n_sites, curve.c) for curve in curves[:4]] == [(5, 1), (5, 2), (5, 10), (50, 1)]
    for curve in curves:
        assert len(curve.t0) == len(curve.bound) == 50
        assert (np.diff(curve.bound) < 0).all()
    assert curves[4].bound[29] == convergence_bound(10**4, 50, 2, 30)


def test_very_many_sites_stay_finite_numbers():
    assert convergence_bound(10**4, 2000, 1, 1000) == 0
    tiny = convergence_bound(10**4, 400, 10, 80)
    assert tiny == pytest.approx(slow_bound(10**4, 400, 10, 80), rel=0.01)
    large = convergence_bound(1, 1000, 10, 30)
    assert large == pytest.approx((40 / 31) ** 500, rel=0.1)
    assert convergence_bound(1, 4000, 10, 0) == math.inf


def test_what_the_bounds_do_not_cover_is_refused():
    with pytest.raises(InputError) as told:
        convergence_bound(10, 2, 0, -1)
    assert len(told.value.problems) == 3
    with pytest.raises(InputError, match="accuracy"):
        change_bound(10, 5, 0.4)
    with pytest.raises(InputError, match="rate"):
        sensitivity_bound(10, 0.1, 1.0)


@pytest.mark.parametrize("delta", [0.4, 0.1, 0.01, 1e-6])
@pytest.mark.parametrize("rate", [0.0, 0.001, 0.05, 0.5, 0.9])
def test_independent_changes_stay_below_the_bound(rate, delta):
    for n in (10, 100, 5000):
        assert binom.sf(sensitivity_bound(n, rate, delta), n, rate) <= delta
    changes = np.random.default_rng(0).binomial(100, rate, 20_000)
    assert (changes > sensitivity_bound(100, rate, delta)).mean() <= delta + 0.01


def test_a_record_on_which_everything_depends_breaks_the_bound():
    """Labels change rarely on average, and all at once for one record in a hundred."""
    n_records, n_public = 100, 1000
    values, labels = np.arange(n_records), np.arange(n_records) % 2

    def learn(points, known):
        return np.full(n_public, known[points.argmax()])

    before = learn(values, labels)
    changed = [
        np.count_nonzero(learn(np.delete(values, i), np.delete(labels, i)) != before)
        for i in range(n_records)
    ]
    rate = np.mean(changed) / n_public
    assert rate == 0.01
    assert sensitivity_bound(n_public, rate, 1e-6) < 40 < max(changed) == n_public
