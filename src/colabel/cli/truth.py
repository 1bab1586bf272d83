"""True labels that are held out: never given to the run, only to its report.

The input is read twice: once without the column of true labels, and once with that column in the
place of the labels. Reading copies keeps all the checks of the readers.
"""

import csv
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet
from numpy.typing import NDArray

from colabel.data import UNLABELLED, Diagnosis, Note, Sites, diagnose
from colabel.errors import InputError, Problem, did_you_mean

Truth = Mapping[str, NDArray[np.int64]]
_TABLES = (".csv", ".tsv", ".parquet", ".npz")


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
    holder: AbstractContextManager[Any] = nullcontext()
    if columns.truth is not None:
        holder = TemporaryDirectory(prefix="colabel-")
    with holder as scratch:
        if columns.truth is None:
            found = _sound(_diagnose(paths, columns, columns.label), {})
            return Input(_sites(found), found.notes, None)
        if columns.truth == (columns.label or "label"):
            what = f"{columns.truth!r} is named both as the labels and as the true labels"
            raise InputError(Problem(what, "Give the true labels a column of their own."))
        shown, true, origins = _copies(paths, columns, Path(scratch))
        found = _sound(_diagnose(shown, columns, columns.label), origins)
        sites = _sites(found)
        if columns.truth in (sites.columns or ()):
            what = "the true labels could not be kept out of the features"
            raise InputError(Problem(what, "Check the files.", column=columns.truth))
        truths = _sound(_diagnose(true, columns, columns.truth), origins)
        return Input(sites, found.notes, _match(sites, _sites(truths)))


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


def _sites(found: Diagnosis) -> Sites:
    if found.sites is None:
        raise InputError(Problem("there is nothing to read", "Give at least one row per site."))
    return found.sites


def _match(sites: Sites, truths: Sites) -> Truth:
    new = [name for name in truths.classes if name not in sites.classes]
    number = {name: c for c, name in enumerate([*sites.classes, *new])}
    numbers = np.array([*(number[name] for name in truths.classes), UNLABELLED], np.int64)
    return {site.name: numbers[truths[site.name].labels] for site in sites.sites}


def _copies(
    paths: Sequence[Path], columns: Columns, scratch: Path
) -> tuple[list[Path], list[Path], dict[str, str]]:
    """Copies without the true labels, copies without the labels, and which file each is of."""
    files = [file for path in paths for file in _inside(path)]
    shown, true, origins = list[Path](), list[Path](), dict[str, str]()
    missing = []
    for place, file in enumerate(files):
        for kind, kept, drop in (
            ("shown", shown, columns.truth or ""),
            ("true", true, columns.label or "label"),
        ):
            copy = scratch / kind / str(place) / file.name
            copy.parent.mkdir(parents=True)
            there = _copy_without(file, copy, drop)
            # a file that cannot be read has no columns, and the readers say why
            if kind == "shown" and there and drop not in there:
                what = f"there is no column {drop!r}"
                missing.append(Problem(what, did_you_mean(drop, there), file.stem))
            kept.append(copy)
            origins[str(copy)] = str(file)
    if missing:
        raise InputError(missing)
    return shown, true, origins


def _inside(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix.lower() in (*_TABLES, ".npy"))


def _copy_without(file: Path, copy: Path, drop: str) -> list[str]:
    """Copy a file without one column; returns the names of its columns, none if it has none."""
    if not file.is_file():
        return []
    try:
        match file.suffix.lower():
            case ".csv" | ".tsv":
                return _csv_without(file, copy, drop)
            case ".parquet":
                table = pyarrow.parquet.ParquetFile(file).read()
                names: list[str] = table.column_names
                pyarrow.parquet.write_table(table.drop_columns([drop] * (drop in names)), copy)
                return names
            case ".npz":
                with np.load(file, allow_pickle=False) as stored:
                    arrays = dict(stored)
                np.savez(copy, **{k: v for k, v in arrays.items() if k != drop})
                return list(arrays)
    except (OSError, ValueError, KeyError, EOFError, csv.Error):
        pass  # what is broken stays broken in the copy, and the reader says so
    shutil.copyfile(file, copy)
    return []


def _csv_without(file: Path, copy: Path, drop: str) -> list[str]:
    separator = "\t" if file.suffix.lower() == ".tsv" else ","
    with file.open(newline="", encoding="utf-8-sig") as source:
        rows = csv.reader(source, delimiter=separator)
        names = next(rows, [])
        if drop not in names:
            shutil.copyfile(file, copy)
            return names
        at = names.index(drop)
        with copy.open("w", newline="", encoding="utf-8") as target:
            written = csv.writer(target, delimiter=separator)
            written.writerow(names[:at] + names[at + 1 :])
            for row in rows:
                written.writerow(row[:at] + row[at + 1 :])
    return names
