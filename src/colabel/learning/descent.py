"""Stochastic gradient descent: the same numbers as torch's, without what it does around them.

A site begins every round with a fresh optimiser and takes few steps with it. For small models
torch's hooks, profiler marks and checks then take longer than the numbers themselves.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor


class Mover(Protocol):
    """What moves parameters."""

    def zero_grad(self) -> None:
        """Forget the gradients."""

    def step(self) -> object:
        """Move along them."""


class Descent:
    """g ← ∇ + decay · θ;  m ← momentum · m + g (at first: g);  θ ← θ − rate · m."""

    def __init__(
        self, moving: Sequence[Tensor], rate: float, *, momentum: float, decay: float
    ) -> None:
        self.moving, self.rate, self.momentum, self.decay = moving, rate, momentum, decay
        self.speed: dict[int, Tensor] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for held in self.moving:
            held.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move what has a gradient."""
        for number, held in enumerate(self.moving):
            along = held.grad
            if along is None:
                continue
            if self.decay:
                along = along.add(held, alpha=self.decay)
            if self.momentum:
                along = self._speed(number, along)
            held.add_(along, alpha=-self.rate)

    def _speed(self, number: int, along: Tensor) -> Tensor:
        before = self.speed.get(number)
        now = along.clone() if before is None else before.mul_(self.momentum).add_(along)
        self.speed[number] = now
        return now
