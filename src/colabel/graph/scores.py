"""From class scores to labels and confidences, for each point from its own row only."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def one_hot(labels: NDArray[np.int64], n_classes: int) -> Floats:
    """One row per label; −1 gives a row of zeros."""
    return (labels[:, None] == np.arange(n_classes)).astype(np.float64)


def distributions(scores: Floats) -> Floats:
    """Scores as shares of their row's sum; a row that no label reaches stays 0."""
    positive = np.maximum(scores, 0.0)
    totals = positive.sum(axis=1, keepdims=True)
    return np.divide(positive, totals, where=totals > 0, out=np.zeros_like(positive))


def labels(shares: Floats) -> NDArray[np.int64]:
    """The class with the largest share, the first on ties, −1 where no label reaches
    [XCLP Alg. 1, line 15].
    """
    return np.where(shares.any(axis=1), shares.argmax(axis=1), -1)


def certainty(shares: Floats) -> Floats:
    """1 − entropy / log C, and 0 where no label reaches [XCLP Alg. 1, line 16]."""
    reached = np.asarray(shares.any(axis=1))
    n_classes = shares.shape[1]
    if n_classes == 1:
        return reached.astype(np.float64)
    logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    value: Floats = 1.0 + (shares * logs).sum(axis=1) / np.log(n_classes)
    return np.clip(value, 0.0, 1.0) * reached


def probability(
    shares: Floats, chosen: NDArray[np.int64], prior: Floats, exponent: float
) -> Floats:
    """How likely the chosen label is right, 0 where there is none.

    Class weights help a rare class to be chosen; how likely it is right still depends on how rare
    it is, so the `prior` (labels of each class) comes back. A long propagation flattens shares, so
    they are sharpened by an `exponent`.
    """
    odds = np.maximum(shares, 1e-12) ** exponent * prior
    own = np.take_along_axis(odds, np.maximum(chosen, 0)[:, None], axis=1)[:, 0]
    return np.where(chosen >= 0, own / odds.sum(axis=1), 0.0)
