import numpy as np
import pytest
from sklearn.decomposition import PCA
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
    Whitened,
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


@pytest.mark.parametrize("order", ["squares", "products"])
def test_standardised_is_scikit_learns_on_the_pooled_points(
    sites: list[np.ndarray], order: Order
) -> None:
    expected = StandardScaler().fit(np.vstack(sites))
    features = Standardised(pooled(sites, order))
    for site in sites:
        np.testing.assert_allclose(features.transform(site), expected.transform(site), atol=1e-9)


def test_without_ridge_whitened_is_pca_whitening_up_to_a_rotation(sites: list[np.ndarray]) -> None:
    everything = np.vstack(sites)
    ours = Whitened(pooled(sites, "products"), ridge=0).transform(everything)
    n = len(everything)
    theirs = PCA(whiten=True).fit_transform(everything) * np.sqrt(n / (n - 1))
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-6)
    np.testing.assert_allclose(np.cov(ours.T, bias=True), np.eye(6), atol=1e-8)


def test_a_large_ridge_leaves_the_directions_of_the_scaled_points(sites: list[np.ndarray]) -> None:
    sums = pooled(sites, "products")
    whitened = Whitened(sums, ridge=1e9).transform(sites[1])
    scaled = Scaled(sums).transform(sites[1])
    np.testing.assert_allclose(
        whitened / np.linalg.norm(whitened), scaled / np.linalg.norm(scaled), atol=1e-6
    )


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
@pytest.mark.parametrize("name", ["standardised", "scaled", "whitened"])
def test_constant_columns_become_zero(name: str, constant: float) -> None:
    points = np.random.default_rng(0).normal(size=(10_001, 3))
    points[:, 1] = constant
    sums = total([moments(part, "products") for part in np.array_split(points, 7)])
    rows = build(name, sums).transform(points)
    assert np.isfinite(rows).all()
    np.testing.assert_array_equal(rows[:, 1], 0)
    size = 1 if name != "whitened" else 1 / np.sqrt(11)  # the ridge adds 10 × the mean variance
    np.testing.assert_allclose(rows[:, [0, 2]].std(axis=0), size, rtol=0.1)


def test_more_columns_than_points_stay_finite() -> None:
    points = np.random.default_rng(0).normal(size=(5, 20))
    rows = Whitened(moments(points, "products"), ridge=0).transform(points)
    assert np.isfinite(rows).all()
    # Five centred points span four directions, each of which is whitened.
    np.testing.assert_allclose(np.linalg.svd(rows)[1], [*[np.sqrt(5)] * 4, 0], atol=1e-6)


def test_a_known_mean_saves_small_variances() -> None:
    points = 1e9 + np.random.default_rng(0).normal(size=(500, 2))
    parts = np.array_split(points, 3)
    mean = Centred(total(moments(part, "sum") for part in parts)).mean
    sums = total(moments(part, "squares", about=mean) for part in parts)
    exact = (points - points.mean(axis=0)) / points.std(axis=0)
    np.testing.assert_allclose(Standardised(sums).transform(points), exact, atol=1e-5)


def test_moments_rounded_to_fixed_point_still_serve(sites: list[np.ndarray]) -> None:
    sites = [np.hstack([site, np.full((len(site), 1), 0.1)]) for site in sites]
    vectors = [moments(site, "products").to_vector() for site in sites]
    rounded = sum(np.round(vector * 2**24) / 2**24 for vector in vectors)
    features = Standardised(Moments.from_vector(rounded, 7, "products"), tolerance=2**-20)
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
    with pytest.raises(InputError, match="'products'"):
        Whitened(pooled(sites, "squares"))
    with pytest.raises(InputError, match="ridge"):
        Whitened(pooled(sites, "products"), ridge=-1)
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
