import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from colabel.graph import scores


@settings(max_examples=80, deadline=None)
@given(arrays(np.float64, (4, 3), elements=st.floats(0, 1e6)))
def test_labels_and_confidences_equal_the_papers_formulas(matrix):
    shares = scores.distributions(matrix)
    labels, confidence = scores.labels(shares), scores.certainty(shares)
    for row, share, label, sure in zip(matrix, shares, labels, confidence, strict=True):
        total = sum(row)
        if total == 0:
            assert (label, sure) == (-1, 0.0)
            continue
        parts = [value / total for value in row]
        np.testing.assert_allclose(share, parts, rtol=1e-12, atol=1e-300)
        entropy = -sum(p * math.log(p) for p in parts if p > 0)
        assert label == parts.index(max(parts))
        np.testing.assert_allclose(sure, 1 - entropy / math.log(3), atol=1e-9)


def test_an_unreached_point_is_minus_one_and_never_nan():
    shares = scores.distributions(np.zeros((2, 4)))
    assert scores.labels(shares).tolist() == [-1, -1]
    assert scores.certainty(shares).tolist() == [0.0, 0.0]


def test_one_class_is_certain_where_it_reaches():
    shares = scores.distributions(np.array([[0.0], [2.0]]))
    assert scores.labels(shares).tolist() == [-1, 0]
    assert scores.certainty(shares).tolist() == [0.0, 1.0]


def test_one_hot_of_unlabelled_is_zero():
    assert scores.one_hot(np.array([1, -1]), 2).tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_probability_sharpens_and_puts_the_prior_back():
    shares = np.array([[0.75, 0.25], [0.75, 0.25], [0.0, 0.0]])
    chosen = np.array([0, 1, -1])
    found = scores.probability(shares, chosen, np.array([1.0, 3.0]), 2.0)
    odds = [0.75**2 * 1, 0.25**2 * 3]
    np.testing.assert_allclose(found, [odds[0] / sum(odds), odds[1] / sum(odds), 0.0])
