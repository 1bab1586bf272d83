"""The table of security is what the script gives, and the script what its formula says."""

import math

import pytest
from bench import lwe_security
from bench.lwe_security import Attack, Instance, estimate, succeeds

from colabel.crypto import lwe

SMALL = Instance(300, 20)


@pytest.mark.parametrize("parameters", lwe.SECURITY)
def test_the_table_is_what_the_script_gives(parameters):
    found = estimate(Instance(*parameters))
    assert round(found.bits, 1) == lwe.SECURITY[parameters]
    assert found.bits >= lwe.LEAST_BITS == 128


def test_the_script_shows_the_table(capsys):
    lwe_security.main()
    shown = capsys.readouterr().out
    for dimension, log_q in lwe.SECURITY:
        assert f"| {dimension} | {log_q} | {lwe.SECURITY[dimension, log_q]} |" in shown


@pytest.mark.parametrize("entry", [{(3072, 80): 131.4}, {(2048, 80): 87.0}, {(3072, 96): 128.0}])
def test_the_script_stops_at_a_table_that_says_anything_else(entry, monkeypatch):
    monkeypatch.setattr(lwe_security, "SECURITY", entry)
    with pytest.raises(SystemExit, match="stated"):
        lwe_security.main()


def test_a_published_block_size():
    """Kyber-512: β = 406, 2^118.6 for one sieve [malb/lattice-estimator, README]."""
    kyber = Instance(512, math.log2(3329), math.sqrt(1.5), math.sqrt(1.5))
    found = estimate(kyber, most_samples=512)
    assert found.block == 406
    assert round(found.core, 1) == 118.6


def test_the_search_is_that_of_all_blocks_and_all_samples():
    """With δ as its definition has it, and no logarithms."""

    def slow_succeeds(m, block):
        d = SMALL.dimension + m + 1
        delta = ((math.pi * block) ** (1 / block) * block / (2 * math.pi * math.e)) ** (
            1 / (2 * (block - 1))
        )
        scaled = SMALL.sigma / SMALL.sigma_secret
        root = 2 ** (SMALL.log_q * m / d) * scaled ** (SMALL.dimension / d)
        return math.sqrt(block) * SMALL.sigma <= delta ** (2 * block - d) * root

    attacks = []
    for m in range(75, 601, 4):
        block = next((b for b in range(60, 400) if slow_succeeds(m, b)), None)
        if block is not None:
            d = SMALL.dimension + m + 1
            attacks.append(Attack(0.292 * block + 16.4 + math.log2(8 * d), block, m, d))
    assert estimate(SMALL) == min(attacks)


def test_what_makes_it_harder():
    at = estimate(SMALL).bits
    assert estimate(SMALL._replace(dimension=340)).bits > at
    assert estimate(SMALL._replace(log_q=18)).bits > at
    assert estimate(SMALL._replace(sigma=6.0)).bits > at
    assert estimate(SMALL._replace(sigma_secret=2.0)).bits > at
    assert estimate(SMALL, most_samples=150).bits > at
    best = estimate(SMALL)
    assert succeeds(SMALL, best.samples, best.block)
    assert not succeeds(SMALL, best.samples, best.block - 1)
