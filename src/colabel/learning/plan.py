"""What a site does with a model in one round: the settings that do not depend on the method."""

import math
from typing import Literal

import msgspec

Augmentation = Literal["none", "translate", "translate_flip", "rotate_flip"]
OptimiserName = Literal["sgd", "rmsprop", "adam"]


class OptimiserPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How parameters move.

    rate_below: other rates for batches smaller than a size, e.g. ((20, 0.05), (50, 0.1)).
    cosine_rounds: in this many rounds the rate falls to 0 along a cosine; 0 keeps it.
    restarts: whether the cosine begins anew with every stage, as in the authors' code of XCLP.
    """

    name: OptimiserName = "sgd"
    rate: float = 0.1
    rate_below: tuple[tuple[int, float], ...] = ()
    momentum: float = 0.0
    weight_decay: float = 0.0
    cosine_rounds: int = 0
    restarts: bool = False

    def rate_at(self, batch: int, number: int) -> float:
        """The rate for batches of this size in this round."""
        below = (rate for size, rate in sorted(self.rate_below) if batch < size)
        rate = next(below, self.rate)
        if not self.cosine_rounds:
            return rate
        return rate * 0.5 * (1.0 + math.cos(math.pi * min(number / self.cosine_rounds, 1.0)))


class LocalPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One site's part of a round.

    epochs: passes over the unlabelled points (the labelled ones, if no others are used); a batch
    holds as many labelled as unlabelled points [XCLP App. A.2]. steps: so many steps instead.
    labelled_batch: the most labelled points in a batch; fewer if the sites have fewer.
    unlabelled_batch: the least unlabelled points in one; as many as labelled ones if that is more.
    scale_weights: divide confidences by the largest, as the authors' code does.
    """

    epochs: int = 5
    steps: int = 0
    labelled_batch: int = 50
    unlabelled_batch: int = 0
    augmentation: Augmentation = "none"
    optimiser: OptimiserPlan = OptimiserPlan()
    scale_weights: bool = False


class ServerPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What the server does in a round with labelled points of its own.

    turn: "after": it trains on from the mean of the sites' models (SemiFL); "beside": it trains as
    the sites do, from the model of the round, and counts as one of them in the mean (FedRGD).
    """

    turn: Literal["after", "beside"] = "after"
    local: LocalPlan = LocalPlan()
