"""What `colabel split` deals, and the site files that it may write."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colabel.data import BENCHMARKS, UNLABELLED, Split, load, read_sites
from colabel.data.lazy import Points
from colabel.errors import InputError, Problem, did_you_mean
from colabel.runs import write_table

LABEL, TRUTH, ID = "label", "truth", "id"


class Whole(NamedTuple):
    """A data set before it is dealt."""

    name: str
    points: Points
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    columns: tuple[str, ...] | None
    rows: NDArray[np.int64] | None
    groups: NDArray[np.str_] | None


def check_targets(out: Path, folder: Path | None, dataset: str) -> None:
    """Refuse, before any work, what could not be written or would mix with something else."""
    problems = []
    if out.is_dir() or not out.parent.is_dir():
        what = f"{out} is a folder" if out.is_dir() else f"the folder {out.parent} does not exist"
        problems.append(Problem(what, "Name a file in a folder that exists."))
    if out.resolve() == Path(dataset).resolve():
        problems.append(Problem(f"{out} is the input", "Name another file."))
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = f"{folder} exists and is not an empty folder"
        problems.append(Problem(what, "Name a new folder, so that old sites do not mix in."))
    if problems:
        raise InputError(problems)


def read_whole(
    dataset: str,
    data_dir: Path | None,
    site_column: str | None,
    label_column: str | None,
    id_column: str | None,
) -> Whole:
    """A public data set by name, or a file."""
    if dataset in BENCHMARKS:
        found = load(dataset, data_dir)
        return Whole(
            dataset, found.points, found.labels, found.classes, found.columns, found.train_rows,
            found.natural_sites,
        )  # fmt: skip
    path = Path(dataset)
    if not path.exists():
        what = f"{dataset!r} is neither a data set nor a file"
        raise InputError(Problem(what, did_you_mean(dataset, BENCHMARKS)))
    sites = read_sites(
        [path], site_column=site_column, label_column=label_column, id_column=id_column
    )
    names = [name for name in sites.names for _ in range(len(sites[name]))]
    return Whole(
        path.name,
        np.concatenate([site.points for site in sites.sites]),
        np.concatenate([site.labels for site in sites.sites]),
        sites.classes,
        sites.columns,
        None,
        np.array(names) if site_column is not None else None,
    )


def class_table(split: Split, whole: Whole) -> NDArray[np.int64]:
    """How many points of each class each site holds."""
    n_classes = len(whole.classes)
    counts = []
    for rows in split.rows:
        labels = whole.labels[np.array(rows, np.int64)]
        counts.append(np.bincount(labels[labels != UNLABELLED], minlength=n_classes))
    return np.array(counts, np.int64)


def checksum(out: Path) -> str:
    """The checksum of the whole split, as its file has it: one short name for the experiment."""
    stored: str = msgspec.json.decode(out.read_bytes())["checksum"]
    return stored or hashlib.sha256(out.read_bytes()).hexdigest()


def write_site_files(folder: Path, split: Split, whole: Whole) -> None:
    """One Parquet file per site: features, the labels it sees, all true labels, row numbers."""
    names = _feature_names(whole)
    folder.mkdir(parents=True, exist_ok=True)
    for site, rows, seen in zip(split.sites, split.rows, split.labelled_rows, strict=True):
        at, visible = np.array(rows, np.int64), set(seen)
        flat = whole.points[at].reshape(len(at), -1)
        columns = {name: flat[:, c] for c, name in enumerate(names)}
        true = [None if c == UNLABELLED else whole.classes[c] for c in whole.labels[at].tolist()]
        shown = [name if row in visible else None for name, row in zip(true, rows, strict=True)]
        columns |= {
            LABEL: pa.array(shown, pa.string()),
            TRUTH: pa.array(true, pa.string()),
            ID: pa.array([str(row) for row in rows], pa.string()),
        }
        write_table(folder / f"{_file_name(site)}.parquet", pa.table(columns))


def _feature_names(whole: Whole) -> list[str]:
    if whole.points.dtype.kind not in "biuf":
        what = "the points are not numbers, and tables of sites hold numbers"
        raise InputError(Problem(what, "Leave out --write-sites; the split file is enough."))
    width = int(np.prod(whole.points.shape[1:]))
    names = list(whole.columns or (f"f{c:0{len(str(width))}}" for c in range(width)))
    taken = [name for name in names if name in (LABEL, TRUTH, ID)]
    if taken:
        fix = "Rename it: the files of the sites need this name."
        raise InputError(Problem("a feature has a reserved name", fix, column=n) for n in taken)
    return names


def _file_name(site: str) -> str:
    """Names of sites become names of files."""
    return "".join(c if c.isalnum() or c in "-_. " else "_" for c in site)
