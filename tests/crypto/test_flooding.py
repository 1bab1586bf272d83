"""Flooding against plain integers, its distribution, and the bound on what it lets through."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import kstest

import slow_lwe as slow
from colabel.crypto import flooding
from colabel.randomness import data

KNOWN = json.loads((Path(__file__).parent / "vectors" / "lwe.json").read_text())
SEED = bytes(range(32))


def whole(found):
    """As Python's integers, with a sign."""
    return [
        [slow.centred(int(low) + slow.LIMB * int(high)) for low, high in zip(*rows, strict=True)]
        for rows in zip(*found, strict=True)
    ]


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known["purpose"])
def test_known_answers(known):
    what = bytes.fromhex(known["seed"]), known["purpose"], *known["shape"], known["width_bits"]
    wanted = [[int(text) for text in row] for row in known["flood"]]
    assert slow.flood(*what) == wanted
    found = flooding.flood(*what)
    assert whole(found) == [[slow.centred(number) for number in row] for row in wanted]
    assert all((np.abs(limb) <= 2**39).all() for limb in found)


@settings(max_examples=30, deadline=None)
@given(
    st.binary(min_size=32, max_size=32), st.integers(1, 4), st.integers(1, 4), st.integers(41, 77)
)
def test_any_flood_by_hand(seed, n_rows, n_columns, width_bits):
    found = whole(flooding.flood(seed, "flood", n_rows, n_columns, width_bits))
    assert found == slow.flood(seed, "flood", n_rows, n_columns, width_bits)
    largest = 3 * 2 ** (width_bits - 1)
    assert all(-largest <= number < largest for row in found for number in row)


def spline(x):
    """The density of a sum of three uniform numbers, −1.5 … 1.5."""
    x = np.abs(x)
    return np.where(x < 0.5, 0.75 - x**2, np.where(x < 1.5, (1.5 - x) ** 2 / 2, 0.0))


def below(x):
    """Its integral."""
    inner = 0.5 + 0.75 * x - x**3 / 3
    outer = np.where(x < 0, (1.5 + x) ** 3 / 6, 1 - (1.5 - x) ** 3 / 6)
    return np.where(np.abs(x) < 0.5, inner, np.where(x < -1.5, 0, np.where(x > 1.5, 1, outer)))


def flood_is_a_sum_of_three(width_bits=65):
    found = flooding.flood(SEED, "flood", 300, 300, width_bits)
    values = (found.low + found.high * 2.0**40).reshape(-1) / 2.0**width_bits
    return (
        kstest(values, below).pvalue > 1e-6
        and abs(values.var() / 0.25 - 1) < 5 * np.sqrt(2 / values.size)
        and abs(values.mean()) < 5 * 0.5 / np.sqrt(values.size)
        and abs((values[1:] * values[:-1]).mean()) < 5 * 0.25 / np.sqrt(values.size)
        and kstest(found.low.reshape(-1) / 2.0**40 + 0.5, "uniform").pvalue > 1e-6
    )


def test_its_distribution():
    assert flood_is_a_sum_of_three()
    assert flood_is_a_sum_of_three(77)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_other_sums_are_caught(monkeypatch, number):
    monkeypatch.setattr(flooding, "N_UNIFORM", number)
    assert not flood_is_a_sum_of_three()


def test_the_fisher_information_of_its_density():
    def integrand(x):
        slope = -2 * x if abs(x) < 0.5 else -np.sign(x) * (1.5 - abs(x))
        return slope**2 / float(spline(x))

    edges = (-1.5, -0.5, 0.5, 1.5)
    found = sum(quad(integrand, a, b)[0] for a, b in pairwise(edges))
    assert found == pytest.approx(flooding.FISHER, rel=1e-9)
    assert round(flooding.FISHER, 3) == 4.562


@pytest.mark.parametrize("shift_bits", [0, 3, 6])
def test_one_number_shows_no_more_than_the_bound(shift_bits):
    """The distance of the exact distributions of 2^8-wide floods, one of them shifted."""
    width, shift = 2**8, 2**shift_bits
    one = np.full(width, 1 / width)
    density = np.concatenate([np.convolve(np.convolve(one, one), one), np.zeros(shift)])
    distance = np.abs(density - np.roll(density, shift)).sum() / 2
    bound = 2 ** flooding.log_distance(1, shift**2, 8)
    assert distance <= bound
    assert bound < 2 * distance


@pytest.mark.parametrize("n_numbers", [10, 1000])
def test_many_numbers_show_no_more_than_the_bound(n_numbers):
    """Who knows the shifts and sees all numbers does no better: the best test, 20,000 times."""
    rng, width_bits = data(n_numbers, "flooding distance"), 16
    shifts = rng.normal(0, 0.3 * 2**width_bits / np.sqrt(n_numbers), n_numbers)
    gaps = shifts / 2**width_bits
    bound = 2 ** flooding.log_distance(n_numbers, float((shifts**2).mean()), width_bits)
    ratios = []
    for _ in range(20):
        seen = rng.random((1000, n_numbers, 3), dtype=np.float32).sum(axis=2) - 1.5
        with np.errstate(divide="ignore"):
            logs = np.log(spline(seen - gaps)) - np.log(np.maximum(spline(seen), 1e-30))
        ratios.append(np.exp(logs.sum(axis=1)))
    distance = np.maximum(0, 1 - np.concatenate(ratios)).mean()
    assert distance <= bound + 5 / np.sqrt(20_000)
    assert bound < 4 * distance


def test_the_bound_grows_as_stated():
    at = flooding.log_distance(1000, 3.0, 65)
    assert flooding.log_distance(4000, 3.0, 65) == pytest.approx(at + 1)
    assert flooding.log_distance(1000, 12.0, 65) == pytest.approx(at + 1)
    assert flooding.log_distance(1000, 3.0, 66) == pytest.approx(at - 1)
    assert flooding.log_distance(0, 3.0, 65) == flooding.log_distance(1, 3.0, 65)
