"""Attacks on hard labels, which are all that FedCT shares.

| attack | asks | a member is |
|---|---|---|
| gap [Yeom et al. 2018] | each round, for the point itself | labelled rightly |
| calibrated [Watson et al. 2022] | the same | so more often than by models that never saw it |
| boundary [Choquette-Choo et al. 2021] | also for slightly changed copies | far from a boundary |
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem
from colabel.privacy.audit.budget import combined, newest
from colabel.privacy.audit.measures import Attempt, Floats, Labels
from colabel.randomness import data

NOISE = 0.1  # standard deviations of a column


@dataclass(frozen=True)
class LabelAnswers:
    """What a method labelled the candidates, oldest round first; −1 is no answer, and wrong.

    labels: rounds × n. perturbed: rounds × n × copies, the labels of `copies`. usual: how often
    models that the attacker trained without a candidate give it its true label.
    """

    exposes: ClassVar[str] = "labels"

    labels: Labels
    perturbed: Labels | None = None
    usual: Floats | None = None

    def __post_init__(self) -> None:
        shape = self.labels.shape
        bad = len(shape) != 2 or 0 in shape
        bad |= self.perturbed is not None and self.perturbed.shape[:-1] != shape
        if bad or (self.usual is not None and self.usual.shape != shape[1:]):
            raise InputError(
                Problem("labels of other shapes", "Give rounds × n, rounds × n × copies, and n.")
            )

    @property
    def n_candidates(self) -> int:
        """Whom it is about."""
        return self.labels.shape[1]

    @property
    def n_copies(self) -> int:
        """How many copies of each candidate were labelled in a round."""
        return 0 if self.perturbed is None else self.perturbed.shape[2]

    @property
    def most(self) -> int:
        """How many answers there are about a candidate."""
        return len(self.labels) * (1 + self.n_copies)


def gap(answered: Labels, labels: Labels) -> Floats:
    """How often a candidate is labelled rightly. answered: any number of answers × n."""
    return combined(answered == labels)


def calibrated(answered: Labels, labels: Labels, usual: Floats) -> Floats:
    """The same, less how often that is usual: what is easy need not have been seen."""
    return gap(answered, labels) - usual


def boundary(answers: LabelAnswers, labels: Labels, budget: int) -> Floats:
    """How often a candidate is labelled rightly, and how often its copies, in the newest answers.

    Both count alike, however many copies there are.
    """
    said = [answers.labels[:, None]]
    if answers.perturbed is not None:
        said.append(np.moveaxis(answers.perturbed, 2, 1))
    newest_first = np.concatenate(said, axis=1)[::-1].reshape(-1, answers.n_candidates)[:budget]
    own = np.arange(len(newest_first)) % (1 + answers.n_copies) == 0
    if own.all():
        return gap(newest_first, labels)
    return gap(newest_first[own], labels) + gap(newest_first[~own], labels)


def attempts(answers: LabelAnswers, labels: Labels, budget: int) -> Iterator[Attempt]:
    """Every attack that fits."""
    own, kind = newest(answers.labels, budget), answers.exposes
    yield Attempt("gap", kind, gap(own, labels), len(own))
    if answers.usual is not None:
        yield Attempt("calibrated", kind, calibrated(own, labels, answers.usual), len(own))
    if answers.n_copies and budget > 1:
        asked = min(budget, answers.most)
        yield Attempt("boundary", kind, boundary(answers, labels, budget), asked)


def copies(points: NDArray[Any], n_copies: int, seed: int, *, noise: float = NOISE) -> NDArray[Any]:
    """n × copies × point: images shifted by as few pixels as can be, others with Gaussian noise.

    Images have their height and width last: (n, channels, height, width) or (n, height, width).
    """
    if points.ndim < 3:
        random = data(seed, "copies of candidates")
        drawn = random.standard_normal((len(points), n_copies, *points.shape[1:]))
        return points[:, None] + noise * points.std(axis=0) * drawn
    reach = range(-n_copies, n_copies + 1)
    ways = sorted(itertools.product(reach, reach), key=lambda way: (np.hypot(*way), way))
    return np.stack([_shifted(points, *way) for way in ways[1 : n_copies + 1]], axis=1)


def _shifted(images: NDArray[Any], down: int, right: int) -> NDArray[Any]:
    """Moved images; what enters repeats the edge."""
    height, width = images.shape[-2:]
    rows = np.clip(np.arange(height) - down, 0, height - 1)
    columns = np.clip(np.arange(width) - right, 0, width - 1)
    return images[..., rows[:, None], columns]
