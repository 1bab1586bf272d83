"""Label together what several sites may not show each other.

The way of the data; each arrow is one function that also runs alone on arrays:

data → features → graph.codes → protocols.hamming → graph.neighbours → graph.weights
     → graph.propagate → protocols.sums → graph.scores → labels
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colabel.data import Site, Sites
    from colabel.errors import ColabelError, ColabelWarning, InputError, Problem
    from colabel.estimators import (
        CoTraining,
        CrossClientLabelPropagation,
        PerSiteLabelPropagation,
        PooledLabelPropagation,
    )

__version__ = "0.1.0"

__all__ = [
    "CoTraining",
    "ColabelError",
    "ColabelWarning",
    "CrossClientLabelPropagation",
    "InputError",
    "PerSiteLabelPropagation",
    "PooledLabelPropagation",
    "Problem",
    "Site",
    "Sites",
]

_ROOMS = {
    "colabel.data": ("Site", "Sites"),
    "colabel.errors": ("ColabelError", "ColabelWarning", "InputError", "Problem"),
    "colabel.estimators": (
        "CoTraining",
        "CrossClientLabelPropagation",
        "PerSiteLabelPropagation",
        "PooledLabelPropagation",
    ),
}


def __getattr__(name: str) -> Any:
    # the command line's help must not wait for scikit-learn
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(room), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
