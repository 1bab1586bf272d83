import tracemalloc

import numpy as np
import pytest
from graphs import cliques, clusters, inverse, path, scattered, star
from scipy.sparse import csc_array, csr_array, eye_array

from colabel.graph import refinement, solver, spectrum
from colabel.graph.propagate import influence
from colabel.graph.spectrum import Leading, n_sweeps
from colabel.graph.sweeps import edges, kernels, zeros


def off(graph: csr_array, alpha: float, n_columns: int) -> float:
    exact, columns = inverse(graph, alpha), np.arange(n_columns)
    found = influence(graph, alpha, np.arange(graph.shape[0]), columns)
    return float(np.abs(found - exact[:, columns]).max() / np.abs(exact).max())


@pytest.mark.parametrize("width", [16, 64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_do_what_they_say(width: int, dtype: type) -> None:
    rng, graph, n = np.random.default_rng(0), scattered(77, 5), 77
    compiled, basis = kernels(width), rng.standard_normal((n, 9)).astype(dtype)
    right, now, last = (zeros(n, width, dtype) for _ in range(3))
    for block in (right, now, last):
        assert block.ctypes.data % 64 == 0
        block[:] = rng.standard_normal(block.shape)
    close = {"rtol": 1e-4, "atol": 1e-4}

    parts = zeros(9, width, dtype)
    compiled.project(basis, right, parts)
    np.testing.assert_allclose(parts, basis.T @ right, **close)
    if dtype is np.float64:
        rounded, squares = zeros(n, width, np.float32), np.zeros((1, width))
        compiled.residual(edges(graph), right, now, rounded, squares)
        exact = right - now + graph @ now
        np.testing.assert_allclose(rounded, exact, **close)
        np.testing.assert_allclose(squares[0], (exact**2).sum(axis=0), rtol=1e-12)
        return
    compiled.combine(basis, parts, last)
    np.testing.assert_allclose(last, basis @ parts, rtol=1e-4, atol=1e-3)
    expected = 0.5 * now + 2.0 * (graph @ now) + 0.25 * right - 1.0 * last
    compiled.sweep(edges(graph), np.array([(0.5, 2.0, 0.25, -1.0)], dtype), right, now, last)
    np.testing.assert_allclose(last, expected, rtol=1e-4, atol=1e-3)


def test_leading_vectors_span_the_leading_eigenvectors() -> None:
    graph = clusters(1000)
    matrix = csr_array(0.99 * graph)
    found = spectrum.leading(edges(matrix), 0.99)
    values, vectors = np.linalg.eigh(matrix.toarray())
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(64), atol=1e-5)
    top = vectors[:, values > (found.edge + 0.99) / 2]
    assert top.shape[1]
    assert np.linalg.norm(top - found.vectors @ (found.vectors.T @ top), axis=0).max() < 0.02


def test_nothing_above_the_edge_was_missed_where_little_is_above() -> None:
    graph = star(1000)  # 1, −1, and 998 times 0
    assert spectrum.leading(edges(csr_array(0.99 * graph)), 0.99).edge >= 0.4


@pytest.mark.parametrize(("alpha", "edge"), [(0.5, 0.5), (0.99, 0.8), (0.999, 0.999)])
def test_chebyshev_damps_as_promised(alpha: float, edge: float) -> None:
    sweeps, values = n_sweeps(alpha, edge, 1e-4), np.linspace(-alpha, edge, 500)
    now, last = np.zeros(500), np.zeros(500)
    for own, reach, given, before in spectrum.chebyshev(alpha, edge, sweeps).astype(float):
        now, last = own * now + reach * values * now + given + before * last, now
    assert np.abs(1 - (1 - values) * now).max() < 1.2e-4
    assert sweeps % 2 == 0


def test_bad_leading_vectors_cost_time_but_no_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    def bad(edges, alpha):
        n = len(edges.ends) - 1
        basis = np.linalg.qr(np.random.default_rng(0).standard_normal((n, 64)))[0]
        return Leading(basis.astype(np.float32), np.full(64, 100.0, np.float32), 0.1)

    monkeypatch.setattr(solver, "leading", bad)
    assert off(clusters(800), 0.99, 100) < 1e-7


def test_conjugate_gradients_are_a_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refinement.Block, "_refine", lambda self, way: False)
    for graph in (clusters(600), cliques(600), scattered(600, 1.0)):
        assert off(graph, 0.99, 70) < 1e-7


@pytest.mark.parametrize("make", [clusters, path, star, cliques])
@pytest.mark.parametrize("alpha", [0.9999, 0.999999])
def test_nearly_singular(make, alpha: float) -> None:
    assert off(make(600), alpha, 70) < 1e-6


def test_what_cannot_be_solved_is_an_error() -> None:
    wrong = csr_array(3.0 * clusters(400))
    with pytest.raises(ArithmeticError, match="not normalised"):
        influence(wrong, 0.99, np.arange(400), np.arange(3))


def test_a_dense_graph_is_factorised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_solve_sparse", None)
    dense = scattered(400, 300.0)
    assert off(dense, 0.99, 300) < 1e-7
    assert not solver._is_dense(clusters(2000), 2000)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_whatever_the_number_of_threads(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, columns = clusters(700), np.arange(200)
    expected = influence(graph, 0.99, np.arange(700), columns)
    monkeypatch.setattr(solver, "n_threads", lambda: threads)
    np.testing.assert_array_equal(influence(graph, 0.99, np.arange(700), columns), expected)


def test_memory_is_of_the_size_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "n_threads", lambda: 2)
    n, n_columns = 20_000, 640
    ring = csr_array(eye_array(n, k=1) + eye_array(n, k=-1)) / 2
    some = csc_array(eye_array(n, n_columns))
    tracemalloc.start()
    try:
        solver.solve_rows(csr_array(ring), 0.9, some, np.arange(n))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * 8 * n * n_columns  # the square matrix would be 30 times the result
