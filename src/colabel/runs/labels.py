"""The table that a user is after: one row per point, with its label and confidence."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from colabel.data import UNLABELLED, Site, Sites, write_atomically
from colabel.errors import InputError, Problem
from colabel.federation.own_labels import OwnLabels

SUFFIXES = (".parquet", ".csv")


def labels_table(sites: Sites, own: Mapping[str, OwnLabels | None]) -> pa.Table:
    """All sites' rows: site, row, id (if any), label, confidence, given, a share of each class.

    The label is null where none reaches. A site that was lost has its given labels only.
    """
    with_ids = any(site.ids is not None for site in sites.sites)
    parts = [_rows_of(site, own.get(site.name), sites.classes, with_ids) for site in sites.sites]
    return pa.concat_tables(parts)


def _rows_of(
    site: Site, own: OwnLabels | None, classes: tuple[str, ...], with_ids: bool
) -> pa.Table:
    n = len(site)
    found = own or _only_given(site, len(classes))
    columns: dict[str, Any] = {
        "site": pa.array([site.name] * n, pa.string()),
        "row": pa.array(np.arange(n)),
    }
    if with_ids:
        ids = [None] * n if site.ids is None else site.ids.tolist()
        columns["id"] = pa.array(ids, pa.string())
    columns["label"] = _names(found.labels, classes)
    columns["confidence"] = pa.array(np.asarray(found.confidence, np.float64))
    columns["given"] = pa.array(site.labelled)
    for c, name in enumerate(classes):
        columns[f"share {name}"] = pa.array(np.asarray(found.distributions[:, c], np.float64))
    return pa.table(columns)


def _names(labels: NDArray[np.int64], classes: tuple[str, ...]) -> pa.Array:
    return pa.array([None if c == UNLABELLED else classes[c] for c in labels.tolist()], pa.string())


def _only_given(site: Site, n_classes: int) -> OwnLabels:
    shares = np.zeros((len(site), n_classes))
    at = np.flatnonzero(site.labelled)
    shares[at, site.labels[at]] = 1.0
    return OwnLabels(site.labels, site.labelled.astype(np.float64), shares)


def check_out(path: Path, inputs: tuple[Path, ...] = ()) -> None:
    """Refuse a file that could not be written, or that would replace the input."""
    problems = []
    if path.suffix.lower() not in SUFFIXES:
        what = f"{path} has no known ending"
        problems.append(Problem(what, f"Let it end with {' or '.join(SUFFIXES)}."))
    if path.is_dir():
        problems.append(Problem(f"{path} is a folder", "Name a file."))
    elif not path.parent.is_dir():
        what = f"the folder {path.parent} does not exist"
        problems.append(Problem(what, f"Create it to write {path.name}."))
    elif not os.access(path.parent, os.W_OK):
        what = f"the folder {path.parent} may not be written to"
        problems.append(Problem(what, "Name a file in another folder, or ask for the permission."))
    if any(_is_input(path, given) for given in inputs):
        what = f"{path} is one of the inputs, or lies in a folder of inputs"
        problems.append(Problem(what, "Name another file."))
    if problems:
        raise InputError(problems)


def _is_input(path: Path, given: Path) -> bool:
    return given.resolve() == (path.parent if given.is_dir() else path).resolve()


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table as Parquet or CSV, by the ending of the name, completely or not at all."""

    def write(stream: BinaryIO) -> None:
        if path.suffix.lower() == ".csv":
            pyarrow.csv.write_csv(table, stream)
        else:
            pyarrow.parquet.write_table(table, stream, write_page_checksum=True)

    write_atomically(path, write)
