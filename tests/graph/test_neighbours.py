import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel.graph.distances import StoredDistances
from colabel.graph.neighbours import nearest


def slow_nearest(matrix, k, same_points):
    found = []
    for i, row in enumerate(matrix):
        others = [j for j in range(len(row)) if not (same_points and j == i)]
        found.append(sorted(others, key=lambda j: (row[j], j))[:k])
    return np.array(found)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(2, 30), st.integers(1, 40), st.booleans(), st.integers(1, 9), st.integers(0, 10**6)
)
def test_nearest_is_sorting_by_distance_then_index(n, m, same, highest, seed):
    rng = np.random.default_rng(seed)
    shape = (n, n) if same else (n, m)
    matrix = rng.integers(0, highest, shape, dtype=np.uint16)  # many ties
    k = int(rng.integers(1, shape[1] - same + 1))
    found = nearest(StoredDistances(matrix, 16), k, same_points=same)
    expected = slow_nearest(matrix, k, same)
    np.testing.assert_array_equal(found.indices, expected)
    np.testing.assert_array_equal(found.distances, np.take_along_axis(matrix, expected, 1))


def test_many_copies_of_a_point_are_not_their_own_neighbours():
    """The papers' code drops the first hit, which among duplicates is not the point itself."""
    found = nearest(StoredDistances(np.zeros((600, 600), np.uint16), 16), 3)
    assert not (found.indices == np.arange(600)[:, None]).any()


def test_fewer_neighbours_are_a_prefix():
    matrix = np.random.default_rng(0).integers(0, 99, (20, 20), dtype=np.uint16)
    many, few = (nearest(StoredDistances(matrix, 99), k) for k in (9, 4))
    np.testing.assert_array_equal(many.first(4).indices, few.indices)


@pytest.mark.parametrize("k", [0, 5])
def test_impossible_k_is_refused(k):
    with pytest.raises(ValueError, match="k must be between 1 and 4"):
        nearest(StoredDistances(np.zeros((5, 5), np.uint16), 8), k)
