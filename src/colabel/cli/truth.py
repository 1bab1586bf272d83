"""Copies of the input, once without the true labels and once with them in the labels' place.

Reading copies keeps all the checks of the readers, and the true labels out of the features.
"""

import csv
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet

from colabel.errors import InputError, Problem, did_you_mean

_TABLES = (".csv", ".tsv", ".parquet", ".npz")


def copies(
    paths: Sequence[Path], label: str, truth: str, scratch: Path
) -> tuple[list[Path], list[Path], dict[str, str]]:
    """Copies without the true labels, copies without the labels, and which file each is of."""
    files = [file for path in paths for file in _inside(path)]
    shown, true, origins = list[Path](), list[Path](), dict[str, str]()
    missing = []
    for place, file in enumerate(files):
        for kind, kept, drop in (
            ("shown", shown, truth),
            ("true", true, label),
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
