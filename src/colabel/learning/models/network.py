"""A classifier in two parts: features f_φ and head f_ψ [XCLP §4.2], and how one is made."""

from collections.abc import Callable
from typing import Literal

import msgspec
import torch
from torch import Tensor, nn

Norm = Literal["none", "batch", "group", "static"]
GROUP_CHANNELS = 16  # channels that group normalisation treats together


class ModelPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which model, for which points.

    shape: of one point: (channels, height, width), or (columns,).
    mean, std: of the raw values, one per channel (or one for all); points are (x − mean) / std.
    head: False for models that are judged by prototypes alone.
    """

    name: str
    shape: tuple[int, ...]
    n_classes: int
    norm: Norm = "batch"
    head: bool = True
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)


class Network(nn.Module):
    """features, then head. `width` is the length of an embedding."""

    def __init__(self, features: nn.Module, head: nn.Module, width: int) -> None:
        super().__init__()
        self.features, self.head, self.width = features, head, width

    def forward(self, points: Tensor) -> Tensor:
        """Logits (or the embeddings, if there is no head)."""
        logits: Tensor = self.head(self.features(points))
        return logits


def linear_head(plan: ModelPlan, width: int) -> nn.Module:
    """The usual head."""
    return nn.Linear(width, plan.n_classes) if plan.head else nn.Identity()


def normalisation(norm: Norm, channels: int, *, affine: bool = True) -> nn.Module:
    """A normalisation of (n, channels, height, width).

    "static" keeps no running mean: statistics are always those of the batch at hand, in training
    and when a model is judged, and none are sent.
    """
    if norm == "none":
        return nn.Identity()
    if norm == "group":
        groups = max(channels // GROUP_CHANNELS, 1)
        return nn.GroupNorm(groups, channels, affine=affine)
    return nn.BatchNorm2d(channels, affine=affine, track_running_stats=norm == "batch")


Maker = Callable[[ModelPlan], Network]


def seeded(make: Maker, plan: ModelPlan, seed: int) -> Network:
    """The model with the initial parameters of a seed, whatever was drawn before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make(plan)
