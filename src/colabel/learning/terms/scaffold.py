"""SCAFFOLD: correct for what a site's gradients have of their own (Karimireddy et al. 2020).

The server keeps a control variate c, every site its own c_i. A site adds c − c_i to its gradients
and, after K steps at rate η, sets c_i⁺ = c_i − c + (θ_server − θ) / (K η)  (option II); it sends
c_i⁺ − c_i, of which the server adds the sum over sites, divided by the number of all sites, to c.
"""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from colabel.learning.parameters import Parameters, read, tensors, trainable
from colabel.learning.terms.base import Active, Shared, Term
from colabel.learning.work import Step, Work

CONTROL, CHANGE = "control", "control change"


class Scaffold(Term, frozen=True, kw_only=True):
    """As a loss: ⟨c − c_i, θ⟩, whose gradient is the correction."""

    returns: ClassVar[tuple[str, ...]] = (CHANGE,)

    def start(self, work: Work) -> Active:
        """Take c from the server and c_i from memory; both are 0 at first."""
        return _Scaffold(work)

    def send(self, kept: Shared, site: str) -> Shared:
        """c."""
        return {CONTROL: kept[CONTROL]} if CONTROL in kept else {}

    def keep_mean(self, kept: Shared, mean: Shared, share: float) -> Shared:
        """c ← c + |S| / N · mean of c_i⁺ − c_i."""
        change = mean[CHANGE]
        old = kept.get(CONTROL, {name: np.zeros_like(held) for name, held in change.items()})
        return {**kept, CONTROL: {name: old[name] + share * change[name] for name in change}}


class _Scaffold(Active):
    def __init__(self, work: Work) -> None:
        self.work, self.steps = work, 0
        self.now = trainable(work.network)
        self.begin = {name: held.detach().clone() for name, held in self.now.items()}
        self.server = self._control(work.shared)
        self.own = self._control(work.memory)

    def _control(self, source: dict[str, Parameters]) -> dict[str, Tensor]:
        if CONTROL in source:
            return tensors(source[CONTROL])
        return {name: torch.zeros_like(held) for name, held in self.begin.items()}

    def loss(self, step: Step) -> Tensor | None:
        total: Tensor = sum(  # type: ignore[assignment]
            ((self.server[name] - self.own[name]) * held).sum() for name, held in self.now.items()
        )
        return total

    def after_step(self) -> None:
        self.steps += 1

    def finish(self) -> None:
        if not self.steps:
            return
        scale = 1.0 / (self.steps * self.work.rate)
        fresh = {
            name: self.own[name]
            - self.server[name]
            + scale * (self.begin[name] - self.now[name].detach())
            for name in self.now
        }
        self.work.memory[CONTROL] = {name: held.numpy() for name, held in fresh.items()}
        nothing = {name: np.zeros_like(held) for name, held in read(self.work.network).items()}
        changed = {name: (fresh[name] - self.own[name]).numpy() for name in fresh}
        self.work.returned[CHANGE] = nothing | changed
