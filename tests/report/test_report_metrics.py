import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

from colabel.report import metrics

labels = st.integers(-1, 4)
pairs = st.lists(st.tuples(st.integers(0, 4), labels), min_size=1, max_size=60)
judged = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=80)


@given(pairs)
def test_accuracies_as_scikit_learn(rows: list[tuple[int, int]]) -> None:
    true, predicted = np.array(rows).T
    assert metrics.accuracy(true, predicted) == pytest.approx(accuracy_score(true, predicted))
    recalls = [np.mean(predicted[true == c] == c) for c in set(true.tolist())]
    assert metrics.balanced_accuracy(true, predicted) == pytest.approx(np.mean(recalls))
    classes = set(true.tolist())
    if set(predicted.tolist()) <= classes and len(classes) > 1:  # else scikit-learn warns
        theirs = balanced_accuracy_score(true, predicted)
        assert metrics.balanced_accuracy(true, predicted) == pytest.approx(theirs)


@given(st.lists(labels, min_size=1, max_size=40))
def test_coverage_counts(found: list[int]) -> None:
    expected = sum(label != -1 for label in found) / len(found)
    assert metrics.coverage(np.array(found)) == pytest.approx(expected)


def test_nothing_to_judge_has_no_score() -> None:
    none, nothing = np.empty(0, np.int64), np.empty(0)
    assert metrics.accuracy(none, none) is None
    assert metrics.balanced_accuracy(none, none) is None
    assert metrics.coverage(none) is None
    assert metrics.expected_calibration_error(nothing, none.astype(bool)) is None
    assert metrics.ranking(np.array([0.5]), np.array([True])) is None


@given(judged, st.integers(1, 20))
def test_bins_and_calibration_as_a_slow_loop(rows: list[tuple[float, bool]], n_bins: int) -> None:
    confidence, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    edges = np.linspace(0, 1, n_bins + 1)
    gap = 0.0
    found = metrics.bins(confidence, right, n_bins)
    for b in range(n_bins):
        last = b == n_bins - 1
        members = [
            (c, r) for c, r in rows if edges[b] <= c and (c < edges[b + 1] or (last and c <= 1))
        ]
        assert found.counts[b] == len(members)
        if members:
            mean_c = sum(c for c, _ in members) / len(members)
            mean_r = sum(r for _, r in members) / len(members)
            assert found.confidence[b] == pytest.approx(mean_c)
            assert found.accuracy[b] == pytest.approx(mean_r)
            gap += len(members) / len(rows) * abs(mean_c - mean_r)
    error = metrics.expected_calibration_error(confidence, right, n_bins)
    assert error == pytest.approx(gap, abs=1e-12)


@given(judged)
def test_ranking_as_roc_auc(rows: list[tuple[float, bool]]) -> None:
    confidence, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    found = metrics.ranking(confidence, right)
    if right.all() or not right.any():
        assert found is None
    else:
        assert found == pytest.approx(roc_auc_score(right, confidence))


@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_homophily_as_a_slow_loop(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    weights, found = half + half.T, rng.integers(-1, 3, n)
    same = total = 0.0
    degrees = dict.fromkeys(range(3), 0.0)
    for i in range(n):
        for j in range(n):
            if found[i] != -1 and found[j] != -1:
                total += weights[i, j]
                same += weights[i, j] * (found[i] == found[j])
                degrees[int(found[i])] += weights[i, j]
    share, chance = metrics.homophily(csr_array(weights), found)
    if total == 0:
        assert share is None
    else:
        assert share == pytest.approx(same / total)
        assert chance == pytest.approx(sum((d / total) ** 2 for d in degrees.values()))
