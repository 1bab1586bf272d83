"""Labels and site names as users write them, and as the library counts them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from colabel.data.site import UNLABELLED
from colabel.errors import InputError, Problem


def encode(y: ArrayLike | None, n_rows: int) -> tuple[NDArray[np.generic], NDArray[np.int64]]:
    """The classes, sorted, and each row's index among them, −1 for unlabelled."""
    if y is None:
        raise InputError(
            Problem(
                "y is missing: requires y to be passed, but the target y is None",
                "Give a label for each row, −1 where it is unknown.",
            )
        )
    given = column_or_1d(np.asarray(y), warn=True)
    if len(given) != n_rows:
        raise InputError(Problem(f"{len(given)} labels for {n_rows} rows", "Give one label a row."))
    unknown = _unlabelled(given)
    known = given[~unknown]
    if not len(known):
        raise InputError(
            Problem("no row has a label", "Label a few rows of each class; −1 means unknown.")
        )
    if known.dtype == object:
        known = np.asarray(known.tolist())
    check_classification_targets(known)
    classes, indices = np.unique(known, return_inverse=True)
    codes = np.full(n_rows, UNLABELLED)
    codes[~unknown] = indices
    return classes, codes


def decode(labels: NDArray[np.int64], classes: NDArray[np.generic]) -> NDArray[np.generic]:
    """The classes' own names; −1 for unlabelled, or None where classes are not numbers."""
    reached = labels != UNLABELLED
    named = classes[np.maximum(labels, 0)]
    if reached.all():
        return named
    if np.issubdtype(classes.dtype, np.signedinteger) or classes.dtype.kind == "f":
        return np.where(reached, named, classes.dtype.type(UNLABELLED))
    if classes.dtype.kind == "u":
        return np.where(reached, named.astype(np.int64), UNLABELLED)
    mixed = named.astype(object)
    mixed[~reached] = None
    return mixed


def site_names(groups: ArrayLike | None, n_rows: int) -> NDArray[np.str_]:
    """Each row's site, by name."""
    if groups is None:
        return np.full(n_rows, "site")
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise InputError(
            Problem(f"groups has shape {given.shape} for {n_rows} rows", "Name one site a row.")
        )
    missing = np.flatnonzero(_missing(given))
    if len(missing):
        raise InputError(
            Problem("a row has no site", "Name the site of every row.", row=int(row))
            for row in missing[:10]
        )
    return given.astype(str)


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """None and NaN."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype != object:
        return np.zeros(len(values), dtype=np.bool_)
    return np.array(
        [v is None or (isinstance(v, float) and v != v) for v in values], dtype=np.bool_
    )


def _unlabelled(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind in "if":
        return _missing(values) | (values == UNLABELLED)
    if values.dtype != object:
        return np.zeros(len(values), dtype=np.bool_)
    return _missing(values) | np.array([isinstance(v, int) and v == UNLABELLED for v in values])
