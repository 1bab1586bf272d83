"""Label together what several sites may not show each other.

The way of the data; each arrow is one function that also runs alone on arrays:

data → features → graph.codes → protocols.hamming → graph.neighbours → graph.weights
     → graph.propagate → protocols.sums → graph.scores → labels
"""

from colabel.data import Site, Sites
from colabel.errors import ColabelError, ColabelWarning, InputError, Problem
from colabel.estimators import (
    CrossClientLabelPropagation,
    PerSiteLabelPropagation,
    PooledLabelPropagation,
)

__version__ = "0.1.0"

__all__ = [
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
