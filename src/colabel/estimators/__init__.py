"""The scikit-learn interface."""

from colabel.estimators.cotraining import CoTraining
from colabel.estimators.propagation import (
    CrossClientLabelPropagation,
    PerSiteLabelPropagation,
    PooledLabelPropagation,
)

__all__ = [
    "CoTraining",
    "CrossClientLabelPropagation",
    "PerSiteLabelPropagation",
    "PooledLabelPropagation",
]
