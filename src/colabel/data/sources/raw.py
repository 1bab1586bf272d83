"""What a file holds before the sites agree on classes and columns."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.errors import Problem


@dataclass(frozen=True)
class Roles:
    """The names of the columns that are not features, where the user gave them."""

    site: str | None = None
    label: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class RawSite:
    """One site as its file tells it. A label is a name, "" where unlabelled."""

    name: str
    origin: Path
    points: NDArray[np.generic]
    columns: tuple[str, ...] | None
    labels: NDArray[np.str_]
    ids: NDArray[np.str_] | None
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class RawFile:
    """Everything read from one file, and everything wrong with it."""

    path: Path
    sites: tuple[RawSite, ...] = ()
    problems: tuple[Problem, ...] = ()
    column_names: tuple[str, ...] = ()
    classes: tuple[str, ...] | None = None
    has: frozenset[str] = field(default_factory=frozenset)


def split_by_site(whole: RawSite, site_of_row: NDArray[np.str_] | None) -> Iterator[RawSite]:
    """One site per name in the site column; the whole file if there is none."""
    if site_of_row is None:
        yield whole
        return
    for name in np.unique(site_of_row[site_of_row != ""]):
        here = site_of_row == name
        yield RawSite(
            str(name),
            whole.origin,
            whole.points[here],
            whole.columns,
            whole.labels[here],
            whole.ids[here] if whole.ids is not None else None,
            whole.rows[here],
        )


def missing_sites(
    file: str, site_of_row: NDArray[np.str_] | None, column: str
) -> Iterator[Problem]:
    """Rows that say of no site."""
    if site_of_row is None:
        return
    empty = np.flatnonzero(site_of_row == "")
    for row in empty[:1]:
        more = f" (and {len(empty) - 1} more)" if len(empty) > 1 else ""
        what = f"the site is missing in {file}{more}"
        yield Problem(what, "Say which site the row is of.", None, int(row), column)
