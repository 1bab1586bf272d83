"""SemiFL's loss at a site without labels (Diao et al. 2022).

At the beginning of a round the model as it was sent labels all unlabelled points, in evaluation
mode; those that it is sure of (max q ≥ τ) are kept with their label for the whole round. Each of
them, strongly changed, shall get its label (fix); weakly changed and mixed with any other
unlabelled point, it shall get both labels in the same shares (mix):
L = ℓ(f(strong(x)), y) + weight · [β ℓ(f(x'), y) + (1 − β) ℓ(f(x'), y₂)],  x' = β x + (1 − β) x₂,
with one β from Beta(α, α) per batch. A site that is sure of no point leaves the model as it is.
"""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from colabel.errors import Problem
from colabel.learning.mixing import blend, shares
from colabel.learning.pseudo_labels import predict
from colabel.learning.terms.base import Active, Term
from colabel.learning.work import Step, Work


class FixMix(Term, frozen=True, kw_only=True):
    """fix + weight · mix, over the points of a batch that have a label."""

    uses_unlabelled: ClassVar[bool] = True
    needs_head: ClassVar[bool] = True
    threshold: float = 0.95
    alpha: float = 0.75
    weight: float = 1.0

    def problems(self) -> list[Problem]:
        """Settings out of their range."""
        checks = (
            (0 < self.threshold <= 1, "threshold", "Give a number above 0 and at most 1."),
            (self.alpha > 0, "alpha", "Give a number above 0."),
        )
        return [
            Problem(f"{name} of FixMix is {getattr(self, name)!r}", fix)
            for good, name, fix in checks
            if not good
        ]

    def start(self, work: Work) -> Active:
        """Label the points by the model as it was sent."""
        return _FixMix(self, work)


class _FixMix(Active):
    def __init__(self, term: FixMix, work: Work) -> None:
        self.term, self.work = term, work
        self.sure, self.labels = predict(work.network, work.points, work.model).max(dim=1)
        self.others = (~work.labelled).nonzero().squeeze(1)

    def loss(self, step: Step) -> Tensor | None:
        rows = step.unlabelled.rows
        rows = rows[self.sure[rows] >= self.term.threshold]
        if not len(rows):
            return None
        work, labels = self.work, self.labels[rows]
        fix = functional.cross_entropy(work.network(work.strong_view(work.points[rows])), labels)
        drawn = torch.randint(len(self.others), (len(rows),), generator=work.generator)
        partner = self.others[drawn]
        share = shares(1, self.term.alpha, work.generator)
        mixed = blend(work.view(work.points[rows]), work.view(work.points[partner]), share)
        logits = work.network(mixed)
        first = functional.cross_entropy(logits, labels)
        second = functional.cross_entropy(logits, self.labels[partner])
        return fix + self.term.weight * (share[0] * first + (1.0 - share[0]) * second)
