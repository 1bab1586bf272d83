"""Points that are read when rows of them are asked for: the others stay on disk."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
_BLOCK = 1024


class LazyPoints:
    """Looks like an array where rows are chosen: `points[rows]` reads these rows and no others.

    `np.asarray(points)` reads all of them; `nbytes` says how much that would be.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        read: Callable[[Rows], NDArray[np.generic]],
    ) -> None:
        self.shape, self.dtype, self._read = shape, dtype, read

    @property
    def ndim(self) -> int:
        """The number of axes, the first of which counts the points."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """The memory that all points would take."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray[np.generic]:
        chosen = np.arange(len(self))[rows]
        if chosen.ndim > 1:
            raise IndexError("rows of points are chosen by one axis only")
        found = self._read(np.atleast_1d(chosen))
        return found if chosen.ndim else found[0]

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> NDArray[np.generic]:
        if copy is False:
            raise ValueError("points that are still to be read cannot be had without a copy")
        return self[:].astype(dtype or self.dtype, copy=False)

    def blocks(self) -> Iterator[NDArray[np.generic]]:
        """All points in order, some at a time."""
        for start in range(0, len(self), _BLOCK):
            yield self[start : start + _BLOCK]


Points: TypeAlias = NDArray[np.generic] | LazyPoints


def one_after_another(parts: Sequence[NDArray[np.generic]]) -> LazyPoints:
    """Arrays (of files on disk) as one, without copying them together."""
    ends = np.cumsum([len(part) for part in parts])
    shape = (int(ends[-1]), *parts[0].shape[1:])

    def read(rows: Rows) -> NDArray[np.generic]:
        found = np.empty((len(rows), *shape[1:]), parts[0].dtype)
        which = np.searchsorted(ends, rows, side="right")
        for p, part in enumerate(parts):
            here = which == p
            found[here] = part[rows[here] - (ends[p] - len(part))]
        return found

    return LazyPoints(shape, parts[0].dtype, read)
