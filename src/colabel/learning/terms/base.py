"""A term: one part of a loss, and what goes with it.

A method is a list of terms. The settings of a term are a struct, which travels in the plan; for
every round at a site `start` makes of it something that adds to the loss of each step, may act
after a step, and may send something back beside the model.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import msgspec
from torch import Tensor

from colabel.conversation import Release
from colabel.errors import Problem
from colabel.learning.models.network import ModelPlan, Network
from colabel.learning.work import Arrays, Step, Work

Shared = dict[str, Arrays]


class Active:
    """A term at work in one round. Subclasses say what they add."""

    def loss(self, step: Step) -> Tensor | None:
        """What this term adds to the loss of a step, if anything."""
        return None

    def own_steps(self) -> Iterator[Step] | None:
        """The steps of the round, if this term makes its own instead of the usual batches."""
        return None

    def moving(self) -> list[Tensor]:
        """Tensors beside the network's parameters that the optimiser is to move."""
        return []

    def after_step(self) -> None:
        """Called when the parameters have moved."""

    def finish(self) -> None:
        """Called at the end of the round."""


class Term(msgspec.Struct, frozen=True, kw_only=True, tag_field="term", tag=str.lower):
    """The settings of a term.

    uses_unlabelled: whether a round goes over the unlabelled points for its sake.
    linear: whether the server needs no more of what sites return than the mean, so that it may
    be protected as a sum; then `returns` names what they return, each shaped like the model.
    needs_head: whether it means nothing for a model without a head.
    predicts_by: what of that which the server keeps `predict` needs.

    The server keeps what `keep_mean` or `keep_each` give it to keep, and `send`s of that.
    """

    uses_unlabelled: ClassVar[bool] = False
    linear: ClassVar[bool] = True
    returns: ClassVar[tuple[str, ...]] = ()
    needs_head: ClassVar[bool] = False
    predicts_by: ClassVar[tuple[str, ...]] = ()

    def problems(self) -> list[Problem]:
        """Everything that is wrong with these settings."""
        return []

    def start(self, work: Work) -> Active:
        """Begin a round at a site."""
        raise NotImplementedError

    def releases(self) -> tuple[Release, ...]:
        """What a round reveals for its sake, beside the model."""
        return ()

    def send(self, kept: Shared, site: str) -> Shared:
        """What the server sends a site beside the model."""
        return {}

    def keep_mean(self, kept: Shared, mean: Shared, share: float) -> Shared:
        """What the server keeps, given the mean of what the sites returned.

        `share`: how many of all sites these were.
        """
        return kept

    def keep_each(self, kept: Shared, returned: Mapping[str, Shared]) -> Shared:
        """The same, given what each site returned; only called if not `linear`."""
        return kept

    def predict(
        self, network: Network, points: Tensor, model: ModelPlan, kept: Shared
    ) -> Tensor | None:
        """Class probabilities of points, for terms by which a model predicts without its head."""
        return None
