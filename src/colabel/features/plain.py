"""Features that are already there: the points themselves, or rows computed elsewhere."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem

_SHOWN = 10  # a report of every bad row of a large table helps nobody


def as_matrix(points: NDArray[np.generic]) -> NDArray[np.floating]:
    """Points as an (n, d) float array: float32 and float64 stay, other numbers become float64."""
    array = np.asarray(points)
    if array.dtype.kind not in "fiub":
        raise InputError(
            Problem(
                f"points are of type {array.dtype}, which is not a number",
                "Encode categories as numbers, use features made for text or images, "
                "and call .toarray() on sparse matrices.",
            )
        )
    if array.ndim < 2:
        raise InputError(
            Problem(
                f"points have shape {array.shape}, not (n, d)",
                "Use points.reshape(-1, 1) if each point is one number.",
            )
        )
    wide = np.float32 if array.dtype.kind == "f" and array.itemsize == 4 else np.float64
    width = int(np.prod(array.shape[1:]))
    rows = array.reshape(len(array), width)
    matrix: NDArray[np.floating] = rows.astype(wide, copy=False)
    check_finite(matrix)
    return matrix


def check_finite(matrix: NDArray[np.floating]) -> None:
    """Refuse NaN and infinities: a code computed from them would mean nothing."""
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        raise InputError(
            Problem(
                f"{matrix[row, column]} is not a finite number ({len(bad)} such values)",
                "Fill in missing values first.",
                row=int(row),
                column=str(column),
            )
            for row, column in bad[:_SHOWN]
        )


class Identity:
    """The points as they are; images of any shape become rows."""

    name: ClassVar[str] = "identity"
    order: ClassVar[None] = None

    def transform(self, points: NDArray[np.generic]) -> NDArray[np.floating]:
        """Points as an (n, d) float array."""
        return as_matrix(points)


class Precomputed:
    """Features computed elsewhere.

    A mapping goes from a point's id to its row, and the points are the ids (compared as text).
    An array has one row for each point, in the same order, and the points are only counted.
    """

    name: ClassVar[str] = "precomputed"
    order: ClassVar[None] = None

    def __init__(self, table: Mapping[Any, NDArray[np.generic]] | NDArray[np.generic]) -> None:
        self._place: dict[str, int] | None = None
        if isinstance(table, Mapping):
            self._place = {str(id_): row for row, id_ in enumerate(table)}
            self._rows = as_matrix(_stacked(table))
        else:
            self._rows = as_matrix(table)

    def transform(self, points: NDArray[np.generic]) -> NDArray[np.floating]:
        """The rows of these points."""
        if self._place is None:
            if len(points) != len(self._rows):
                raise InputError(
                    Problem(
                        f"{len(points)} points but {len(self._rows)} precomputed rows",
                        "Give one row for each point, or a mapping from ids to rows.",
                    )
                )
            return self._rows
        ids = [str(id_) for id_ in np.asarray(points).reshape(-1)]
        unknown = [row for row, id_ in enumerate(ids) if id_ not in self._place]
        if unknown:
            raise InputError(
                Problem(
                    f"no precomputed features for {ids[row]!r} ({len(unknown)} such points)",
                    "Add its row to the table, or leave the point out.",
                    row=row,
                )
                for row in unknown[:_SHOWN]
            )
        return self._rows[np.array([self._place[id_] for id_ in ids], dtype=np.intp)]


def _stacked(table: Mapping[Any, NDArray[np.generic]]) -> NDArray[np.generic]:
    rows = {id_: np.asarray(row).reshape(-1) for id_, row in table.items()}
    widths = sorted({len(row) for row in rows.values()})
    if len(widths) != 1:
        what = f"precomputed rows have different widths: {widths}" if widths else "an empty table"
        raise InputError(Problem(what, "Give every id a row of the same width."))
    return np.stack(list(rows.values()))
