"""How many bits of security the parameters of `colabel.crypto.lwe` have.

python -m bench.lwe_security    (a second)

The attack is the primal one: n unknown secrets and m of the samples make a lattice that holds one
unusually short vector, and a lattice reduction (BKZ) with blocks of β finds it. An attacker has
more samples than are of use, and takes the number m that is best.

lattice       dimension d = n + m + 1, volume q^m · (σ/σ_s)^n: secrets (ternary, σ_s² = 2/3) are
              scaled to be as long as the noise (σ² = 10.5) [Bai and Galbraith, ACISP 2014]
success       √β · σ ≤ δ^(2β − d) · volume^(1/d)
              [Alkim, Ducas, Pöppelmann and Schwabe, USENIX Security 2016, §6.3]
reduction     δ = ((πβ)^(1/β) · β / (2πe))^(1 / (2(β − 1))) [Chen, thesis 2013]
cost          log₂ = 0.292 β + 16.4 + log₂(8d): sieving in dimension β [Becker, Ducas, Gama and
              Laarhoven, SODA 2016], 8 d times [Albrecht, Player and Scott, JMC 2015]

For scale: n = 2048 with q = 2^54, which the homomorphic encryption standard (2018) lists under 128
bits for ternary secrets, gets 129.7. "Core" is 0.292 β alone, the exponent of one sieve without
anything else; by that count the standard's row has 98. For Kyber-512 the formula finds the block
size that the lattice estimator publishes, 406.

Not counted: the last step of the attack done in a cleverer way (the lattice estimator's figures for
Kyber-512 are 140.3 instead of 143.8 bits, so take off about 3.5 here too), dual attacks, memory,
which a sieve needs as much of as time, and quantum computers.
"""

import math
from typing import NamedTuple

from bench.tables import table
from colabel.crypto.lwe import LEAST_BITS, SECURITY, SIGMA

SIGMA_TERNARY = math.sqrt(2 / 3)
TOLERANCE = 0.1


class Instance(NamedTuple):
    """What is attacked."""

    dimension: int
    log_q: float
    sigma: float = SIGMA
    sigma_secret: float = SIGMA_TERNARY


class Attack(NamedTuple):
    """The cheapest way in."""

    bits: float
    block: int
    samples: int
    dimension: int

    @property
    def core(self) -> float:
        """The exponent of one sieve."""
        return 0.292 * self.block


def estimate(instance: Instance, most_samples: int | None = None) -> Attack:
    """The cheapest attack, over all numbers of samples (to 4; beyond 2n they are of no use)."""
    most = 2 * instance.dimension if most_samples is None else most_samples
    tried = (attack_with(instance, m) for m in range(instance.dimension // 4, most + 1, 4))
    return min(attack for attack in tried if attack is not None)


def attack_with(instance: Instance, samples: int) -> Attack | None:
    """With so many samples and the smallest block that does; None if none does."""
    d = instance.dimension + samples + 1
    least, most = 60, d
    if not succeeds(instance, samples, most):
        return None
    while least < most:
        middle = (least + most) // 2
        if succeeds(instance, samples, middle):
            most = middle
        else:
            least = middle + 1
    return Attack(0.292 * least + 16.4 + math.log2(8 * d), least, samples, d)


def succeeds(instance: Instance, samples: int, block: int) -> bool:
    """Whether the short vector is found."""
    d = instance.dimension + samples + 1
    scaling = instance.dimension * math.log2(instance.sigma / instance.sigma_secret)
    short = 0.5 * math.log2(block) + math.log2(instance.sigma)
    log_volume = samples * instance.log_q + scaling
    return short <= (2 * block - d) * log_delta(block) + log_volume / d


def log_delta(block: int) -> float:
    """log₂ of the root-Hermite factor."""
    inner = math.log2(math.pi * block) / block + math.log2(block / (2 * math.pi * math.e))
    return inner / (2 * (block - 1))


def main() -> None:
    """The table, computed again; stops if the one in the code says anything else."""
    rows = []
    for (dimension, log_q), stated in SECURITY.items():
        found = estimate(Instance(dimension, log_q))
        if abs(found.bits - stated) > TOLERANCE or found.bits < LEAST_BITS:
            raise SystemExit(f"n = {dimension}, q = 2^{log_q}: {stated} stated, {found.bits:.1f}")
        values = (dimension, log_q, f"{found.bits:.1f}", f"{found.core:.1f}", *found[1:])
        rows.append([str(value) for value in values])
    print(*table(["n", "log₂ q", "bits", "core", "β", "m", "d"], rows), sep="\n")


if __name__ == "__main__":
    main()
