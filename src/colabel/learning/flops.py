"""How much a model computes for one point: F of [ProtoFSSL §5].

A multiplication with its addition counts as two. The layers that multiply make 99.9 % of a usual
convolutional network; beside them count: a ReLU, a bias and an addition of two branches one for
each number, normalisation two (a scale and a shift), pooling one for each number that it looks at.
"""

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor, nn

from colabel.learning.models import ModelPlan, Network, make
from colabel.learning.models.resnet import Residual, Skip

_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.GroupNorm)


class Work(NamedTuple):
    """Of one point on its way through a network: operations in products, and all others."""

    products: int
    others: int

    @property
    def flops(self) -> int:
        """Both together."""
        return self.products + self.others


def forward(network: Network, shape: tuple[int, ...]) -> Work:
    """What the network computes for one point of this shape, in evaluation mode."""
    counted: list[tuple[int, int]] = []

    def note(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        counted.append(_layer(layer, inputs[0] if inputs else output, output))

    hooks = [layer.register_forward_hook(note) for layer in network.modules()]
    was_training, n = network.training, 2  # normalisation by batch needs more than one point
    network.eval()
    try:
        with torch.no_grad():
            network(torch.zeros(n, *shape))
    finally:
        network.train(was_training)
        for hook in hooks:
            hook.remove()
    return Work(sum(first for first, _ in counted) // n, sum(second for _, second in counted) // n)


@lru_cache(maxsize=64)
def of_one_point(plan: ModelPlan) -> Work:
    """The same for a model by its plan, without computing anything."""
    with torch.device("meta"):
        return forward(make(plan), plan.shape)


def _layer(layer: nn.Module, before: Tensor, after: Tensor) -> tuple[int, int]:
    size = after.numel()
    if isinstance(layer, nn.Conv2d):
        height, width = layer.kernel_size
        each = layer.in_channels // layer.groups * height * width
        return 2 * size * each, size * (layer.bias is not None)
    if isinstance(layer, nn.Linear):
        return 2 * size * layer.in_features, size * (layer.bias is not None)
    if isinstance(layer, nn.MaxPool2d):
        sides = layer.kernel_size
        return 0, size * (sides**2 if isinstance(sides, int) else sides[0] * sides[1])
    if isinstance(layer, (nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d)):
        return 0, before.numel()
    if isinstance(layer, (*_NORMS, Residual)):
        return 0, 2 * size
    return 0, size * isinstance(layer, (nn.ReLU, nn.LeakyReLU, Skip))
