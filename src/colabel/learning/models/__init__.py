"""The models by name."""

from colabel.errors import InputError, Problem, did_you_mean
from colabel.learning.models.cnn13 import cnn13, cnn13_unit
from colabel.learning.models.cotraining import fedct_cifar, fedct_mlp, fedct_svhn, fedct_xray
from colabel.learning.models.language import gpt2, gpt2_tiny
from colabel.learning.models.network import Maker, ModelPlan, Network, seeded
from colabel.learning.models.resnet import resnet9, resnet18
from colabel.learning.models.small import linear_mlp, mlp_head, small_cnn, tiny_cnn

MODELS: dict[str, Maker] = {
    "cnn13": cnn13,
    "cnn13_unit": cnn13_unit,
    "fedct_cifar": fedct_cifar,
    "fedct_mlp": fedct_mlp,
    "fedct_svhn": fedct_svhn,
    "fedct_xray": fedct_xray,
    "gpt2": gpt2,
    "gpt2_tiny": gpt2_tiny,
    "linear_mlp": linear_mlp,
    "mlp_head": mlp_head,
    "resnet18": resnet18,
    "resnet9": resnet9,
    "small_cnn": small_cnn,
    "tiny_cnn": tiny_cnn,
}

__all__ = ["MODELS", "Maker", "ModelPlan", "Network", "make", "register", "seeded"]


def make(plan: ModelPlan, seed: int = 0) -> Network:
    """The model that the plan names, with the initial parameters of the seed."""
    if plan.name not in MODELS:
        hint = did_you_mean(plan.name, tuple(MODELS))
        raise InputError(Problem(f"there is no model called {plan.name!r}", hint))
    return seeded(MODELS[plan.name], plan, seed)


def register(name: str, maker: Maker) -> None:
    """Make a model of one's own known: a function that makes a `Network` (features, head, width)
    for a plan. Where a run goes over several programs, every one of them must register it.
    """
    if MODELS.get(name, maker) is not maker:
        raise InputError(Problem(f"there is a model called {name!r}", "Take another name."))
    MODELS[name] = maker
