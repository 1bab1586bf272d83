"""FixMatch: what the model is sure of on a weakly changed point, it shall also say of the strongly
changed one (Sohn et al. 2020).

q = softmax f(weak(u)), without gradient and in evaluation mode (the original has no dropout, and
takes the statistics of the batch);
L_u = 1/|B_U| · Σ 1[max q ≥ τ] · ℓ(f(strong(u)), argmax q).
"""

from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from colabel.errors import Problem
from colabel.learning.pseudo_labels import guess
from colabel.learning.terms.base import Active, Term
from colabel.learning.work import Step, Work


class FixMatch(Term, frozen=True, kw_only=True):
    """weight · L_u. The loss on labels is a term of its own."""

    uses_unlabelled: ClassVar[bool] = True
    needs_head: ClassVar[bool] = True
    threshold: float = 0.95
    weight: float = 1.0

    def problems(self) -> list[Problem]:
        """Settings out of their range."""
        checks = ((0 < self.threshold <= 1, "threshold", "Give a number above 0 and at most 1."),)
        return [
            Problem(f"{name} of FixMatch is {getattr(self, name)!r}", fix)
            for good, name, fix in checks
            if not good
        ]

    def start(self, work: Work) -> Active:
        """Begin a round."""
        return _FixMatch(self, work)


class _FixMatch(Active):
    def __init__(self, term: FixMatch, work: Work) -> None:
        self.term, self.work = term, work

    def loss(self, step: Step) -> Tensor | None:
        points = step.unlabelled.points
        if not len(points):
            return None
        sure, labels = guess(self.work.network, self.work.view(points)).max(dim=1)
        logits = self.work.network(self.work.strong_view(points))
        each = functional.cross_entropy(logits, labels, reduction="none")
        return self.term.weight * (each * (sure >= self.term.threshold)).mean()
