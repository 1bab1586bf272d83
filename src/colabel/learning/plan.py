"""What a site does with a model in one round: the settings that do not depend on the method."""

from typing import Literal

import msgspec

Augmentation = Literal["none", "translate", "translate_flip", "rotate_flip"]
OptimiserName = Literal["sgd", "rmsprop", "adam"]


class OptimiserPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How parameters move.

    rate_below: other rates for batches smaller than a size, e.g. ((20, 0.05), (50, 0.1)).
    cosine_rounds: in this many rounds the rate falls to 0 along a cosine; 0 keeps it.
    """

    name: OptimiserName = "sgd"
    rate: float = 0.1
    rate_below: tuple[tuple[int, float], ...] = ()
    momentum: float = 0.0
    weight_decay: float = 0.0
    cosine_rounds: int = 0


class LocalPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One site's part of a round.

    epochs: passes over the unlabelled points (the labelled ones, if no others are used); a batch
    holds as many labelled as unlabelled points [XCLP App. A.2]. steps: so many steps instead.
    labelled_batch: the most labelled points in a batch; fewer if the sites have fewer.
    scale_weights: divide confidences by the largest, as the authors' code does.
    """

    epochs: int = 5
    steps: int = 0
    labelled_batch: int = 50
    augmentation: Augmentation = "none"
    optimiser: OptimiserPlan = OptimiserPlan()
    scale_weights: bool = False
