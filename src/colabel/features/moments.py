"""Sums over points, from which several sites centre and scale without showing data.

step · message · bytes · who learns what
1 · each site sends `moments(points, order).to_vector()` through a secure sum ·
8 (1 + d) or 8 (1 + 2 d) · everyone learns the total, which is the
pooled count, mean and variance, and nothing about one site. With two sites, each can subtract
its own share from the total.

A variance far below the squared mean drowns in rounding, and more so in fixed point. Where that
matters, sum twice: first "sum", then a second order `about` the mean found; that also bounds the
numbers that a fixed-point sum must hold.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colabel.errors import InputError, Problem
from colabel.features.plain import as_matrix

Order = Literal["sum", "squares"]
Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """How many points, their sum, and the sum of squares.

    All are of `points − about`; `about` is public and the same at every site.
    """

    count: int
    sum: Vector
    second: Vector | None
    about: Vector

    @property
    def order(self) -> Order:
        """What `second` holds: nothing ("sum") or "squares"."""
        return "sum" if self.second is None else "squares"

    @property
    def width(self) -> int:
        """The number of columns, d."""
        return len(self.sum)

    def to_vector(self) -> Vector:
        """Everything that a secure sum must add, as one vector."""
        parts = [np.array([float(self.count)]), self.sum]
        if self.second is not None:
            parts.append(self.second)
        return np.concatenate(parts)

    @staticmethod
    def from_vector(
        vector: ArrayLike, width: int, order: Order, about: ArrayLike | None = None
    ) -> "Moments":
        """Undo `to_vector`, also for a vector that is the sum of several."""
        flat = np.array(vector, dtype=np.float64).reshape(-1)
        expected = _length(width, order)
        if len(flat) != expected or not np.isfinite(flat).all():
            raise InputError(
                Problem(
                    f"{len(flat)} numbers are not the {order} moments of {width} columns",
                    f"Pass a sum of to_vector(): {expected} finite numbers.",
                )
            )
        head, tail = flat[1 : 1 + width], flat[1 + width :]
        second: Vector | None = None if order == "sum" else tail
        return Moments(round(flat[0]), head, second, _origin(about, width))


def moments(
    points: NDArray[np.generic], order: Order = "sum", about: ArrayLike | None = None
) -> Moments:
    """One site's moments of its points, about a public origin (zero unless told)."""
    matrix = as_matrix(points).astype(np.float64)
    count, width = matrix.shape
    origin = _origin(about, width)
    matrix -= origin
    if not count:
        return Moments.from_vector(np.zeros(_length(width, order)), width, order, origin)
    # Summing around the site's own mean keeps full precision when the mean is large.
    mean = matrix.mean(axis=0)
    matrix -= mean
    rest = matrix.sum(axis=0)
    second: Vector | None = None
    if order == "squares":
        second = np.einsum("ij,ij->j", matrix, matrix) + mean * (2 * rest + count * mean)
    return Moments(count, count * mean + rest, second, origin)


def add(one: Moments, other: Moments) -> Moments:
    """The moments of the points of both."""
    same_origin = one.width == other.width and np.array_equal(one.about, other.about)
    if one.order != other.order or not same_origin:
        raise InputError(
            Problem(
                f"moments do not match: {one.order} of {one.width} columns and "
                f"{other.order} of {other.width} columns, or another origin",
                "Let every site use the same columns, order and about.",
            )
        )
    second = None
    if one.second is not None and other.second is not None:
        second = one.second + other.second
    return Moments(one.count + other.count, one.sum + other.sum, second, one.about)


def total(parts: Iterable[Moments]) -> Moments:
    """The moments of all sites' points."""
    found = list(parts)
    if not found:
        raise InputError(Problem("no moments to add", "Pass the moments of at least one site."))
    return reduce(add, found)


def _length(width: int, order: Order) -> int:
    """How many numbers `to_vector` gives."""
    return 1 + width + (width if order == "squares" else 0)


def _origin(about: ArrayLike | None, width: int) -> Vector:
    origin = np.zeros(width) if about is None else np.array(about, dtype=np.float64)
    if origin.shape != (width,) or not np.isfinite(origin).all():
        raise InputError(
            Problem(
                f"about has shape {origin.shape} for {width} columns, or is not finite",
                "Pass one finite number for each column.",
            )
        )
    return origin
