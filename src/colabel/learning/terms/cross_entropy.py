"""Cross entropy on labels and pseudo-labels, each weighted by its confidence [XCLP §4.2]."""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from colabel.learning.terms.base import Active, Term
from colabel.learning.work import Step, Work


class CrossEntropy(Term, frozen=True, kw_only=True):
    """L = Σ ω_i · ℓ(f(x_i), y_i) over the batch, divided by its size; ω = 1 for true labels."""

    needs_head: ClassVar[bool] = True

    def start(self, work: Work) -> Active:
        """Begin a round."""
        return _CrossEntropy()


class _CrossEntropy(Active):
    def loss(self, step: Step) -> Tensor | None:
        parts = [step.labelled]
        if len(step.unlabelled) and bool((step.unlabelled.labels >= 0).any()):
            parts.append(step.unlabelled)
        labels = torch.cat([part.labels for part in parts])
        if not len(labels):
            return None
        weights = torch.cat([part.weights for part in parts])
        return weighted_cross_entropy(step.logits[: len(labels)], labels, weights)


def weighted_cross_entropy(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """The mean of ω · ℓ; a point without a label (−1) counts 0."""
    each = functional.cross_entropy(logits, labels, reduction="none", ignore_index=-1)
    return (each * weights).sum() / len(labels)
