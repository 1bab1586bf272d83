import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from colabel.errors import InputError
from colabel.features import (
    NAMES,
    Centred,
    Identity,
    Moments,
    Order,
    Scaled,
    Standardised,
    build,
    by_name,
    moments,
    total,
)


@pytest.fixture
def sites() -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(6, 6))
    return [rng.normal(size=(n, 6)) @ mixing * [1, 10, 1e3, 1, 1e-3, 1] + n for n in (40, 9, 71)]


def pooled(sites: list[np.ndarray], order: Order) -> Moments:
    return total(moments(site, order) for site in sites)


def test_centred_subtracts_the_pooled_mean(sites: list[np.ndarray]) -> None:
    everything = np.vstack(sites)
    features = Centred(pooled(sites, "sum"))
    np.testing.assert_allclose(features.transform(sites[0]), sites[0] - everything.mean(axis=0))


def test_standardised_is_scikit_learns_on_the_pooled_points(sites: list[np.ndarray]) -> None:
    expected = StandardScaler().fit(np.vstack(sites))
    features = Standardised(pooled(sites, "squares"))
    for site in sites:
        np.testing.assert_allclose(features.transform(site), expected.transform(site), atol=1e-9)


def test_scaled_divides_by_the_mean_of_own_and_median_variance() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 5)) * [1.0, 2.0, 100.0, 1e-3, 3.0] + 7
    points[:, 4] = rng.random(300) < 0.2
    got = Scaled(total([moments(part, "squares") for part in (points[:90], points[90:])]))
    variance = points.var(axis=0)
    usual = np.median(variance[:4])
    expected = (points - points.mean(axis=0)) / np.sqrt((variance + usual) / 2)
    expected[:, 4] = points[:, 4] - points[:, 4].mean()  # zeros and ones are only centred
    np.testing.assert_allclose(got.transform(points), expected, atol=1e-7)


def test_scaled_knows_zeros_and_ones_also_about_an_origin() -> None:
    points = (np.random.default_rng(0).random((50, 2)) < 0.3).astype(float)
    scaled = Scaled(moments(points, "squares", about=[0.25, 0.5]))
    np.testing.assert_allclose(scaled.transform(points), points - points.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e-9, 1e9, -12345.678])
@pytest.mark.parametrize("name", ["standardised", "scaled"])
def test_constant_columns_become_zero(name: str, constant: float) -> None:
    points = np.random.default_rng(0).normal(size=(10_001, 3))
    points[:, 1] = constant
    sums = total([moments(part, "squares") for part in np.array_split(points, 7)])
    rows = build(name, sums).transform(points)
    assert np.isfinite(rows).all()
    np.testing.assert_array_equal(rows[:, 1], 0)
    np.testing.assert_allclose(rows[:, [0, 2]].std(axis=0), 1, rtol=0.1)


def test_a_known_mean_saves_small_variances() -> None:
    points = 1e9 + np.random.default_rng(0).normal(size=(500, 2))
    parts = np.array_split(points, 3)
    mean = Centred(total(moments(part, "sum") for part in parts)).mean
    sums = total(moments(part, "squares", about=mean) for part in parts)
    exact = (points - points.mean(axis=0)) / points.std(axis=0)
    np.testing.assert_allclose(Standardised(sums).transform(points), exact, atol=1e-5)


def test_moments_rounded_to_fixed_point_still_serve(sites: list[np.ndarray]) -> None:
    sites = [np.hstack([site, np.full((len(site), 1), 0.1)]) for site in sites]
    vectors = [moments(site, "squares").to_vector() for site in sites]
    rounded = sum(np.round(vector * 2**24) / 2**24 for vector in vectors)
    features = Standardised(Moments.from_vector(rounded, 7, "squares"), tolerance=2**-20)
    everything = np.vstack(sites)
    expected = StandardScaler().fit_transform(everything)
    rows = features.transform(everything)
    np.testing.assert_allclose(
        rows[:, [0, 1, 2, 3, 5, 6]], expected[:, [0, 1, 2, 3, 5, 6]], atol=1e-4
    )


def test_input_errors(sites: list[np.ndarray]) -> None:
    sums = pooled(sites, "sum")
    with pytest.raises(InputError, match="'squares'"):
        Standardised(sums)
    with pytest.raises(InputError, match="2 columns, the moments 6"):
        Centred(sums).transform(np.ones((3, 2)))
    with pytest.raises(InputError, match="no points"):
        Centred(moments(np.empty((0, 2))))


def test_names() -> None:
    assert all(by_name(name).name == name for name in NAMES)
    assert isinstance(build("identity"), Identity)
    assert isinstance(build("centred", moments(np.ones((2, 2)))), Centred)
    with pytest.raises(InputError, match="Did you mean 'centred'"):
        by_name("centered")
    with pytest.raises(InputError, match="'squares'"):
        build("standardised")
