"""Cross entropy on labels and pseudo-labels, each weighted by its confidence [XCLP §4.2]."""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from colabel.learning.terms.base import Active, Term
from colabel.learning.work import Step, Work


class CrossEntropy(Term, frozen=True, kw_only=True):
    """L = Σ ω_i · ℓ(f(x_i), y_i) over the batch, divided by its size; ω = 1 for true labels.

    class_weights: ω_i times (n / C) / n_c, with n_c of the site's n labels and pseudo-labels in
    the point's class c. The authors' code counts over all sites of the round; here each site
    counts its own, because a sum of counts would be one more thing to protect.
    """

    class_weights: bool = False

    needs_head: ClassVar[bool] = True

    def start(self, work: Work) -> Active:
        """Begin a round."""
        if not self.class_weights:
            return _CrossEntropy(None)
        return _CrossEntropy(class_weights(work.targets.labels, work.model.n_classes))


class _CrossEntropy(Active):
    def __init__(self, by_class: Tensor | None) -> None:
        self.by_class = by_class

    def loss(self, step: Step) -> Tensor | None:
        labels, weights = step.labelled.labels, step.labelled.weights
        if len(step.unlabelled) and bool((step.unlabelled.labels >= 0).any()):
            labels = torch.cat([labels, step.unlabelled.labels])
            weights = torch.cat([weights, step.unlabelled.weights])
        if not len(labels):
            return None
        if self.by_class is not None:
            weights = weights * self.by_class[labels.clamp(min=0)]
        return weighted_cross_entropy(step.logits[: len(labels)], labels, weights)


def class_weights(labels: Tensor, n_classes: int) -> Tensor:
    """(n / C) / n_c for every class c; a class without a label counts 0."""
    counts = torch.bincount(labels[labels >= 0], minlength=n_classes).float()
    return torch.where(counts > 0, counts.sum() / n_classes / counts.clamp(min=1), 0.0)


def weighted_cross_entropy(logits: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """The mean of ω · ℓ; a point without a label (−1) counts 0."""
    each = functional.cross_entropy(logits, labels, reduction="none", ignore_index=-1)
    return (each * weights).sum() / labels.shape[0]
