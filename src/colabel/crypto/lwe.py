"""Learning with errors: parameters that are known to be safe, and samples of secrets and noise.

Not audited. The estimate of security is that of the primal attack (unique-SVP) with sieving,
`bench/lwe_security.py`; the table holds what it gave, and parameters that are not in it are
refused. For scale: the row n = 2048, q = 2^54 of the homomorphic encryption standard, rated there
at 128 bits, gets 130 by the same formula.
"""

import math

import numpy as np
from numpy.typing import NDArray

from colabel.crypto.prg import fill, stream
from colabel.errors import InputError, Problem

DIMENSION = 3072
ETA = 21  # noise is a difference of two sums of 21 coins
SIGMA = math.sqrt(ETA / 2)  # 3.24

LEAST_BITS = 128
# (dimension, log2 q): bits of security for ternary secrets and noise of standard deviation 3.24
SECURITY = {(2048, 54): 129.7, (2560, 64): 137.4, (3072, 76): 138.8, (3072, 80): 131.2}

Small = NDArray[np.int8]


def check(dimension: int, log_q: int) -> float:
    """Bits of security of these parameters; refuses what is unknown or too little."""
    bits = SECURITY.get((dimension, log_q))
    if bits is None or bits < LEAST_BITS:
        enough = [pair for pair, found in SECURITY.items() if found >= LEAST_BITS]
        known = ", ".join(f"n = {n} with q = 2^{q}" for n, q in enough)
        what = f"LWE with n = {dimension} and q = 2^{log_q} is not known to give {LEAST_BITS} bits"
        raise InputError(Problem(what, f"Known: {known}."))
    return bits


def ternary(seed: bytes, purpose: str, n_rows: int, n_columns: int) -> Small:
    """Uniform in −1, 0, 1: bytes below 255 modulo 3."""
    wanted, kept = n_rows * n_columns, np.empty(0, dtype=np.uint8)
    for attempt in range(64):
        raw = stream(seed, f"{purpose}/{attempt}", wanted + wanted // 64 + 64)
        drawn = np.frombuffer(raw, dtype=np.uint8)
        kept = np.concatenate([kept, drawn[drawn < 255]])
        if len(kept) >= wanted:
            break
    return (kept[:wanted] % 3).astype(np.int8).reshape(n_rows, n_columns) - np.int8(1)


def noise(seed: bytes, purpose: str, n_rows: int, n_columns: int) -> Small:
    """Centred binomial: the first 21 bits of a word against the next 21."""
    words = np.empty((n_rows, n_columns), dtype="<u8")
    fill(seed, purpose, words)
    coins = (1 << ETA) - 1
    words &= np.uint64(coins << ETA | coins)
    words ^= np.uint64(coins << ETA)  # counts tails as 21 − tails
    return np.bitwise_count(words).view(np.int8) - np.int8(ETA)
