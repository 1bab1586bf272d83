"""The 13-layer CNN of Tarvainen & Valpola (2017), with which XCLP and FedProp train on CIFAR.

Ten convolutions, two max-poolings and an average make embeddings of 128 numbers. Every layer has
weight normalisation; Gaussian noise at the input is left out, as in the papers' experiments.
"""

from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.parametrizations import weight_norm

from colabel.learning.models.network import ModelPlan, Network, normalisation

WIDTH = 128


class UnitLength(nn.Module):
    """Embeddings divided by their length: the authors' code does so before the head."""

    def forward(self, embeddings: Tensor) -> Tensor:
        """v / |v|."""
        return normalize(embeddings, dim=1)


def cnn13(plan: ModelPlan) -> Network:
    """As in the paper."""
    return _cnn13(plan, unit_length=False)


def cnn13_unit(plan: ModelPlan) -> Network:
    """As in the authors' code: embeddings of length 1."""
    return _cnn13(plan, unit_length=True)


def _cnn13(plan: ModelPlan, *, unit_length: bool) -> Network:
    channels = plan.shape[0]
    features = nn.Sequential(
        *_block(channels, 128, plan),
        *_block(128, 128, plan),
        *_block(128, 128, plan),
        nn.MaxPool2d(2),
        nn.Dropout(0.5),
        *_block(128, 256, plan),
        *_block(256, 256, plan),
        *_block(256, 256, plan),
        nn.MaxPool2d(2),
        nn.Dropout(0.5),
        *_block(256, 512, plan, size=3, padding=0),
        *_block(512, 256, plan, size=1, padding=0),
        *_block(256, WIDTH, plan, size=1, padding=0),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        *([UnitLength()] if unit_length else []),
    )
    head = weight_norm(nn.Linear(WIDTH, plan.n_classes)) if plan.head else nn.Identity()
    return Network(features, head, WIDTH)


def _block(
    before: int, after: int, plan: ModelPlan, size: int = 3, padding: int = 1
) -> list[nn.Module]:
    convolution = weight_norm(nn.Conv2d(before, after, size, padding=padding))
    return [convolution, normalisation(plan.norm, after), nn.LeakyReLU(0.1)]
