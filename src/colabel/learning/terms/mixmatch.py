"""MixMatch: sharpened guesses on unlabelled points, everything mixed (Berthelot et al. 2019).

q̄ = mean of softmax f(weak(u)) over A changes of u;  q_c = q̄_c^(1/T) / Σ q̄^(1/T), without gradient
and in evaluation mode. Labelled and unlabelled points are each mixed with a random other point of
both, λ = max(β, 1 − β) with β from Beta(α, α), and so are their labels p and guesses q;
L = 1/|X'| Σ ℓ(f(x'), p') + weight · ramp-up · 1/(C |U'|) Σ ‖softmax f(u') − q'‖².
"""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from colabel.errors import Problem
from colabel.learning.mixing import blend, shares
from colabel.learning.pseudo_labels import guess
from colabel.learning.terms.base import Active, Term
from colabel.learning.work import Step, Work


class MixMatch(Term, frozen=True, kw_only=True):
    """Both parts of the loss: it stands instead of the cross entropy on labels."""

    uses_unlabelled: ClassVar[bool] = True
    needs_head: ClassVar[bool] = True
    changes: int = 2
    temperature: float = 0.5
    alpha: float = 0.75
    weight: float = 75.0
    ramp_up_rounds: int = 100

    def problems(self) -> list[Problem]:
        """Settings out of their range."""
        checks = (
            (self.changes >= 1, "changes", "Give at least 1."),
            (self.temperature > 0, "temperature", "Give a number above 0."),
            (self.alpha > 0, "alpha", "Give a number above 0."),
        )
        return [
            Problem(f"{name} of MixMatch is {getattr(self, name)!r}", fix)
            for good, name, fix in checks
            if not good
        ]

    def start(self, work: Work) -> Active:
        """Begin a round."""
        return _MixMatch(self, work)


class _MixMatch(Active):
    def __init__(self, term: MixMatch, work: Work) -> None:
        self.term, self.work = term, work
        rounds = term.ramp_up_rounds
        progress = min((work.progress.round + 1) / rounds, 1.0) if rounds else 1.0
        self.weight = term.weight * progress  # linear, as in the paper

    def loss(self, step: Step) -> Tensor | None:
        labelled, unlabelled = step.labelled, step.unlabelled
        if not len(labelled) + len(unlabelled):
            return None
        classes, views = self.work.model.n_classes, []
        targets = [functional.one_hot(labelled.labels, classes).float()]
        views.append(self.work.view(labelled.points))
        if len(unlabelled):
            drawn = [self.work.view(unlabelled.points) for _ in range(self.term.changes)]
            guesses = torch.stack([guess(self.work.network, view) for view in drawn])
            targets.append(sharpen(guesses.mean(dim=0), self.term.temperature))
            views.append(drawn[0])
        points, wanted = self._mixed(torch.cat(views), torch.cat(targets))
        logits, n = self.work.network(points), len(labelled)
        return mixmatch_loss(logits, wanted, n, self.weight)

    def _mixed(self, points: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        share = shares(len(points), self.term.alpha, self.work.generator)
        share = torch.maximum(share, 1.0 - share)  # nearer to the point than to its partner
        partner = torch.randperm(len(points), generator=self.work.generator)
        return blend(points, points[partner], share), blend(targets, targets[partner], share)


def sharpen(probabilities: Tensor, temperature: float) -> Tensor:
    """p^(1/T), again with sum 1."""
    powered = probabilities.pow(1.0 / temperature)
    return powered / powered.sum(dim=1, keepdim=True)


def mixmatch_loss(logits: Tensor, wanted: Tensor, n_labelled: int, weight: float) -> Tensor:
    """Cross entropy on the first rows, squared difference of probabilities on the others."""
    total = torch.zeros(())
    if n_labelled:
        total = functional.cross_entropy(logits[:n_labelled], wanted[:n_labelled])
    if len(logits) > n_labelled:
        found = logits[n_labelled:].softmax(dim=1)
        total = total + weight * (found - wanted[n_labelled:]).square().mean()
    return total
