"""The models by name."""

from collections.abc import Mapping

from colabel.errors import InputError, Problem, did_you_mean
from colabel.learning.models.network import Maker, ModelPlan, Network, seeded
from colabel.learning.models.small import linear_mlp, mlp_head, small_cnn

MODELS: Mapping[str, Maker] = {
    "linear_mlp": linear_mlp,
    "mlp_head": mlp_head,
    "small_cnn": small_cnn,
}

__all__ = ["MODELS", "Maker", "ModelPlan", "Network", "make", "seeded"]


def make(plan: ModelPlan, seed: int = 0) -> Network:
    """The model that the plan names, with the initial parameters of the seed."""
    if plan.name not in MODELS:
        hint = did_you_mean(plan.name, tuple(MODELS))
        raise InputError(Problem(f"there is no model called {plan.name!r}", hint))
    return seeded(MODELS[plan.name], plan, seed)
