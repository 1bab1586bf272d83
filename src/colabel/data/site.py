"""A site and what it holds: points, labels (−1 where unknown), optional ids."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.errors import did_you_mean

UNLABELLED = -1


@dataclass(frozen=True)
class Site:
    """One participant. `labels[i]` is an index into `Sites.classes`, or −1."""

    name: str
    points: NDArray[np.generic]
    labels: NDArray[np.int64]
    ids: NDArray[np.str_] | None = None

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows have a label."""
        known: NDArray[np.bool_] = self.labels != UNLABELLED
        return known

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Sites:
    """All sites of one run, with the class names and column names that they share."""

    sites: tuple[Site, ...]
    classes: tuple[str, ...]
    columns: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The sites' names, in order."""
        return tuple(site.name for site in self.sites)

    def __len__(self) -> int:
        return len(self.sites)

    def __getitem__(self, name: str) -> Site:
        for site in self.sites:
            if site.name == name:
                return site
        # not StopIteration, which would silently end a conversation
        raise KeyError(f"no site {name!r}. {did_you_mean(name, self.names)}")


def from_groups(
    points: NDArray[np.generic],
    labels: NDArray[np.int64],
    groups: Sequence[str] | NDArray[np.generic],
    classes: Sequence[str],
    columns: Sequence[str] | None = None,
) -> Sites:
    """Split rows into sites by a group name each, keeping the order of rows in a site."""
    names = np.asarray(groups).astype(str)
    return Sites(
        tuple(
            Site(str(name), points[names == name], labels[names == name])
            for name in np.unique(names)
        ),
        tuple(classes),
        tuple(columns) if columns is not None else None,
    )
