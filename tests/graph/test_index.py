"""Neighbours by an index of codes, and influence nearly: against all pairs, and exactly."""

import numpy as np
import pytest

from colabel.errors import InputError
from colabel.federation.plan import LabellingPlan
from colabel.graph.codes import codes, hyperplanes
from colabel.graph.distances import CodeDistances, StoredDistances
from colabel.graph.equalise import Equaliser
from colabel.graph.index import can_index, nearest_by_index
from colabel.graph.neighbours import nearest
from colabel.graph.reach import GAIN, Reach
from colabel.graph.weights import adjacency, normalise
from colabel.jobs.label import label
from consortia import make_sites

N_BITS = 512


def clustered(n=3000, seed=0):
    """Codes of points in twenty clusters."""
    rng = np.random.default_rng(seed)
    centres = 2.0 * rng.standard_normal((20, 12))
    points = centres[rng.integers(0, 20, n)] + rng.standard_normal((n, 12))
    return codes(points, hyperplanes(bytes(32), N_BITS, 12))


def recall(found, exact):
    """The share of the true neighbours' distances that the index reaches, k by k."""
    hits = found.distances <= exact.distances[:, -1:]
    return float(hits.mean())


@pytest.mark.parametrize("equalised", [False, True])
def test_most_true_neighbours_are_found(equalised):
    held = clustered()
    distances = CodeDistances(held, held, N_BITS)
    assert can_index(distances)
    if equalised:
        distances = Equaliser.fit(distances, 12).apply(distances, same_points=True)
    found, exact = nearest_by_index(distances, 10), nearest(distances, 10)
    assert recall(found, exact) > 0.95
    n = len(held)
    assert (found.indices != np.arange(n)[:, None]).all()  # nobody is its own neighbour
    assert ((found.indices >= 0) & (found.indices < n)).all()
    assert (np.diff(found.distances.astype(int), axis=1) >= 0).all()
    assert all(len(set(row)) == 10 for row in found.indices.tolist())


def test_distances_that_are_told_are_true():
    held = clustered(1500)
    distances = CodeDistances(held, held, N_BITS)
    found = nearest_by_index(distances, 5)
    for row in range(0, 1500, 97):
        truth = distances.rows(row, row + 1)[0]
        np.testing.assert_array_equal(truth[found.indices[row]], found.distances[row])


def test_newcomers_are_searched_among_the_old():
    held = clustered(2500)
    distances = CodeDistances(held[:300], held[300:], N_BITS)
    found = nearest_by_index(distances, 10, same_points=False)
    exact = nearest(distances, 10, same_points=False)
    assert found.indices.shape == (300, 10)
    assert recall(found, exact) > 0.95


@pytest.mark.parametrize("n", [12, 40])
def test_hardly_more_points_than_neighbours(n):
    held = clustered(n)
    distances = CodeDistances(held, held, N_BITS)
    found, exact = nearest_by_index(distances, 10), nearest(distances, 10)
    np.testing.assert_array_equal(found.distances, exact.distances)


def test_many_equal_codes():
    held = np.repeat(clustered(30), 40, axis=0)
    distances = CodeDistances(held, held, N_BITS)
    found = nearest_by_index(distances, 10)
    assert (found.distances == 0).mean() > 0.95
    assert all(len(set(row)) == 10 for row in found.indices.tolist())


def test_a_stored_matrix_has_no_codes_to_index():
    assert not can_index(StoredDistances(np.zeros((3, 3), np.uint16), 8))


def test_influence_nearly_is_within_its_bound():
    held = clustered(800)
    near = nearest(CodeDistances(held, held, N_BITS), 10)
    graph, columns = normalise(adjacency(near)), np.arange(0, 800, 20)
    every = np.arange(800)
    exact = Reach(graph, 0.9, columns).part(every)
    reach = Reach(graph, 0.9, columns, nearly=True)
    nearly = reach.part(every).astype(np.float64) / reach.scale
    lengths = np.linalg.norm(exact, axis=0)
    assert (np.linalg.norm(nearly - exact, axis=0) <= 1.5 * GAIN * lengths).all()
    assert np.abs(nearly - exact).max() > 0
    few = reach.part(every[:7], np.array([3, 5])).astype(np.float64) / reach.scale
    np.testing.assert_allclose(few, nearly[:7, [3, 5]], atol=2e-3 * exact.max())


def plan_for(sites, **settings):
    return LabellingPlan(
        n_classes=len(sites.classes), n_bits=N_BITS, seed=bytes(32), hamming="sketch", **settings
    )


def test_the_bytes_of_very_many_points_are_foretold(monkeypatch):
    from colabel.federation import cost, graphs
    from colabel.protocols.keys import Group, Welcome

    sites = make_sites(3, 60, n_labels=9)
    took = []
    for large in (1000, 100):
        monkeypatch.setattr(graphs, "LARGE", large)
        plan, group = plan_for(sites), {}
        for site in sites.sites:
            size = len(site), int(site.labelled.sum()), site.points.shape[1]
            group[site.name] = Welcome(*size)
        found = label(sites, plan).costs
        said = cost.cost(Group(group), plan)
        took.append(said.bytes_down)
        assert (found.bytes_up(), found.bytes_down()) == (said.bytes_up, said.bytes_down)
    assert took[1] < took[0]


def test_labels_hardly_change():
    sites = make_sites(4, 300, n_labels=20)
    exact = label(sites, plan_for(sites, neighbor_search="exact"))
    found = label(sites, plan_for(sites, neighbor_search="index"))
    same = [(exact.own[name].labels == found.own[name].labels).mean() for name in sites.names]
    assert np.mean(same) > 0.97


def test_an_index_needs_codes():
    sites = make_sites(2, 20)
    plan = LabellingPlan(
        n_classes=len(sites.classes), n_bits=64, hamming="dealer", neighbor_search="index"
    )
    with pytest.raises(InputError, match="shows the server no codes"):
        label(sites, plan)


def test_influence_in_parts_gives_the_same_labels(monkeypatch):
    from colabel.federation import influence

    sites = make_sites(3, 60, n_labels=9)
    whole = label(sites, plan_for(sites))
    monkeypatch.setattr(influence, "MOST_SENT", 1000)
    parts = label(sites, plan_for(sites))
    assert sum(e.step == "influence.part" for e in parts.costs.exchanges) > 3
    for name in sites.names:
        np.testing.assert_array_equal(parts.own[name].labels, whole.own[name].labels)
