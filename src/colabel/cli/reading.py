"""The input of a labelling run: the sites and, held apart from them, their true labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel.cli.truth import copies
from colabel.data import UNLABELLED, Diagnosis, Note, Sites, diagnose
from colabel.errors import InputError, Problem

Truth = Mapping[str, NDArray[np.int64]]


class Columns(NamedTuple):
    """The columns that are not features, where the user named them."""

    site: str | None = None
    label: str | None = None
    id: str | None = None
    truth: str | None = None


class Input(NamedTuple):
    """What was read. The classes that only the truth knows are numbered after the others."""

    sites: Sites
    notes: tuple[Note, ...]
    truth: Truth | None


def read_input(paths: Sequence[Path], columns: Columns) -> Input:
    """The sites, with their true labels if a column of them is named."""
    if columns.truth is None:
        found = _sound(_diagnose(paths, columns, columns.label), {})
        return Input(_rows(found), found.notes, None)
    label = columns.label or "label"
    if columns.truth == label:
        what = f"{label!r} is named both as the labels and as the true labels"
        raise InputError(Problem(what, "Give the true labels a column of their own."))
    with TemporaryDirectory(prefix="colabel-") as scratch:
        shown, true, origins = copies(paths, label, columns.truth, Path(scratch))
        found = _sound(_diagnose(shown, columns, columns.label), origins)
        sites = _rows(found)
        if columns.truth in (sites.columns or ()):
            what = "the true labels could not be kept out of the features"
            raise InputError(Problem(what, "Check the files.", column=columns.truth))
        truths = _sound(_diagnose(true, columns, columns.truth), origins)
    return Input(sites, found.notes, _match(sites, _rows(truths)))


def _diagnose(paths: Sequence[Path], columns: Columns, label: str | None) -> Diagnosis:
    return diagnose(paths, site_column=columns.site, label_column=label, id_column=columns.id)


def _sound(found: Diagnosis, origins: Mapping[str, str]) -> Diagnosis:
    """The diagnosis if there is no problem; problems speak of the user's own files."""
    problems = list(found.problems)
    for copy, original in origins.items():
        problems = [replace(p, what=p.what.replace(copy, original)) for p in problems]
    if problems:
        raise InputError(problems)
    return found


def _rows(found: Diagnosis) -> Sites:
    """The sites, each point as one row of numbers."""
    if found.sites is None:
        raise InputError(Problem("there is nothing to read", "Give at least one row per site."))
    texts = [site.name for site in found.sites.sites if site.points.dtype.kind not in "biuf"]
    if texts:
        fix = "Turn them into numbers first, for instance with colabel.features."
        raise InputError(Problem("the points are not numbers", fix, name) for name in texts)
    flat = [replace(site, points=site.points.reshape(len(site), -1)) for site in found.sites.sites]
    return replace(found.sites, sites=tuple(flat))


def _match(sites: Sites, truths: Sites) -> Truth:
    new = [name for name in truths.classes if name not in sites.classes]
    number = {name: c for c, name in enumerate([*sites.classes, *new])}
    numbers = np.array([*(number[name] for name in truths.classes), UNLABELLED], np.int64)
    return {site.name: numbers[truths[site.name].labels] for site in sites.sites}
