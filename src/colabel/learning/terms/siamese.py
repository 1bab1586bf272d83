"""FedSiam: an online network agrees with a target network on another view (Long et al. 2020).

Taken from the paper: the pair of networks at each site; the online one is trained, the target is
its moving average, moved after every step; each sees a random change of the point of its own.
Every round both begin as the model that the server sent: sites keep no model, and a message is
half as long as that of a mean teacher. Not taken: the choice of layers to send by how far the two
networks are apart, which saves bytes and is no part of the loss.
"""

import copy
from typing import ClassVar

import torch
from torch import Tensor

from colabel.learning.terms.base import Active, Term
from colabel.learning.terms.mean_teacher import follow, ramp_up
from colabel.learning.work import Step, Work


class Siamese(Term, frozen=True, kw_only=True):
    """weight · ramp-up · mean squared difference of class probabilities on unlabelled points."""

    uses_unlabelled: ClassVar[bool] = True
    needs_head: ClassVar[bool] = True
    decay: float = 0.97
    weight: float = 100.0
    ramp_up_rounds: int = 5

    def start(self, work: Work) -> Active:
        """Begin with two equal networks."""
        return _Siamese(self, work)


class _Siamese(Active):
    def __init__(self, term: Siamese, work: Work) -> None:
        self.term, self.work = term, work
        self.target = copy.deepcopy(work.network).requires_grad_(requires_grad=False)
        self.weight = term.weight * ramp_up(work.progress.round, term.ramp_up_rounds)

    def loss(self, step: Step) -> Tensor | None:
        if not len(step.unlabelled):
            return None
        online = step.logits[len(step.labelled) :].softmax(dim=1)
        with torch.no_grad():
            target = self.target(self.work.view(step.unlabelled.points)).softmax(dim=1)
        return self.weight * (online - target).square().mean()

    def after_step(self) -> None:
        follow(self.target, self.work.network, self.term.decay)
