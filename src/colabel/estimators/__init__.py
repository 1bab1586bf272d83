"""The scikit-learn interface."""

from colabel.estimators.propagation import (
    CrossClientLabelPropagation,
    PerSiteLabelPropagation,
    PooledLabelPropagation,
)

__all__ = ["CrossClientLabelPropagation", "PerSiteLabelPropagation", "PooledLabelPropagation"]
