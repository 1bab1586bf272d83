"""Labels as written in a file, turned into class names and then into class numbers.

An empty cell, a null, NaN and −1 are unlabelled, and the word "nan" where all other labels are
numbers; among words, NA, None or nan are names of classes. 1, 1.0 and "1" are the same class.
Blanks around a label do not count.
"""

import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from colabel.data.site import UNLABELLED
from colabel.data.sources.raw import RawSite
from colabel.errors import InputError, Problem, did_you_mean

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?")
_EXACT = 2.0**53  # beyond, float64 no longer tells whole numbers apart
_NAMES = "Labels name classes: use words or whole numbers; measurements cannot be labels."


def label_names(values: NDArray[np.generic], column: str) -> NDArray[np.str_]:
    """The class name of every row, "" where unlabelled."""
    if values.ndim != 1:
        raise InputError(
            Problem(
                f"the labels have shape {values.shape}", "Give one label per row.", column=column
            )
        )
    kind = values.dtype.kind
    if kind == "b":
        return values.astype(str)
    if kind in "iu":
        return np.where(values == UNLABELLED, "", values.astype(str))
    if kind == "f":
        return _floats(values.astype(np.float64), column)
    if kind in "UT":
        return _texts(np.char.strip(values.astype(str)), column)
    raise InputError(Problem(f"the labels are of type {values.dtype}", _NAMES, column=column))


def _floats(values: NDArray[np.float64], column: str) -> NDArray[np.str_]:
    known = np.where(np.isnan(values), UNLABELLED, values)
    _refuse(known != np.floor(known), values, "is not a whole number", column)
    _refuse(np.abs(known) >= _EXACT, values, "is too large to be exact", column)
    return label_names(known.astype(np.int64), column)


def _texts(values: NDArray[np.str_], column: str) -> NDArray[np.str_]:
    different, inverse = np.unique(values, return_inverse=True)
    words = [text for text in different.tolist() if text not in ("", str(UNLABELLED))]
    numbers = {text: Decimal(text) for text in words if _NUMBER.fullmatch(text)}
    if any(text not in numbers and text.lower() != "nan" for text in words) or not numbers:
        return np.where(values == str(UNLABELLED), "", values)
    broken = [text for text, number in numbers.items() if number != int(number)]
    _refuse(np.isin(values, broken), values, "is not a whole number", column)
    names = {text: str(int(number)) for text, number in numbers.items() if number != UNLABELLED}
    return np.array([names.get(text, "") for text in different.tolist()])[inverse]


def _refuse(broken: NDArray[np.bool_], values: NDArray[np.generic], what: str, column: str) -> None:
    rows = np.flatnonzero(broken)
    if len(rows):
        more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
        what = f"label {values[rows[0]]} {what}{more}"
        raise InputError(Problem(what, _NAMES, row=int(rows[0]), column=column))


def class_order(names: Sequence[str]) -> tuple[str, ...]:
    """Sorted: as numbers if all are whole numbers, else as words."""
    different = sorted(set(names))
    if all(re.fullmatch(r"-?\d+", name) for name in different):
        different.sort(key=int)
    return tuple(different)


def all_labels(sites: Sequence[RawSite]) -> tuple[str, ...]:
    """The classes that any site has a label of."""
    return class_order([name for s in sites for name in np.unique(s.labels).tolist() if name])


def class_numbers(site: RawSite, classes: Sequence[str]) -> tuple[NDArray[np.int64], list[Problem]]:
    """Indices into `classes`, and a problem for every label that is not one of them."""
    number = {name: c for c, name in enumerate(classes)} | {"": UNLABELLED}
    different, first, inverse, counts = np.unique(
        site.labels, return_index=True, return_inverse=True, return_counts=True
    )
    problems = [
        Problem(
            f"label {name!r}{f' ({count} rows)' if count > 1 else ''} is not one of the classes",
            did_you_mean(name, classes),
            site.name,
            int(site.rows[row]),
        )
        for name, row, count in zip(different.tolist(), first, counts.tolist(), strict=True)
        if name not in number
    ]
    codes = np.array([number.get(name, UNLABELLED) for name in different.tolist()], np.int64)
    return codes[inverse] if len(codes) else np.empty(0, np.int64), problems
