import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score, roc_curve

from colabel.errors import InputError
from colabel.privacy.audit import Candidates, measures
from colabel.privacy.audit.budget import combined, equal_budget, newest
from colabel.privacy.audit.measures import Attempt, curve, interval, judge, roc_auc, tpr_at


def drawn(seed, n=300, apart=0.8, values=None):
    """Scores of members and others; few values make many ties."""
    random = np.random.default_rng(seed)
    member = random.random(n) < 0.4
    scores = random.normal(size=n) + apart * member
    if values:
        scores = np.round(scores * values / 4)
    return scores, member


@pytest.mark.parametrize("values", [None, 12, 2])
@pytest.mark.parametrize("seed", range(5))
def test_auc_as_scikit_learn(seed, values):
    scores, member = drawn(seed, values=values)
    assert roc_auc(scores, member) == pytest.approx(roc_auc_score(member, scores))


@pytest.mark.parametrize("values", [None, 12, 2])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2, 1.0])
def test_hits_at_few_false_alarms_are_the_best_threshold(rate, values):
    scores, member = drawn(7, values=values)
    fpr, tpr, _ = roc_curve(member, scores, drop_intermediate=False)
    assert tpr_at(scores, member, rate) == pytest.approx(tpr[fpr <= rate + 1e-12].max())


def test_too_few_others_say_nothing_of_low_rates():
    scores, member = np.arange(200.0), np.arange(200) >= 101  # 101 others
    assert tpr_at(scores, member, 0.01) == 1.0
    assert tpr_at(scores, member, 0.001) is None
    assert measures.others_needed(0.01) == 100
    assert measures.others_needed(0.001) == 1000
    scores, member = np.arange(198.0), np.arange(198) >= 99
    assert tpr_at(scores, member, 0.01) is None


def test_ties_do_not_help_an_attacker():
    member = np.arange(400) < 200
    assert tpr_at(np.zeros(400), member, 0.01) == 0.0
    assert tpr_at(np.where(member, 1.0, 0.0), member, 0.01) == 1.0


@pytest.mark.parametrize("values", [None, 6])
def test_curves_touch_scikit_learns(values):
    scores, member = drawn(3, n=2000, values=values)
    fpr, tpr, _ = roc_curve(member, scores, drop_intermediate=False)
    ours = curve(scores, member)
    assert ours.fpr[0] == pytest.approx(1 / (~member).sum())
    assert (ours.fpr[-1], ours.tpr[-1]) == (1.0, 1.0)
    best = [tpr[fpr <= rate + 1e-12].max() for rate in ours.fpr]
    np.testing.assert_allclose(ours.tpr, best)


@pytest.mark.parametrize("values", [None, 6])
def test_intervals_as_a_slow_bootstrap(values, monkeypatch):
    monkeypatch.setattr(measures, "_AT_ONCE", 10_000)  # in many blocks
    scores, member = drawn(1, n=120, values=values)
    random, slow = np.random.default_rng(0), []
    mine, others = scores[member], scores[~member]
    for _ in range(2000):
        a, b = random.choice(mine, len(mine)), random.choice(others, len(others))
        slow.append((a[:, None] > b).mean() + (a[:, None] == b).mean() / 2)
    np.testing.assert_allclose(
        interval(scores, member), np.quantile(slow, [0.025, 0.975]), atol=0.012
    )
    wide = interval(scores, member, level=0.999)
    assert wide[0] < interval(scores, member)[0] < interval(scores, member)[1] < wide[1]


def test_intervals_cover_the_truth():
    truth, covered = norm.cdf(0.8 / np.sqrt(2)), 0
    for seed in range(200):
        low, high = interval(*drawn(seed, n=150), draws=400, seed=seed)
        covered += low <= truth <= high
    assert 180 <= covered < 200


def test_a_finding_says_all():
    scores, member = drawn(2, n=400)
    found = judge(Attempt("gap", "labels", scores, 3), member)
    assert (found.attack, found.exposes, found.queries) == ("gap", "labels", 3)
    assert (found.n_members, found.n_others) == (member.sum(), (~member).sum())
    assert found.auc == roc_auc(scores, member)
    assert (found.low, found.high) == interval(scores, member)
    assert found.tpr == {0.01: tpr_at(scores, member, 0.01), 0.001: None}


def test_candidates_are_checked_all_at_once():
    points, labels = np.zeros((5, 2)), np.arange(5)
    member = labels < 2
    Candidates(points, labels, member)
    for wrong in (
        (points[:4], labels, member),
        (points, labels, member.astype(int)),
        (points, labels, labels < 1),
        (points, labels, labels < 4),
        (points, labels - 1, member),
    ):
        with pytest.raises(InputError):
            Candidates(*wrong)
    with pytest.raises(InputError) as refusal:
        Candidates(points, labels - 1, labels < 1)
    assert len(refusal.value.problems) == 2


def test_budgets_are_those_of_the_scarcest():
    assert equal_budget({"FedAvg": 500, "FedCT": 11}) == 11
    assert equal_budget({"FedAvg": 500, "FedCT": 11}, 7) == 7
    with pytest.raises(InputError) as refusal:
        equal_budget({"FedAvg": 500, "FedCT": 11, "DD": 1}, 12)
    assert [p.what.split()[0] for p in refusal.value.problems] == ["FedCT", "DD"]
    for bad in ({}, None), ({"DD": 1}, 0):
        with pytest.raises(InputError):
            equal_budget(*bad)


def test_rounds_are_the_newest_and_count_alike():
    rounds = np.arange(12).reshape(4, 3)
    np.testing.assert_array_equal(newest(rounds, 2), [[6, 7, 8], [9, 10, 11]])
    np.testing.assert_array_equal(newest(rounds, 9), rounds)
    np.testing.assert_array_equal(combined(newest(rounds, 2)), [7.5, 8.5, 9.5])
