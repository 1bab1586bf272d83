"""What released labels cost, and whether they are worth anything."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from colabel.errors import InputError
from colabel.privacy.label_accounting import (
    LabelPrivacy,
    changed_labels,
    estimate_sensitivity,
    flip_probability_of,
    noise_scale,
    per_label,
    spent,
    statement,
    survival,
    verdict,
)

MECHANISMS = ("xor", "response", "counts")


def plan(mechanism="response", epsilon=1.0, **settings):
    return LabelPrivacy(mechanism=mechanism, epsilon=epsilon, **settings)


def test_the_worst_case_is_every_label():
    assert changed_labels(plan(), 500) == 500
    assert changed_labels(plan(unit="site"), 500) == 500
    assert changed_labels(plan(sensitivity=30), 500) == 30
    assert changed_labels(plan(sensitivity=3000), 500) == 500


def test_what_the_mechanisms_need():
    assert per_label(plan(epsilon=2.0, sensitivity=40), 500) == pytest.approx(0.05)
    assert noise_scale(plan("counts", 2.0, sensitivity=40), 500) == pytest.approx(40)
    chance = flip_probability_of(plan("xor", 2.0, sensitivity=40), 500, 10)
    assert math.log((1 - chance) / chance) == pytest.approx(2.0 / 80)
    careful = flip_probability_of(plan("xor", 2.0, sensitivity=40, rule="corollary"), 500, 10)
    assert math.log((1 - careful) / careful) == pytest.approx(2.0 / 80 / math.sqrt(10))
    papers = plan("xor", 0.1, sensitivity=1500, rule="corollary")  # s* = 3000 bits
    assert 0.49999 < flip_probability_of(papers, 50_000, 10) < 0.5


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_without_delta_rounds_add_up(mechanism):
    found = spent(plan(mechanism, 0.3, sensitivity=7), 100, 10, 0.0, 5)
    assert found.epsilon == pytest.approx(3.0)
    assert (found.delta, found.by) == (0.0, "added up")


def test_the_papers_rule_costs_less_than_it_says():
    found = spent(plan("xor", 1.0, sensitivity=7, rule="corollary"), 100, 10, 0.0, 4)
    assert found.epsilon == pytest.approx(10 / math.sqrt(4))


def exact(u, n, delta):
    """n answers of two kinds: the loss is u times so many more of one kind than of the other."""
    count = np.arange(n + 1)
    chances, loss = binom.pmf(count, n, 1 / (1 + math.exp(-u))), (2 * count - n) * u

    def excess(epsilon):
        return float(chances @ np.maximum(0, 1 - np.exp(np.minimum(epsilon - loss, 1)))) - delta

    return brentq(excess, 0, n * u)


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "rounds"), [(1.0, 3, 4), (0.5, 20, 30), (0.1, 150, 40), (4, 500, 7)]
)
@pytest.mark.parametrize("mechanism", ["xor", "counts"])
def test_with_delta_it_is_what_theory_says(mechanism, epsilon, sensitivity, rounds):
    found = spent(plan(mechanism, epsilon, sensitivity=sensitivity), 1000, rounds, 1e-5)
    n = 2 * sensitivity * rounds
    assert found.epsilon == pytest.approx(exact(epsilon / (2 * sensitivity), n, 1e-5), rel=1e-6)
    assert found.by == "privacy loss distributions"
    assert found.simple == pytest.approx(epsilon * rounds)


def slow_delta(u, n_classes, n, epsilon):
    """Three answers that matter, one after the other."""
    kept = math.exp(u) / (math.exp(u) + n_classes - 1)
    moved = kept * math.exp(-u)
    losses = {0: 1.0}
    for _ in range(n):
        after = {}
        for loss, chance in losses.items():
            for step, part in ((1, kept), (-1, moved), (0, 1 - kept - moved)):
                after[loss + step] = after.get(loss + step, 0.0) + chance * part
        losses = after
    return sum(p * max(0.0, 1 - math.exp(epsilon - u * loss)) for loss, p in losses.items())


@pytest.mark.parametrize(("u", "n_classes", "n"), [(1.0, 10, 12), (0.2, 3, 60)])
def test_response_counts_the_answers_that_tell_nothing(u, n_classes, n):
    settings = plan("response", u * n, sensitivity=n)
    found = spent(settings, 1000, 1, 1e-4, n_classes)
    assert slow_delta(u, n_classes, n, found.epsilon) == pytest.approx(1e-4, rel=1e-3)
    assert found.epsilon < spent(settings, 1000, 1, 1e-4).epsilon  # without classes: at most


def test_more_rounds_cost_more_and_none_cost_nothing():
    settings = plan(epsilon=0.5, sensitivity=10)
    totals = [spent(settings, 100, rounds, 1e-6, 10).epsilon for rounds in (1, 2, 10, 100)]
    assert totals == sorted(totals)
    assert all(total <= 0.5 * rounds for total, rounds in zip(totals, (1, 2, 10, 100), strict=True))
    assert spent(settings, 100, 0, 1e-6).epsilon == 0


def test_very_many_labels_and_rounds():
    found = spent(plan("xor", 0.1), 50_000, 2000, 1e-5)
    pieces, u = 2 * 50_000 * 2000, 0.1 / 100_000
    assert found.epsilon < 0.2  # about u √n times a few
    assert found.epsilon > u * math.sqrt(pieces)


@pytest.mark.parametrize(
    ("n_classes", "n_sites", "epsilon", "right"),
    [
        (2, 5, 0.5, 0.71),
        (2, 5, 1, 0.88),
        (2, 5, 2, 0.99),
        (10, 5, 1, 0.33),
        (10, 5, 2, 0.71),
        (10, 5, 4, 0.99),
        (10, 50, 1, 0.86),
        (10, 50, 2, 1.0),
    ],
)
def test_planning_numbers(n_classes, n_sites, epsilon, right):
    found = survival(plan(epsilon=epsilon, sensitivity=1), 100, n_classes, n_sites)
    assert found == pytest.approx(right, abs=0.011)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_survival_goes_from_chance_to_certainty(mechanism):
    found = [
        survival(plan(mechanism, epsilon, sensitivity=10), 100, 4, 20)
        for epsilon in (1e-6, 1.0, 5.0, 20.0, 500.0)
    ]
    assert found == sorted(found)
    assert found[0] == pytest.approx(0.25, abs=1e-3)
    assert found[-1] > 0.999


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_noise_is_called_noise(mechanism):
    papers = plan(mechanism, 0.1, sensitivity=1500, estimated=True)
    assert "are noise" in verdict(papers, 50_000, 10, 5)
    assert verdict(plan(mechanism, 50.0, sensitivity=5), 100, 10, 50) is None
    strength = brentq(
        lambda e: survival(plan(mechanism, e, sensitivity=5), 100, 10, 10) - 0.13, 1e-3, 100
    )
    assert "almost only noise" in verdict(plan(mechanism, strength, sensitivity=5), 100, 10, 10)


def test_what_is_said_before_and_after():
    worst = statement(plan(epsilon=100.0), 50, 10, 5, 4, 1e-5)
    assert "for a record; neighbouring: one record of one site replaced" in worst[0]
    assert "50 of 50 labels a round (the worst case)" in worst[1]
    assert "4 rounds of ε = 100" in worst[3]
    assert "at δ = 1e-05" in worst[3]
    assert len(worst) == 5
    noisy = statement(plan(epsilon=0.1, sensitivity=9, estimated=True), 50, 10, 5, 4, 0.0)
    assert "NOT A GUARANTEE" in noisy[1]
    assert noisy[-1].startswith("warning: the labels that are released are noise")
    site = statement(plan("counts", unit="site"), 50, 10, 5, 4, 0.0)
    assert "all data of one site replaced" in site[0]
    assert plan(sensitivity=9, estimated=True).named().endswith("by an estimated sensitivity")


def test_what_means_nothing_is_refused_all_at_once():
    wrong = plan("noise", 0.0, unit="house", sensitivity=0, rule="any", abstaining=True)
    assert len(wrong.problems()) == 7
    assert len(plan(unit="site", sensitivity=5).problems()) == 1
    assert len(plan(estimated=True).problems()) == 1
    assert not plan(sensitivity=5, estimated=True).problems()
    with pytest.raises(InputError) as told:
        spent(plan(epsilon=math.nan), 0, -1, 1.0)
    assert len(told.value.problems) == 4


def nearest(public):
    """A learner whose labels change with single records."""

    def learn(points, labels):
        return labels[np.abs(public[:, None] - points[None, :]).argmin(axis=1)]

    return learn


@pytest.mark.parametrize("change", ["replace", "remove"])
def test_sensitivity_is_estimated_from_below(change):
    rng = np.random.default_rng(0)
    points, public = rng.random(20), rng.random(300)
    labels = rng.integers(0, 3, 20)
    learn = nearest(public)
    few = estimate_sensitivity(learn, points, labels, 3, seed=1, change=change)
    many = estimate_sensitivity(learn, points, labels, 300, seed=1, change=change)
    left_out = [
        np.count_nonzero(
            learn(np.delete(points, row), np.delete(labels, row)) != learn(points, labels)
        )
        for row in range(20)
    ]
    assert few.n_labels <= many.n_labels == max(left_out)  # a copy changes what leaving out does
    assert few == estimate_sensitivity(learn, points, labels, 3, seed=1, change=change)
    assert "not a guarantee" in str(many)


def test_nothing_to_estimate_from_is_refused():
    with pytest.raises(InputError, match="nothing to compare"):
        estimate_sensitivity(nearest(np.ones(2)), np.ones(1), np.zeros(1, int), 5, seed=0)
