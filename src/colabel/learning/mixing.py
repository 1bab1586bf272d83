"""Mixup: points and their labels, blended in pairs (Zhang et al. 2018)."""

import torch
from torch import Tensor

from colabel.randomness import model as randomness


def shares(n: int, alpha: float, generator: torch.Generator) -> Tensor:
    """n draws of Beta(α, α)."""
    # torch draws from this distribution with the global generator only
    seed = int(torch.randint(2**62, (), generator=generator))
    return torch.from_numpy(randomness(seed, "mixup").beta(alpha, alpha, n)).float()


def blend(first: Tensor, second: Tensor, share: Tensor) -> Tensor:
    """share · first + (1 − share) · second, row by row."""
    part = share.reshape((-1,) + (1,) * (first.ndim - 1))
    return part * first + (1.0 - part) * second
