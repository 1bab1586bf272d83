"""What a report measures, as functions on arrays. −1 is "no label" everywhere.

A point that was to be labelled and got −1 counts as wrong: a method must not look better for
leaving out what is difficult. How many it left out is its coverage.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.stats import rankdata

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]
NONE = -1


def accuracy(true: Labels, predicted: Labels) -> float | None:
    """The share of right labels; None if there is nothing to judge."""
    return float(np.mean(true == predicted)) if len(true) else None


def balanced_accuracy(true: Labels, predicted: Labels) -> float | None:
    """The share of right labels in each true class, averaged over the classes."""
    if not len(true):
        return None
    _, classes = np.unique(true, return_inverse=True)
    right = np.bincount(classes, weights=true == predicted)
    return float(np.mean(right / np.bincount(classes)))


def coverage(predicted: Labels) -> float | None:
    """The share of points that got a label at all."""
    return float(np.mean(predicted != NONE)) if len(predicted) else None


class Bins(NamedTuple):
    """Points by their confidence: how many, how confident and how often right on average.

    Means of empty bins are NaN. The last bin includes its upper edge.
    """

    edges: Floats
    counts: Labels
    confidence: Floats
    accuracy: Floats


def bins(confidence: Floats, right: NDArray[np.bool_], n_bins: int = 10) -> Bins:
    """Equally wide bins from 0 to 1."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    where = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, n_bins - 1)
    counts = np.bincount(where, minlength=n_bins)
    filled = np.where(counts > 0, counts, np.nan)
    mean = np.bincount(where, weights=confidence, minlength=n_bins) / filled
    good = np.bincount(where, weights=right, minlength=n_bins) / filled
    return Bins(edges, counts, mean, good)


def expected_calibration_error(
    confidence: Floats, right: NDArray[np.bool_], n_bins: int = 10
) -> float | None:
    """How far confidence is from accuracy, averaged over the points by their bins."""
    if not len(confidence):
        return None
    found = bins(confidence, right, n_bins)
    gaps = np.nan_to_num(np.abs(found.confidence - found.accuracy))
    return float(found.counts @ gaps / len(confidence))


def ranking(confidence: Floats, right: NDArray[np.bool_]) -> float | None:
    """How often a right label is more confident than a wrong one (ties count half)."""
    n_right = int(right.sum())
    n_wrong = len(right) - n_right
    if not n_right or not n_wrong:
        return None
    ranks = rankdata(confidence)
    return float((ranks[right].sum() - n_right * (n_right + 1) / 2) / (n_right * n_wrong))


def homophily(weights: csr_array, labels: Labels) -> tuple[float | None, float | None]:
    """The share of edge weight between points of one label, and what chance would give.

    Edges of points without a label do not count. Chance joins points at random by their degree.
    """
    edges = coo_array(weights)
    row, column = edges.coords
    known = (labels[row] != NONE) & (labels[column] != NONE)
    mass, start, end = edges.data[known], labels[row[known]], labels[column[known]]
    total = mass.sum()
    if not total > 0:
        return None, None
    share = float(mass[start == end].sum() / total)
    ends = np.bincount(start, weights=mass) / total
    return share, float(ends @ ends)
