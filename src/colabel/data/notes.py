"""What is worth knowing about the sites' data, though it stops nothing."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from colabel.data.site import UNLABELLED, Site, Sites
from colabel.errors import Problem

SHOWN = 3
_LOOKS_MISSING = {"nan", "na", "n/a", "none", "null", "?", "unknown"}


@dataclass(frozen=True)
class Note(Problem):
    """A problem that stops nothing: colabel goes on, and says what it does."""


def severity(problem: Problem) -> Literal["error", "note"]:
    """Whether a problem stops the run."""
    return "note" if isinstance(problem, Note) else "error"


def notes_on(sites: Sites) -> list[Note]:
    """Everything non-fatal that a user may want to know about these sites."""
    return [
        *_notes_on_sites(sites),
        *_notes_on_classes(sites),
        *(note for site in sites.sites for note in _zero_rows(site)),
        *_constant_columns(sites),
    ]


def _notes_on_sites(sites: Sites) -> Iterator[Note]:
    if len(sites) == 1:
        yield Note(
            "there is only one site", "Give one file per site, or name the site column.",
            sites.names[0],
        )  # fmt: skip
    for site in sites.sites:
        if not site.labelled.any():
            yield Note(
                "the site has no labels",
                "It receives labels from the other sites; nothing to do.",
                site.name,
            )


def _notes_on_classes(sites: Sites) -> Iterator[Note]:
    alone: dict[str, list[str]] = {}
    holders = Counter[int]()
    holder_of: dict[int, str] = {}
    for site in sites.sites:
        held = np.unique(site.labels[site.labelled]).tolist()
        holders.update(held)
        holder_of.update(dict.fromkeys(held, site.name))
    for c, name in enumerate(sites.classes):
        if holders[c] == 0:
            yield Note(f"class {name!r} has no label anywhere", "No point can receive it.")
        elif holders[c] == 1 and len(sites) > 1:
            alone.setdefault(holder_of[c], []).append(repr(name))
        if name.strip().lower() in _LOOKS_MISSING:
            yield Note(
                f"{name!r} is taken as the name of a class",
                "Leave the cell empty if it means that the label is unknown.",
            )
    for site_name, names in alone.items():
        yield Note(
            f"{listed(names, 'class', 'classes')} {'have' if len(names) > 1 else 'has'} labels "
            "at this site only",
            "Whoever receives such a class learns that there is such a site.",
            site_name,
        )
    if len(holders) == 1:
        yield Note(
            "all labels are of one class",
            f"Every point can only receive it. {UNLABELLED} means unlabelled: "
            "give a class of that name another one.",
        )


def _zero_rows(site: Site) -> Iterator[Note]:
    if site.points.dtype.kind not in "biuf":
        return
    zero = np.flatnonzero(~site.points.reshape(len(site.points), -1).any(axis=1))
    if len(zero):
        yield Note(
            f"{len(zero)} {'rows are' if len(zero) > 1 else 'row is'} all zero, "
            f"the first is row {zero[0]}",
            "With identity features they have no angle to compare, and no label reaches them.",
            site.name,
        )


def _constant_columns(sites: Sites) -> Iterator[Note]:
    points = [site.points for site in sites.sites]
    if any(p.ndim != 2 or p.dtype.kind not in "biuf" for p in points):
        return
    low = np.min([p.min(axis=0) for p in points], axis=0)
    high = np.max([p.max(axis=0) for p in points], axis=0)
    constant = np.flatnonzero(low == high)
    if len(constant):
        yield Note(
            f"{listed([_column_name(sites, c) for c in constant.tolist()])} never "
            f"change{'' if len(constant) > 1 else 's'}",
            "What is constant tells no point from another: leave it out.",
        )


def _column_name(sites: Sites, column: int) -> str:
    return repr(sites.columns[column]) if sites.columns else str(column)


def listed(words: list[str], noun: str = "column", nouns: str | None = None) -> str:
    """Name the first few and count the others: `columns 'a', 'b', 'c' and 9 more`."""
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return f"{noun if len(words) == 1 else nouns or f'{noun}s'} {', '.join(words[:SHOWN])}{more}"
