"""The networks of FedCT's experiments [FedCT tables 12-16].

Where a table's figures contradict each other (its layers and its numbers of parameters), the
numbers of parameters are followed, as far as they can be: see each docstring.
"""

from torch import nn

from colabel.learning.models.network import ModelPlan, Network, linear_head, normalisation


def fedct_cifar(plan: ModelPlan) -> Network:
    """Table 12: three pairs of convolutions, and a hidden layer of 128."""
    channels, height, width = plan.shape
    area = (height // 8) * (width // 8)
    features = nn.Sequential(
        *_pair(channels, 32, plan),
        *_pair(32, 64, plan),
        *_pair(64, 128, plan),
        nn.Flatten(),
        nn.Linear(128 * area, 128),
        nn.ReLU(),
        *([nn.BatchNorm1d(128)] if plan.norm == "batch" else []),
        nn.Dropout(0.5),
    )
    return Network(features, linear_head(plan, 128), 128)


def _pair(before: int, after: int, plan: ModelPlan) -> list[nn.Module]:
    return [
        nn.Conv2d(before, after, 3, padding=1),
        nn.ReLU(),
        normalisation(plan.norm, after),
        nn.Conv2d(after, after, 3, padding=1),
        nn.ReLU(),
        normalisation(plan.norm, after),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
    ]


def fedct_mlp(plan: ModelPlan) -> Network:
    """Table 13: two hidden layers of 512, for Fashion-MNIST: 669,706 parameters."""
    columns = 1
    for size in plan.shape:
        columns *= size
    features = nn.Sequential(
        nn.Flatten(), nn.Linear(columns, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU()
    )
    return Network(features, linear_head(plan, 512), 512)


def fedct_xray(plan: ModelPlan) -> Network:
    """Tables 14 and 15: three convolutions, pooled twice, and a linear layer, for X-rays and MRI.

    The head takes whatever the image leaves; the tables' numbers of its parameters do not fit
    the layers above it.
    """
    channels, height, width = plan.shape
    area = (height // 4) * (width // 4)
    features = nn.Sequential(
        nn.Conv2d(channels, 32, 3, padding=1),
        normalisation(plan.norm, 32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        normalisation(plan.norm, 64),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3, padding=1),
        normalisation(plan.norm, 64),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
    )
    return Network(features, linear_head(plan, 64 * area), 64 * area)


def fedct_svhn(plan: ModelPlan) -> Network:
    """Table 16: three pairs of convolutions with one normalisation each, 128 hidden."""
    channels, height, width = plan.shape
    area = (height // 8) * (width // 8)
    features = nn.Sequential(
        *_half_normalised(channels, 32, plan),
        *_half_normalised(32, 64, plan),
        *_half_normalised(64, 128, plan),
        nn.Flatten(),
        nn.Linear(128 * area, 128),
        nn.ReLU(),
        nn.Dropout(0.3),
    )
    return Network(features, linear_head(plan, 128), 128)


def _half_normalised(before: int, after: int, plan: ModelPlan) -> list[nn.Module]:
    return [
        nn.Conv2d(before, after, 3, padding=1),
        normalisation(plan.norm, after),
        nn.ReLU(),
        nn.Conv2d(after, after, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout2d(0.3),
    ]
