"""What a site works with in one round: its points and labels, the batches, the views of a batch."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor as Tensor  # others take it from here

from colabel.learning.augment import weaken
from colabel.learning.models.network import ModelPlan, Network
from colabel.learning.plan import LocalPlan
from colabel.learning.strengthen import strengthen

Arrays = dict[str, NDArray[Any]]


class Targets(NamedTuple):
    """A label for every point of a site (−1: none) and how much each counts in the loss."""

    labels: Tensor
    weights: Tensor


class Part(NamedTuple):
    """The labelled or the unlabelled half of a batch, as stored; rows are those of the site."""

    points: Tensor
    labels: Tensor
    weights: Tensor
    rows: Tensor

    def __len__(self) -> int:
        return self.rows.shape[0]  # len() of a tensor takes longer


class Progress(NamedTuple):
    """Where training stands: round in this stage (from 0), how many the stage has."""

    round: int
    of: int


@dataclass
class Work:
    """One round at one site.

    shared: what the server sent for the terms; returned: what the terms send back.
    memory: what the site itself keeps from round to round.
    """

    network: Network
    model: ModelPlan
    plan: LocalPlan
    points: Tensor
    targets: Targets
    labelled: Tensor
    batch: int
    rate: float
    progress: Progress
    generator: torch.Generator
    shared: dict[str, Arrays] = field(default_factory=dict)
    memory: dict[str, Arrays] = field(default_factory=dict)
    returned: dict[str, Arrays] = field(default_factory=dict)

    def view(self, points: Tensor) -> Tensor:
        """Points as the model sees them in training: normalised and augmented."""
        return weaken(as_input(points, self.model), self.plan.augmentation, self.generator)

    def strong_view(self, points: Tensor) -> Tensor:
        """The same, changed strongly."""
        return strengthen(self.view(points), self.generator)

    def shuffled(self, rows: Tensor) -> Tensor:
        """These rows in a random order."""
        return rows[torch.randperm(len(rows), generator=self.generator)]

    @cached_property
    def no_part(self) -> Part:
        """The half of a batch that is not there."""
        return self._part(torch.empty(0, dtype=torch.int64))

    def part(self, rows: Tensor) -> Part:
        """A half of a batch."""
        return self._part(rows) if rows.shape[0] else self.no_part

    def _part(self, rows: Tensor) -> Part:
        return Part(self.points[rows], self.targets.labels[rows], self.targets.weights[rows], rows)


class Step:
    """One batch. Its view and the model's answer to it are made once for all terms."""

    def __init__(self, work: Work, labelled: Part, unlabelled: Part) -> None:
        self.work, self.labelled, self.unlabelled = work, labelled, unlabelled

    @cached_property
    def view(self) -> Tensor:
        """Labelled points, then unlabelled ones, as the model sees them."""
        if not len(self.unlabelled):
            return self.work.view(self.labelled.points)
        return self.work.view(torch.cat([self.labelled.points, self.unlabelled.points]))

    @cached_property
    def logits(self) -> Tensor:
        """The model's answer, in one pass, so that batch statistics are those of both."""
        logits: Tensor = self.work.network(self.view)
        return logits


def as_tensor(array: NDArray[np.generic]) -> Tensor:
    """The same numbers as a tensor, in the same memory where it can be."""
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))


def generator(seed: int) -> torch.Generator:
    """Randomness of one round at one site."""
    return torch.Generator().manual_seed(seed)


def as_input(points: Tensor, model: ModelPlan) -> Tensor:
    """(x − mean) / std, per channel."""
    mean, std = _scale(model)
    return (points.float() - mean) / std


@lru_cache(maxsize=8)
def _scale(model: ModelPlan) -> tuple[Tensor, Tensor]:
    spread = (1, -1) + (1,) * (len(model.shape) - 1)
    return torch.tensor(model.mean).reshape(spread), torch.tensor(model.std).reshape(spread)


def batches(work: Work, *, use_unlabelled: bool) -> Iterator[Step]:
    """The steps of a round: each with as many labelled as unlabelled points, or as the plan says.

    Passes over the unlabelled points, while the labelled ones are gone through again and again;
    an incomplete last batch is dropped unless it is the only one.
    """
    labelled = work.labelled.nonzero().squeeze(1)
    others = (~work.labelled).nonzero().squeeze(1)
    none = labelled[:0]
    main, side = (others, labelled) if use_unlabelled and len(others) else (labelled, none)
    if not len(main):
        return
    least = work.plan.unlabelled_batch if main is others else 0
    size = max(work.batch, least)
    wanted = work.plan.steps or work.plan.epochs * max(len(main) // size, 1)
    turns = _cycle(work, main, min(size, len(main)))
    beside = _cycle(work, side, min(work.batch, len(side))) if len(side) else None
    for _ in range(wanted):
        rows = next(turns)
        first, second = (next(beside) if beside else none, rows) if main is others else (rows, none)
        yield Step(work, work.part(first), work.part(second))


def _cycle(work: Work, rows: Tensor, size: int) -> Iterator[Tensor]:
    """Batches of this size for ever, shuffled anew after every pass."""
    while True:
        order = work.shuffled(rows)
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]
