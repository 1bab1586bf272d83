"""Points in, feature rows out: what is compared is never the raw point but its features.

Every class here has a `name` and a `transform(points)`, and turns n points into an (n, d) float
array. Sites can only compare codes if they all use the same features, so pretrained weights are
checked by hash, and shared preprocessing is built from moments summed over all sites.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem, did_you_mean
from colabel.features.images import EfficientNetLite0
from colabel.features.moments import Moments, Order, add, moments, total
from colabel.features.plain import Identity, Precomputed
from colabel.features.scaling import Centred, Scaled, Standardised
from colabel.features.text import MiniLM
from colabel.features.torch_module import TorchFeatures

__all__ = [
    "NAMES",
    "Centred",
    "EfficientNetLite0",
    "Features",
    "Identity",
    "MiniLM",
    "Moments",
    "Order",
    "Precomputed",
    "Scaled",
    "Standardised",
    "TorchFeatures",
    "add",
    "build",
    "by_name",
    "moments",
    "total",
]


class Features(Protocol):
    """Turns n points into n rows of d numbers."""

    @property
    def name(self) -> str:
        """The word for it in configurations and reports."""
        ...

    def transform(self, points: NDArray[np.generic]) -> NDArray[np.floating]:
        """The (n, d) features of n points, float32 or float64."""
        ...


type_of = type[Identity | Centred | Standardised | Scaled | EfficientNetLite0 | MiniLM]

_CLASSES: dict[str, type_of] = {
    kind.name: kind for kind in (Identity, Centred, Standardised, Scaled, EfficientNetLite0, MiniLM)
}
NAMES = tuple(_CLASSES)


def by_name(name: str) -> type_of:
    """The class with this name; its `order` says which moments it needs, None for none."""
    if name not in _CLASSES:
        raise InputError(Problem(f"no features are called {name!r}", did_you_mean(name, NAMES)))
    return _CLASSES[name]


def build(name: str, sums: Moments | None = None) -> Features:
    """The features with this name, from the moments of all sites' points where it needs them."""
    kind = by_name(name)
    if issubclass(kind, Centred | Standardised | Scaled):
        if sums is None:
            raise InputError(
                Problem(
                    f"{name} features need the moments of all sites' points",
                    f"Pass total([moments(points, {kind.order!r}) for each site]).",
                )
            )
        return kind(sums)
    return kind()
