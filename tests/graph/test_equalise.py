"""Equalised similarities against whitening the points themselves."""

import numpy as np
import pytest

from colabel.graph import equalise
from colabel.graph.codes import codes, hyperplanes
from colabel.graph.distances import CodeDistances, StoredDistances
from colabel.graph.equalise import Equaliser, cosine_table

SEED = bytes(range(32))
LONG = 65_534


def stretched(n, d, seed=0):
    """Unit points that differ mostly along three directions."""
    rng = np.random.default_rng(seed)
    scale = np.where(np.arange(d) < 3, 6.0, 1.0)
    mixing = np.linalg.qr(rng.standard_normal((d, d)))[0]
    points = rng.standard_normal((n, d)) * scale @ mixing
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def exact_distances(rows, columns):
    """Distances of codes that are as fine as uint16 allows."""
    angles = np.arccos(np.clip(rows @ columns.T, -1, 1))
    return StoredDistances(np.rint(angles / np.pi * LONG).astype(np.uint16), LONG)


def whitened(points, reference):
    """Points times the inverse root of the reference's second moments plus the ridge."""
    n, d = reference.shape
    moments = reference.T @ reference / n
    ridge = equalise.RIDGE / min(d, n - 1)
    values, vectors = np.linalg.eigh(moments)
    root = (vectors / np.sqrt(values + ridge)) @ vectors.T
    out = points @ root
    return out / np.linalg.norm(out, axis=1, keepdims=True)


@pytest.mark.parametrize("most", [1000, 60])
def test_it_is_whitening_without_the_points(most, monkeypatch):
    monkeypatch.setattr(equalise, "MOST_SAMPLED", most)
    monkeypatch.setattr(equalise, "RIDGE", 2.0)
    monkeypatch.setattr(equalise, "_LEAST_KEPT", 0.0)
    points = stretched(300, 24)
    distances = exact_distances(points, points)
    found = Equaliser.fit(distances, 24).apply(distances).rows(0, 300)
    cosines = cosine_table(LONG)[found]
    unit = whitened(points, points)
    error = np.abs(cosines - unit @ unit.T)
    assert error.max() < (0.01 if most == 1000 else 0.35)  # a sample of 60 knows less
    assert error.mean() < (0.002 if most == 1000 else 0.06)
    plain = np.abs(points @ points.T - unit @ unit.T)
    assert plain.mean() > 2 * error.mean()


def test_points_that_differ_evenly_stay_as_they_are():
    points = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 40)))[0]
    distances = exact_distances(points, points)
    found = Equaliser.fit(distances, 40).apply(distances).rows(0, 40)
    np.testing.assert_allclose(cosine_table(LONG)[found], points @ points.T, atol=0.05)


def test_newcomers_are_equalised_alike():
    points = stretched(200, 16)
    old, new = points[:150], points[150:]
    equaliser = Equaliser.fit(exact_distances(old, old), 16)
    found = equaliser.apply(exact_distances(new, old)).rows(0, 50)
    again = equaliser.apply(exact_distances(old, old)).rows(100, 150)
    unit_new, unit_old = whitened(new, old), whitened(old, old)
    np.testing.assert_allclose(cosine_table(LONG)[found], unit_new @ unit_old.T, atol=0.1)
    np.testing.assert_allclose(cosine_table(LONG)[again], unit_old[100:] @ unit_old.T, atol=0.1)


def test_with_real_codes_distances_stay_valid():
    points = stretched(120, 10)
    packed = codes(points, hyperplanes(SEED, 256, 10))
    distances = CodeDistances(packed, packed, 256)
    found = Equaliser.fit(distances, 10).apply(distances)
    assert found.shape == (120, 120)
    rows = found.rows(7, 90)
    assert rows.dtype == np.uint16
    assert rows.max() <= found.n_bits
    np.testing.assert_array_equal(rows, found.rows(0, 120)[7:90])


@pytest.mark.parametrize("n", [2, 3])
def test_very_few_points_do_not_fail(n):
    points = stretched(n, 4)
    distances = exact_distances(points, points)
    assert Equaliser.fit(distances, 4).apply(distances).rows(0, n).shape == (n, n)


def test_equal_points_stay_nearest():
    points = np.repeat(stretched(30, 8), 2, axis=0)
    distances = exact_distances(points, points)
    rows = Equaliser.fit(distances, 8).apply(distances).rows(0, 60)
    partner = np.arange(60) ^ 1
    others = rows.astype(int)
    np.fill_diagonal(others, LONG)
    assert (others.argmin(axis=1) == partner).mean() > 0.95
