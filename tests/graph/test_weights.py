import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel.graph.distances import StoredDistances
from colabel.graph.neighbours import nearest
from colabel.graph.weights import adjacency, normalise, similarities, towards


def random_distances(n, n_bits, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(0, n_bits + 1, (n, n), dtype=np.uint16), 1)
    return StoredDistances(upper + upper.T, n_bits)


def slow_graph(matrix, n_bits, k):
    """[XCLP Alg. 1, lines 6-9], one entry at a time."""
    n = len(matrix)
    similar = np.cos(np.pi * matrix.astype(float) / n_bits)
    similar[2 * matrix.astype(int) >= n_bits] = 0
    nearest_only = np.zeros((n, n))
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: (matrix[i, j], j))
        for j in others[:k]:
            nearest_only[i, j] = max(similar[i, j], 0.0)
    weights = nearest_only + nearest_only.T
    degrees = weights.sum(axis=1)
    scaled = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if weights[i, j] > 0:
                scaled[i, j] = weights[i, j] / np.sqrt(degrees[i] * degrees[j])
    return weights, scaled


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 25), st.integers(1, 24), st.integers(0, 10**6))
def test_graph_equals_the_papers_formulas(n, k, seed):
    distances = random_distances(n, 64, seed)
    k = min(k, n - 1)
    weights = adjacency(nearest(distances, k))
    want_weights, want_scaled = slow_graph(distances.matrix, 64, k)
    np.testing.assert_allclose(weights.matrix.toarray(), want_weights, atol=1e-12)
    np.testing.assert_allclose(normalise(weights).toarray(), want_scaled, atol=1e-12)


def test_opposite_points_have_no_edge_and_equal_points_the_strongest():
    assert similarities(np.array([0, 32, 64], np.uint16), 64).tolist() == [1.0, 0.0, 0.0]


def test_points_without_neighbours_do_not_become_nan():
    distances = StoredDistances(np.full((4, 4), 64, np.uint16), 64)
    graph = normalise(adjacency(nearest(distances, 2)))
    assert graph.nnz == 0


def test_one_step_to_a_new_point_is_its_row_of_the_graph():
    rng = np.random.default_rng(3)
    distances = random_distances(12, 64, 3)
    weights = adjacency(nearest(distances, 3))
    new = StoredDistances(rng.integers(0, 32, (5, 12), dtype=np.uint16), 64)
    near = nearest(new, 4, same_points=False)
    got = towards(near, weights).toarray()
    degrees = weights.matrix.toarray().sum(axis=1)
    for i in range(5):
        row = np.zeros(12)
        for j, distance in zip(near.indices[i], near.distances[i], strict=True):
            if degrees[j] > 0:
                row[j] = max(np.cos(np.pi * distance / 64), 0) / np.sqrt(degrees[j])
        np.testing.assert_allclose(got[i], row / row.sum(), atol=1e-12)


def test_sharpness_is_a_power_and_density_is_divided_out():
    distances = random_distances(15, 64, 4)
    near = nearest(distances, 4)
    plain = adjacency(near, sharpness=1.0).matrix.toarray()
    nearest_only = np.zeros((15, 15))
    np.put_along_axis(nearest_only, near.indices, similarities(near.distances, 64) ** 3, axis=1)
    cubed = nearest_only + nearest_only.T
    np.testing.assert_allclose(adjacency(near, sharpness=3).matrix.toarray(), cubed)
    even = adjacency(near, density_correction=True)
    degrees = np.where(plain.sum(axis=1) > 0, plain.sum(axis=1), 1)
    np.testing.assert_allclose(even.matrix.toarray(), plain / np.outer(degrees, degrees))
    np.testing.assert_allclose(even.density, degrees)
