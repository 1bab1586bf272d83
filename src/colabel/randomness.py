"""Three sources of randomness that never mix.

`data` and `model` are reproducible from a seed and differ from each other for the same seed.
`secret` comes from the operating system and cannot be seeded.
"""

import hashlib
import secrets

import numpy as np


def _stream(door: str, seed: int, purpose: str) -> np.random.SeedSequence:
    tag = hashlib.sha256(f"colabel/{door}/{purpose}".encode()).digest()
    return np.random.SeedSequence([seed, *np.frombuffer(tag, dtype="<u4").tolist()])


def data(seed: int, purpose: str) -> np.random.Generator:
    """Randomness that deals data to sites, hides labels or samples rows."""
    return np.random.default_rng(_stream("data", seed, purpose))


def model(seed: int, purpose: str) -> np.random.Generator:
    """Randomness that initialises or trains a model."""
    return np.random.default_rng(_stream("model", seed, purpose))


def secret(n_bytes: int) -> bytes:
    """Key material, masks and shared seeds: never seedable."""
    return secrets.token_bytes(n_bytes)
