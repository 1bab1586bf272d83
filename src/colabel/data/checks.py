"""What must hold for sites before anything is computed with them; every violation at once."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from colabel.data.notes import SHOWN, listed
from colabel.data.site import UNLABELLED, Site, Sites
from colabel.errors import Problem

LARGEST = 1e24  # squares of larger numbers cannot be summed over all sites
NO_LABEL = "no site has a label"
_COLUMNS_SHOWN = 10


def check_sites(sites: Sites) -> list[Problem]:
    """Every reason why these sites cannot be used; empty if they can."""
    return [
        *_check_names(sites),
        *(
            problem
            for site in sites.sites
            for problem in check_site(site, len(sites.classes), sites.columns)
        ),
        *_check_shapes(sites),
        *check_together(sites.sites),
    ]


def check_site(
    site: Site,
    n_classes: int,
    columns: Sequence[str] | None = None,
    rows: NDArray[np.int64] | None = None,
) -> list[Problem]:
    """Every problem inside one site. `rows` are the row numbers to report."""
    if len(site.points) == 0:
        return [Problem("the site has no rows", "Leave the site out, or add its data.", site.name)]
    numbers = np.arange(len(site.points)) if rows is None else rows
    problems = [*_check_lengths(site), *_check_points(site, columns, numbers)]
    if len(site.labels) == len(site.points):
        problems += _check_labels(site, n_classes, numbers)
    if site.ids is not None and len(site.ids) == len(site.points):
        problems += _check_ids(site, site.ids, numbers)
    return problems


def check_together(sites: Sequence[Site]) -> list[Problem]:
    """Every problem that only shows when the sites are seen together."""
    problems = _check_shared_ids(sites)
    if sum(len(site) for site in sites) == 1:
        problems.append(Problem("there is only one point", "Give at least two."))
    if sites and not any(site.labelled.any() for site in sites):
        problems.append(
            Problem(
                NO_LABEL,
                "Name the label column (label_column), or label a few points of each class.",
            )
        )
    return problems


def _check_names(sites: Sites) -> Iterator[Problem]:
    if not sites.sites:
        yield Problem("there are no sites", "Give at least one.")
    for what, names in (("site", sites.names), ("class", sites.classes)):
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield Problem(f"two of the {what} names are {name!r}", "Make them different.")


def _check_shapes(sites: Sites) -> Iterator[Problem]:
    filled = [site for site in sites.sites if len(site.points)]
    for site in filled[1:]:
        yield from compare_shapes(filled[0], site)
    for site in filled[:1]:
        if sites.columns is not None and (len(sites.columns),) != site.points.shape[1:]:
            yield Problem(
                f"{len(sites.columns)} column names for points of shape {site.points.shape[1:]}",
                "Give one name per column.",
            )


def compare_shapes(first: Site, other: Site) -> Iterator[Problem]:
    """Say so if two sites' points have not the same shape."""
    if first.points.shape[1:] != other.points.shape[1:]:
        yield Problem(
            f"its points have shape {other.points.shape[1:]}, those of site "
            f"{first.name} have {first.points.shape[1:]}",
            "All sites need the same columns.",
            other.name,
        )


def _check_lengths(site: Site) -> Iterator[Problem]:
    n = len(site.points)
    for what, values in (("labels", site.labels), ("ids", site.ids)):
        if values is not None and len(values) != n:
            yield Problem(
                f"{n} points but {len(values)} {what}",
                f"Give one of the {what} per point.",
                site.name,
            )


def _check_points(
    site: Site, columns: Sequence[str] | None, rows: NDArray[np.int64]
) -> Iterator[Problem]:
    points = site.points
    if points.dtype.kind in "UT" and points.ndim == 1:
        return  # texts, for a text embedder
    if points.dtype.kind not in "biuf":
        yield Problem(
            f"the points are of type {points.dtype}, not numbers",
            "Encode them as numbers, or use features that read them.",
            site.name,
        )
    elif points.ndim < 2:
        yield Problem(
            "the points are one list of numbers",
            "Give rows × columns: points.reshape(-1, 1) if there is one column.",
            site.name,
        )
    elif points.size == 0:
        yield Problem("the points have no columns", "Give at least one feature.", site.name)
    elif points.dtype.kind == "f":  # whole numbers are never too large
        yield from _check_numbers(site.name, points.astype(np.float64, copy=False), columns, rows)


def _check_numbers(
    name: str,
    points: NDArray[np.float64],
    columns: Sequence[str] | None,
    rows: NDArray[np.int64],
) -> Iterator[Problem]:
    flat = points.reshape(len(points), -1)
    bad = ~(np.abs(flat) <= LARGEST)
    bad_columns = np.flatnonzero(bad.any(axis=0))
    for c in bad_columns[:_COLUMNS_SHOWN]:
        label = columns[c] if columns is not None and c < len(columns) else str(c)
        yield from _bad_values(name, label, flat[:, c], rows)
    if len(others := bad_columns[_COLUMNS_SHOWN:]):
        names = [repr(columns[c]) if columns is not None else str(c) for c in others]
        number = int(bad[:, others].sum())
        yield Problem(
            f"{number} more values are missing, infinite or too large, in {listed(names)}",
            "Fill them in, or drop the rows or the columns.",
            name,
        )


def _bad_values(
    site: str, column: str, values: NDArray[np.float64], rows: NDArray[np.int64]
) -> Iterator[Problem]:
    where = np.flatnonzero(~(np.abs(values) <= LARGEST))
    for i in where[:SHOWN]:
        last_shown = i == where[:SHOWN][-1] and len(where) > SHOWN
        more = f" (and {len(where) - SHOWN} more in this column)" if last_shown else ""
        what, fix = _wrong_with(float(values[i]))
        yield Problem(
            what + more,
            fix,
            site,
            int(rows[i]),
            column,
        )


def _wrong_with(value: float) -> tuple[str, str]:
    if np.isfinite(value):
        return f"the value {value:.3g} is too large", f"Change the unit: up to {LARGEST:.0e} fits."
    what = "the value is missing" if np.isnan(value) else "the value is infinite"
    fix = "Fill it in, for instance with the column's median, or drop the row or the column."
    return what, fix


def _check_labels(site: Site, n_classes: int, rows: NDArray[np.int64]) -> Iterator[Problem]:
    if site.labels.dtype.kind not in "iu":
        yield Problem(
            f"the labels are of type {site.labels.dtype}, not class numbers",
            f"Give indices into the classes, and {UNLABELLED} for unlabelled.",
            site.name,
        )
        return
    wrong = np.flatnonzero((site.labels < UNLABELLED) | (site.labels >= n_classes))
    if len(wrong):
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        yield Problem(
            f"label {site.labels[wrong[0]]} is not one of the {n_classes} classes{more}",
            f"Labels are 0 to {n_classes - 1}, or {UNLABELLED} for unlabelled.",
            site.name,
            int(rows[wrong[0]]),
        )


def _check_ids(site: Site, ids: NDArray[np.str_], rows: NDArray[np.int64]) -> Iterator[Problem]:
    empty = np.flatnonzero(ids == "")
    for i in empty[:1]:
        more = f" (and {len(empty) - 1} more)" if len(empty) > 1 else ""
        yield Problem(f"the id is missing{more}", "Give every row an id.", site.name, int(rows[i]))
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    again = np.flatnonzero((first[inverse] != np.arange(len(ids))) & (ids != ""))
    for i in again[:SHOWN]:
        more = (
            f" (and {len(again) - SHOWN} more repeated ids)"
            if i == again[:SHOWN][-1] and len(again) > SHOWN
            else ""
        )
        yield Problem(
            f"id {str(ids[i])!r} is also the id of row {rows[first[inverse[i]]]}{more}",
            "Keep one of the two rows, or give them different ids.",
            site.name,
            int(rows[i]),
        )


def _check_shared_ids(sites: Sequence[Site]) -> list[Problem]:
    owner: dict[str, str] = {}
    shared: dict[tuple[str, str], list[str]] = {}
    for site in sites:
        for word in dict.fromkeys(site.ids.tolist() if site.ids is not None else []):
            if word and owner.setdefault(word, site.name) != site.name:
                shared.setdefault((owner[word], site.name), []).append(repr(word))
    return [
        Problem(
            f"{listed(words, 'id')} {'are' if len(words) > 1 else 'is'} at site {first} too",
            "It is the same point twice: keep it at one site.",
            second,
        )
        for (first, second), words in shared.items()
    ]
