"""Small models for CPU, and those of the papers that are small anyway."""

from torch import nn

from colabel.learning.models.network import ModelPlan, Network, linear_head, normalisation


def small_cnn(plan: ModelPlan) -> Network:
    """Two convolutions and a hidden layer, for images of about 32 × 32."""
    channels, height, width = plan.shape
    area = (height // 4) * (width // 4)
    features = nn.Sequential(
        nn.Conv2d(channels, 16, 3, padding=1),
        normalisation(plan.norm, 16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        normalisation(plan.norm, 32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * area, 128),
        nn.ReLU(),
    )
    return Network(features, linear_head(plan, 128), 128)


def tiny_cnn(plan: ModelPlan) -> Network:
    """As `small_cnn` with strides for poolings: four times faster on a CPU."""
    channels, height, width = plan.shape
    area = -(-height // 4) * -(-width // 4)
    features = nn.Sequential(
        nn.Conv2d(channels, 16, 5, stride=2, padding=2),
        normalisation(plan.norm, 16),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        normalisation(plan.norm, 32),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * area, 128),
        nn.ReLU(),
    )
    return Network(features, linear_head(plan, 128), 128)


def mlp_head(plan: ModelPlan) -> Network:
    """One hidden layer of 256 on features that a frozen network made."""
    features = nn.Sequential(nn.Flatten(), nn.Linear(_columns(plan), 256), nn.ReLU())
    return Network(features, linear_head(plan, 256), 256)


def linear_mlp(plan: ModelPlan) -> Network:
    """Two linear layers without anything between: the embedding of [XCLP App. B.1]."""
    features = nn.Sequential(nn.Flatten(), nn.Linear(_columns(plan), 128))
    return Network(features, linear_head(plan, 128), 128)


def _columns(plan: ModelPlan) -> int:
    total = 1
    for size in plan.shape:
        total *= size
    return total
