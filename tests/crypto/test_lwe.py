"""Secrets and noise: draw by draw against plain integers, and their distributions."""

import json
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import slow_lwe as slow
from colabel.crypto import lwe
from colabel.errors import InputError

KNOWN = json.loads((Path(__file__).parent / "vectors" / "lwe.json").read_text())
SEED = bytes(range(32))
SEEDS = st.binary(min_size=32, max_size=32)
KINDS = ["ternary", "noise"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [lwe, slow], ids=["fast", "slow"])
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known["purpose"])
def test_known_answers(how, known, kind):
    found = getattr(how, kind)(bytes.fromhex(known["seed"]), known["purpose"], *known["shape"])
    assert [list(row) for row in found] == known[kind]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(SEEDS, st.text(max_size=5), st.integers(0, 6), st.integers(0, 6))
def test_any_draw_by_hand(kind, seed, purpose, n_rows, n_columns):
    found = getattr(lwe, kind)(seed, purpose, n_rows, n_columns)
    assert found.dtype == np.int8
    assert found.shape == (n_rows, n_columns)
    assert found.tolist() == getattr(slow, kind)(seed, purpose, n_rows, n_columns)


def test_bytes_that_would_favour_a_value_are_left_out(monkeypatch):
    """Streams full of 255: the secret comes from what is left, attempt by attempt."""
    raw = {attempt: bytes([255] * 60 + [attempt, 254, 253, 252]) for attempt in range(64)}
    for part in (lwe, slow):
        monkeypatch.setattr(
            part, "stream", lambda seed, purpose, n_bytes: raw[int(purpose.split("/")[1])]
        )
    found = lwe.ternary(SEED, "S", 3, 3)
    assert found.tolist() == slow.ternary(SEED, "S", 3, 3)
    assert found.reshape(-1).tolist() == [-1, 1, 0, -1, 0, 1, 0, -1, 1]


def secrets_are_uniform():
    drawn = lwe.ternary(SEED, "S", 600, 1000)
    values, counts = np.unique(drawn, return_counts=True)
    neighbours = np.bincount((3 * drawn[:, 1:] + drawn[:, :-1] + 4).reshape(-1), minlength=9)
    return (
        values.tolist() == [-1, 0, 1]
        and chisquare(counts).pvalue > 1e-6
        and chisquare(neighbours).pvalue > 1e-6
    )


def test_secrets_are_uniform():
    assert secrets_are_uniform()


def test_secrets_with_a_bias_of_one_in_256_are_caught(monkeypatch):
    true = lwe.stream
    favoured = bytes([*range(255), 0])
    monkeypatch.setattr(lwe, "stream", lambda *what: true(*what).translate(favoured))
    assert not secrets_are_uniform()


def noise_is_binomial():
    """42 coins, centred: so many of each value, and no relation between neighbours."""
    drawn = lwe.noise(SEED, "E", 600, 1000).astype(np.int64)
    wanted = np.array([comb(42, 21 + value) for value in range(-21, 22)]) / 2**42
    counts = np.bincount((drawn + 21).reshape(-1), minlength=43)
    common = wanted * drawn.size > 10
    some = np.append(counts[common], counts[~common].sum())
    expected = np.append(wanted[common], wanted[~common].sum()) * drawn.size
    related = (drawn[:, 1:] * drawn[:, :-1]).mean() * np.sqrt(drawn.size) / 10.5
    return (
        chisquare(some, expected).pvalue > 1e-6
        and abs(drawn.var() / lwe.SIGMA**2 - 1) < 5 * np.sqrt(2 / drawn.size)
        and abs(related) < 5
    )


def test_noise_is_binomial():
    assert noise_is_binomial()
    assert pytest.approx(10.5) == lwe.SIGMA**2


def test_noise_with_fewer_coins_is_caught(monkeypatch):
    monkeypatch.setattr(lwe, "ETA", 20)
    assert not noise_is_binomial()


def test_the_parameters_in_use_are_in_the_table():
    assert lwe.check(lwe.DIMENSION, 80) >= lwe.LEAST_BITS
    for parameters, bits in lwe.SECURITY.items():
        assert lwe.check(*parameters) == bits


@pytest.mark.parametrize(
    ("dimension", "log_q"),
    [(3072, 81), (3072, 79), (3071, 80), (2048, 80), (1024, 27), (4096, 80), (0, 0)],
)
def test_unknown_parameters_are_refused(dimension, log_q):
    """Also those that are better than known ones: nobody has looked at them."""
    what = rf"LWE with n = {dimension} and q = 2\^{log_q} is not known to give 128 bits"
    with pytest.raises(InputError, match=what) as refusal:
        lwe.check(dimension, log_q)
    assert "n = 3072 with q = 2^80" in str(refusal.value)


def test_known_parameters_that_are_weak_are_refused(monkeypatch):
    weak = {(2048, 80): 87.0, (3072, 76): 127.9, (3072, 80): 131.2}
    monkeypatch.setattr(lwe, "SECURITY", weak)
    assert lwe.check(3072, 80) == 131.2
    for parameters in ((2048, 80), (3072, 76)):
        with pytest.raises(InputError, match="is not known to give 128 bits") as refusal:
            lwe.check(*parameters)
        assert refusal.value.problems[0].fix == "Known: n = 3072 with q = 2^80."
