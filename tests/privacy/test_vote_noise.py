"""Noise in shares: they add up to discrete Laplace noise, and one alone is less."""

import math

import numpy as np
import pytest
from scipy.stats import chisquare, dlaplace, nbinom

from colabel.errors import InputError
from colabel.privacy.mechanisms.vote_noise import survives, vote_noise_share

GENEROUS = 1e-6


def binned(values, most):
    return np.bincount(np.clip(values, -most, most) + most, minlength=2 * most + 1)


def chances_of_a_share(scale, n_least, reach):
    """By the definition: a difference of two negative binomial numbers."""
    one = nbinom.pmf(np.arange(reach + 1), 1 / n_least, -math.expm1(-1 / scale))
    return np.convolve(one, one[::-1])


def folded(chances, most):
    """The same on -most … most, the outer ones added to the last."""
    middle = len(chances) // 2
    found = chances[middle - most : middle + most + 1].copy()
    found[0] += chances[: middle - most].sum()
    found[-1] += chances[middle + most + 1 :].sum()
    return found / found.sum()


@pytest.mark.parametrize(("scale", "n_least"), [(0.5, 1), (2.0, 3), (5.0, 20), (1.0, 200)])
def test_a_share_is_a_difference_of_negative_binomials(scale, n_least):
    n, most = 200_000, max(2, int(3 * scale))
    expected = folded(chances_of_a_share(scale, n_least, int(60 * scale) + 60), most)
    found = binned(vote_noise_share((n,), scale, n_least), most)
    assert chisquare(found, n * expected).pvalue > GENEROUS


@pytest.mark.parametrize(("scale", "n_least"), [(1.0, 2), (4.0, 5), (30.0, 10)])
def test_shares_add_up_to_discrete_laplace_noise(scale, n_least):
    n, most = 100_000, int(4 * scale)
    total = sum(vote_noise_share((n,), scale, n_least) for _ in range(n_least))
    whole = dlaplace.pmf(np.arange(-int(60 * scale), int(60 * scale) + 1), 1 / scale)
    assert chisquare(binned(total, most), n * folded(whole, most)).pvalue > GENEROUS


def test_large_noise_has_the_right_spread():
    scale, n_least = 60_000.0, 3
    total = sum(vote_noise_share((200_000,), scale, n_least) for _ in range(n_least))
    ends = np.quantile(total, [0.01, 0.1, 0.5, 0.9, 0.99]) / scale
    expected = [math.log(0.02), math.log(0.2), 0.0, -math.log(0.2), -math.log(0.02)]
    np.testing.assert_allclose(ends, expected, atol=0.15)


@pytest.mark.parametrize(("scale", "n_least"), [(1.0, 2), (4.0, 5)])
def test_the_sum_of_shares_tells_no_more_than_promised(scale, n_least):
    """From the chances of a share: a count that differs by 1 is at most e^(1/scale) times rarer."""
    total = np.ones(1)
    for _ in range(n_least):
        total = np.convolve(total, chances_of_a_share(scale, n_least, int(60 * scale)))
    middle, most = len(total) // 2, int(10 * scale)
    inner = total[middle - most : middle + most + 1]
    assert np.abs(np.diff(np.log(inner))).max() <= 1 / scale + 1e-6
    fewer = np.ones(1)  # the noise of too few sites does tell more
    for _ in range(n_least - 1):
        fewer = np.convolve(fewer, chances_of_a_share(scale, n_least, int(60 * scale)))
    middle = len(fewer) // 2
    assert np.abs(np.diff(np.log(fewer[middle : middle + 2]))).max() > 1 / scale


def test_there_is_noise_and_nobody_can_seed_it():
    np.random.seed(0)
    first = vote_noise_share((1000, 3), 10.0, 2)
    np.random.seed(0)
    again = vote_noise_share((1000, 3), 10.0, 2)
    assert first.shape == (1000, 3)
    assert first.dtype == np.int64
    assert (first != 0).mean() > 0.5
    assert (first != again).mean() > 0.5


def test_hardly_any_noise():
    assert not vote_noise_share((5, 2), 0.01, 3).any()


def test_noise_that_cannot_be_drawn_is_refused_all_at_once():
    with pytest.raises(InputError) as told:
        vote_noise_share((2,), 0.0, 0)
    assert len(told.value.problems) == 2
    for scale in (math.nan, math.inf, -1.0):
        with pytest.raises(InputError, match="noise of scale"):
            vote_noise_share((2,), scale, 1)


@pytest.mark.parametrize(
    ("n_classes", "scale", "n_sites"),
    [(3, 2.0, 5), (10, 5.0, 20), (2, 999.0, 400), (5, 1001.0, 900)],
)
def test_survival_is_that_of_simulation(n_classes, scale, n_sites):
    rng, n, rest = np.random.default_rng(0), 20_000, -math.expm1(-1 / scale)
    counts = rng.geometric(rest, (n, n_classes)) - rng.geometric(rest, (n, n_classes))
    counts[:, 0] += n_sites
    right = (np.argmax(counts + 0.5 * rng.random(counts.shape), axis=1) == 0).mean()
    assert survives(n_classes, scale, n_sites) == pytest.approx(right, abs=0.02)
