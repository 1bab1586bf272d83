"""Mean teacher: agree with a moving average of oneself (Tarvainen & Valpola 2017) [FedProp §5.1].

The server sends a teacher beside the model; each site moves it after every step towards its
student, sends it back, and the server averages the teachers as it averages the students.
"""

import copy
import math
from typing import ClassVar

import torch
from torch import Tensor

from colabel.learning.parameters import read, write
from colabel.learning.terms.base import Active, Shared, Term
from colabel.learning.work import Step, Work

TEACHER = "teacher"


class MeanTeacher(Term, frozen=True, kw_only=True):
    """weight · ramp-up · mean squared difference of the class probabilities of both."""

    uses_unlabelled: ClassVar[bool] = True
    needs_head: ClassVar[bool] = True
    returns: ClassVar[tuple[str, ...]] = (TEACHER,)
    decay: float = 0.97
    weight: float = 100.0
    ramp_up_rounds: int = 5

    def start(self, work: Work) -> Active:
        """Take the teacher that was sent; in the first round it is the model itself."""
        return _MeanTeacher(self, work)

    def send(self, kept: Shared, site: str) -> Shared:
        """The teacher."""
        return {TEACHER: kept[TEACHER]} if TEACHER in kept else {}

    def keep_mean(self, kept: Shared, mean: Shared, share: float) -> Shared:
        """Teachers are averaged as models are."""
        return {**kept, TEACHER: mean[TEACHER]}


class _MeanTeacher(Active):
    def __init__(self, term: MeanTeacher, work: Work) -> None:
        self.term, self.work = term, work
        self.teacher = copy.deepcopy(work.network)
        if TEACHER in work.shared:
            write(self.teacher, work.shared[TEACHER])
        self.teacher.requires_grad_(requires_grad=False)
        self.weight = term.weight * ramp_up(work.progress.round, term.ramp_up_rounds)

    def loss(self, step: Step) -> Tensor | None:
        points = torch.cat([step.labelled.points, step.unlabelled.points])
        with torch.no_grad():
            target = self.teacher(self.work.view(points)).softmax(dim=1)
        return self.weight * (step.logits.softmax(dim=1) - target).square().mean()

    def after_step(self) -> None:
        follow(self.teacher, self.work.network, self.term.decay)

    def finish(self) -> None:
        self.work.returned[TEACHER] = read(self.teacher)


def ramp_up(round_: int, rounds: int) -> float:
    """From near 0 to 1 along exp(−5 (1 − t)²) (Tarvainen & Valpola 2017)."""
    t = min((round_ + 1) / rounds, 1.0) if rounds else 1.0
    return math.exp(-5.0 * (1.0 - t) ** 2)


def follow(teacher: torch.nn.Module, student: torch.nn.Module, decay: float) -> None:
    """θ_teacher ← decay · θ_teacher + (1 − decay) · θ_student; running statistics too."""
    with torch.no_grad():
        pairs = zip(
            [*teacher.parameters(), *teacher.buffers()],
            [*student.parameters(), *student.buffers()],
            strict=True,
        )
        for old, new in pairs:
            if old.is_floating_point():
                old.lerp_(new, 1.0 - decay)
