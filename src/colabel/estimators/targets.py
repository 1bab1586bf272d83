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
    given = column_or_1d(_as_given(y), warn=True)
    if len(given) != n_rows:
        raise InputError(Problem(f"{len(given)} labels for {n_rows} rows", "Give one label a row."))
    unknown = _unlabelled(given)
    known = given[~unknown]
    if not len(known):
        raise InputError(
            Problem("no row has a label", "Label a few rows of each class; −1 means unknown.")
        )
    if known.dtype == object:
        known = _one_kind(known.tolist())
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
    given = _as_given(groups)
    if given.shape != (n_rows,):
        raise InputError(
            Problem(f"groups has shape {given.shape} for {n_rows} rows", "Name one site a row.")
        )
    missing = _missing(given)
    if given.dtype.kind == "f" and not (missing | (given != np.floor(given))).any():
        given = given.astype(np.int64)  # 1.0 is the site that is called 1 elsewhere
    names = given.astype(str)
    rows = np.flatnonzero(missing | (np.char.strip(names) == ""))
    if len(rows):
        more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
        fix = "Name the site of every row."
        raise InputError(Problem(f"a row has no site{more}", fix, row=int(rows[0])))
    return names


def _as_given(values: ArrayLike) -> NDArray[Any]:
    """An array in which None, NaN and −1 did not become words, as NumPy makes them among words."""
    array = np.asarray(values)
    return np.asarray(values, dtype=object) if array.dtype.kind in "UT" else array


def _one_kind(known: list[Any]) -> NDArray[Any]:
    words = [isinstance(label, str) for label in known]
    if any(words) and not all(words):
        what = f"the labels mix words and numbers, such as {known[words.index(False)]!r}"
        fix = "Use one of them; −1, None and NaN are unlabelled."
        raise InputError(Problem(what, fix))
    return np.asarray(known)


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """None, NaN, NaT and pandas' NA."""
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype != object:
        return np.zeros(len(values), dtype=np.bool_)
    return np.array([_is_missing(value) for value in values], dtype=np.bool_)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA is neither equal nor unequal
        return True


def _unlabelled(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Missing or −1, and among words also "-1" and nothing."""
    if values.dtype.kind in "if":
        return _missing(values) | (values == UNLABELLED)
    if values.dtype != object:
        return _missing(values)
    minus = [
        v.strip() in ("", str(UNLABELLED)) if isinstance(v, str) else v == UNLABELLED
        for v in np.where(_missing(values), UNLABELLED, values)
    ]
    return np.array(minus, dtype=np.bool_)
