"""Attacks on a site's models and updates, which FedAvg shares every round.

| attack | a member |
|---|---|
| loss [Yeom et al. 2018] | has a small loss under the site's model |
| gradient norm [Nasr et al. 2019] | no longer moves that model |
| alignment [Li, Li and Ribeiro 2023] | moves the model it came from as the site moved it |

`learning.audited` computes the numbers. Who has a model may ask it for scores as well, and for
the labels of copies: then it exposes `ScoreAnswers` and `LabelAnswers` beside these.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from colabel.errors import InputError, Problem
from colabel.privacy.audit.budget import combined, newest
from colabel.privacy.audit.measures import Attempt, Floats


@dataclass(frozen=True)
class UpdateAnswers:
    """What a site's models and updates say of the candidates: rounds × n, oldest round first.

    losses, norms: of each point's loss and of its gradient, under the model that the site sent.
    alignments: cosines of a step down that gradient with the site's step, where both began.
    """

    exposes: ClassVar[str] = "updates"

    losses: Floats
    alignments: Floats | None = None
    norms: Floats | None = None

    def __post_init__(self) -> None:
        for part in (self.losses, self.alignments, self.norms):
            if part is None:
                continue
            if part.ndim != 2 or 0 in part.shape or part.shape != self.losses.shape:
                raise InputError(Problem("updates of other shapes", "Give rounds × n for each."))
            if not np.isfinite(part).all():
                what = "a loss or gradient that is no finite number"
                raise InputError(Problem(what, "Leave out the rounds after a model diverged."))

    @property
    def n_candidates(self) -> int:
        """Whom it is about."""
        return self.losses.shape[1]

    @property
    def most(self) -> int:
        """How many answers there are about a candidate."""
        return len(self.losses)


def loss_threshold(losses: Floats) -> Floats:
    """The smaller, the more a member. rounds × n."""
    return combined(-losses)


def gradient_norm(norms: Floats) -> Floats:
    """The smaller, the more a member; on a logarithmic scale, as norms span many decades."""
    return combined(-np.log(np.maximum(norms, np.finfo(np.float64).tiny)))


def gradient_alignment(alignments: Floats) -> Floats:
    """The larger, the more a member."""
    return combined(alignments)


def attempts(answers: UpdateAnswers, budget: int) -> Iterator[Attempt]:
    """Every attack that fits."""
    kind, asked = answers.exposes, min(budget, answers.most)
    yield Attempt("loss", kind, loss_threshold(newest(answers.losses, budget)), asked)
    if answers.norms is not None:
        yield Attempt("gradient norm", kind, gradient_norm(newest(answers.norms, budget)), asked)
    if answers.alignments is not None:
        found = gradient_alignment(newest(answers.alignments, budget))
        yield Attempt("alignment", kind, found, asked)
