"""Residual networks: ResNet-18 (He et al. 2016), and ResNet-8/9 of [ProtoFSSL table 6]."""

from torch import Tensor, nn

from colabel.learning.models.network import ModelPlan, Network, linear_head, normalisation

SMALL_IMAGE = 64  # pixels; larger images are halved twice at the entrance, as in the original


class Residual(nn.Module):
    """relu(inner(x) + shortcut(x))."""

    def __init__(self, inner: nn.Module, shortcut: nn.Module) -> None:
        super().__init__()
        self.inner, self.shortcut = inner, shortcut

    def forward(self, images: Tensor) -> Tensor:
        """Add, then cut at 0."""
        joint: Tensor = self.inner(images) + self.shortcut(images)
        return joint.relu()


def resnet18(plan: ModelPlan) -> Network:
    """Four groups of two blocks, embeddings of 512 numbers."""
    channels, height, _ = plan.shape
    if height > SMALL_IMAGE:
        entrance = [_convolution(channels, 64, 7, 2, 3), *_after(64, plan), nn.MaxPool2d(3, 2, 1)]
    else:
        entrance = [_convolution(channels, 64, 3), *_after(64, plan)]
    groups = [
        *_group(64, 64, 1, plan),
        *_group(64, 128, 2, plan),
        *_group(128, 256, 2, plan),
        *_group(256, 512, 2, plan),
    ]
    features = nn.Sequential(*entrance, *groups, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return Network(features, linear_head(plan, 512), 512)


def _group(before: int, after: int, stride: int, plan: ModelPlan) -> list[nn.Module]:
    return [_basic(before, after, stride, plan), _basic(after, after, 1, plan)]


def _basic(before: int, after: int, stride: int, plan: ModelPlan) -> Residual:
    inner = nn.Sequential(
        _convolution(before, after, 3, stride),
        *_after(after, plan),
        _convolution(after, after, 3),
        normalisation(plan.norm, after),
    )
    if stride == 1 and before == after:
        return Residual(inner, nn.Identity())
    matching = nn.Sequential(
        _convolution(before, after, 1, stride, 0), normalisation(plan.norm, after)
    )
    return Residual(inner, matching)


def resnet9(plan: ModelPlan) -> Network:
    """Eight convolutions without biases, skips over 3-4 and 7-8, and a linear layer without one.

    Without its head this is ResNet-8: 6,563,520 parameters if nothing is normalised.
    """
    features = nn.Sequential(
        *_layer(plan.shape[0], 64, plan),
        *_layer(64, 128, plan),
        nn.MaxPool2d(2),
        _skip(128, plan),
        *_layer(128, 256, plan),
        nn.MaxPool2d(2),
        *_layer(256, 512, plan),
        nn.MaxPool2d(2),
        _skip(512, plan),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
    )
    head = nn.Linear(512, plan.n_classes, bias=False) if plan.head else nn.Identity()
    return Network(features, head, 512)


class Skip(nn.Module):
    """x + inner(x)."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, images: Tensor) -> Tensor:
        """Add."""
        joint: Tensor = images + self.inner(images)
        return joint


def _skip(channels: int, plan: ModelPlan) -> Skip:
    return Skip(nn.Sequential(*_layer(channels, channels, plan), *_layer(channels, channels, plan)))


def _layer(before: int, after: int, plan: ModelPlan) -> list[nn.Module]:
    return [_convolution(before, after, 3), *_after(after, plan)]


def _after(channels: int, plan: ModelPlan) -> list[nn.Module]:
    return [normalisation(plan.norm, channels), nn.ReLU()]


def _convolution(
    before: int, after: int, size: int, stride: int = 1, padding: int | None = None
) -> nn.Module:
    around = size // 2 if padding is None else padding
    return nn.Conv2d(before, after, size, stride, around, bias=False)
