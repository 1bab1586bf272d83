import numpy as np
import pytest
from graphs import KINDS, clusters, inverse, scattered
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from colabel.graph.propagate import influence, influence_on_new, solve


def off(found: np.ndarray, exact: np.ndarray, scale: np.ndarray) -> float:
    return float(np.abs(found - exact).max(initial=0.0) / np.abs(scale).max())


@pytest.mark.parametrize("alpha", [0.01, 0.5, 0.99, 0.999])
@pytest.mark.parametrize("kind", KINDS)
def test_influence_is_the_inverse(kind: str, alpha: float) -> None:
    graph = KINDS[kind](600)
    exact = inverse(graph, alpha)
    for n_columns in (1, 20, 90):
        columns = np.random.default_rng(n_columns).permutation(600)[:n_columns]
        found = influence(graph, alpha, np.arange(600), columns)
        assert off(found, exact[:, columns], exact) < 1e-7


@given(
    n=st.integers(2, 320),
    degree=st.sampled_from([0.0, 0.5, 1.0, 3.0, 20.0]),
    alpha=st.floats(0.01, 0.999),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
@settings(deadline=None, max_examples=60)
def test_any_block_of_any_graph(n, degree, alpha, seed, data) -> None:
    graph = scattered(n, degree, seed)
    order = np.random.default_rng(seed).permutation(n)
    rows = order[: data.draw(st.integers(0, n), label="rows")]
    columns = order[::-1][: data.draw(st.integers(0, n), label="columns")]
    exact = inverse(graph, alpha)
    found = influence(graph, alpha, rows, columns)
    assert found.shape == (len(rows), len(columns))
    assert off(found, exact[np.ix_(rows, columns)], exact) < 1e-7


def test_an_isolated_point_reaches_only_itself() -> None:
    graph = scattered(500, 1.0)
    alone = np.flatnonzero(np.diff(graph.indptr) == 0)
    assert len(alone)
    found = influence(graph, 0.99, alone, alone)
    np.testing.assert_allclose(found, np.eye(len(alone)), rtol=0, atol=1e-7)


def test_the_smaller_side_is_solved_for(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, many, few = clusters(400), np.arange(300), np.arange(350, 390)
    widths = []

    def count(graph, alpha, right, rows):
        widths.append(right.shape[1])
        return np.zeros((len(rows), right.shape[1]))

    monkeypatch.setattr("colabel.graph.propagate.solve_rows", count)
    assert influence(graph, 0.99, many, few).shape == (300, 40)
    assert influence(graph, 0.99, few, many).shape == (40, 300)
    assert widths == [40, 40]


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_solve_at_any_scale(scale: float) -> None:
    graph = clusters(500)
    right = np.random.default_rng(0).standard_normal((500, 3)) * [1.0, 1e-9, 0.0]
    exact = inverse(graph, 0.99) @ right
    found = solve(graph, 0.99, right * scale) / scale
    for column in range(2):  # each column to its own precision
        assert off(found[:, column], exact[:, column], exact[:, column]) < 1e-7
    assert not found[:, 2].any()


@pytest.mark.parametrize(("n_new", "n_columns"), [(5, 60), (60, 5), (0, 5), (5, 0)])
def test_influence_on_new(n_new: int, n_columns: int) -> None:
    graph, columns = clusters(400), np.arange(n_columns)
    steps = csr_array(random_array((n_new, 400), density=0.02, rng=np.random.default_rng(0)))
    exact = inverse(graph, 0.99)
    found = influence_on_new(graph, 0.99, steps, columns)
    assert found.shape == (n_new, n_columns)
    assert off(found, steps @ exact[:, columns], exact) < 1e-6
