"""Noise of which every site adds a share to its votes, inside the secure sum.

The shares of `n_least` sites add up to discrete Laplace noise, whose chance of z is
∝ exp(-|z| / scale): with scale = Δ / ε, where Δ is by how much all counts together can change (two
for a changed label), the sums have ε-differential privacy. A discrete Laplace number is the
difference of two geometric ones, and a geometric one is the sum of n negative binomial ones with
parameter 1/n. Shares of further sites are more noise; shares of sites that tell the server their
own do not count, so n_least is how many honest sites every sum has.

A negative binomial number is a sum of logarithmic ones, of which there are a Poisson number; a
logarithmic one is geometric with a random parameter (Kemp 1981). Draws are exact but for
rounding: a factor of about 1 ± scale · 2^-50 on every chance, and parts of about 2^-50.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import dlaplace, laplace, poisson

from colabel.errors import InputError, Problem
from colabel.privacy.mechanisms import Floats, ahead, secret_numbers

Ints = NDArray[np.int64]

_LARGEST = 2.0**30  # of the scale: 2^-53 of it must be small
_DISCRETE_UP_TO = 1000.0
_N_QUANTILES = 100_000


def vote_noise_share(shape: tuple[int, ...], scale: float, n_least: int) -> Ints:
    """What one site adds to its counts."""
    found = []
    if not 0 < scale <= _LARGEST:
        found.append(
            Problem(f"noise of scale {scale!r}", f"Give a number above 0, up to {_LARGEST:.0f}.")
        )
    if n_least < 1:
        found.append(Problem(f"noise shared by {n_least} sites", "Give at least 1."))
    if found:
        raise InputError(found)
    n = math.prod(shape)
    return (_share(n, scale, n_least) - _share(n, scale, n_least)).reshape(shape)


def survives(n_classes: int, scale: float, n_sites: int) -> float:
    """The chance that the largest count is right, ties broken at random, if all sites were right
    and the noise is that of the least number of sites (with more of them there is more noise).
    """
    if scale > _DISCRETE_UP_TO:  # ties are rare: as if noise had all real values
        quantiles = (np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES
        counts = laplace.ppf(quantiles, loc=n_sites, scale=scale)
        return float(np.mean(laplace.cdf(counts, scale=scale) ** (n_classes - 1)))
    most = n_sites + math.ceil(40 * scale)
    counts = np.arange(-most, most + n_sites + 1)
    at, below = dlaplace.pmf(counts, 1 / scale), dlaplace.cdf(counts - 1, 1 / scale)
    right = dlaplace.pmf(counts - n_sites, 1 / scale)
    return float(right @ ahead(below, at, n_classes - 1))


def _share(n: int, scale: float, n_least: int) -> Ints:
    """Negative binomial numbers with parameter 1/n_least and a factor of exp(-1/scale)."""
    log_rest = math.log(-math.expm1(-1 / scale))  # ln(1 - a)
    n_parts = _poisson(n, -log_rest / n_least)
    parts = _logarithmic(int(n_parts.sum()), log_rest)
    whose = np.repeat(np.arange(n), n_parts)
    return np.bincount(whose, weights=parts, minlength=n).astype(np.int64)


def _poisson(n: int, mean: float) -> Ints:
    table = poisson.cdf(np.arange(int(mean + 20 * math.sqrt(mean)) + 40), mean)  # to 2^-60 at least
    return np.searchsorted(table, _uniform(n, "poisson")).astype(np.int64)


def _logarithmic(n: int, log_rest: float) -> Floats:
    log_parameter = np.log1p(-np.exp(_uniform(n, "logarithmic") * log_rest))
    return 1 + np.floor(-_exponential(n) / log_parameter)


def _uniform(n: int, purpose: str) -> Floats:
    """Between 0 and 1, never one of them."""
    return ((secret_numbers(n, purpose) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def _exponential(n: int) -> Floats:
    """Fine everywhere: bits before the first one say how often the range is halved."""
    _, length = np.frexp(secret_numbers(n, "halvings").astype(np.float64))
    return math.log(2) * (64 - np.minimum(length, 64)) - np.log1p(-_uniform(n, "rest") / 2)
