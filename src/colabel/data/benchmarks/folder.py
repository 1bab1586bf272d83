"""Where the public data sets lie, and what to say when they do not."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem

VARIABLE = "COLABEL_DATA"


class Absent(InputError):
    """A file of a data set is not there."""


def known_folder(data_dir: str | Path | None = None) -> Path | None:
    """The folder of all data sets, if one is known and exists."""
    given = data_dir or os.environ.get(VARIABLE)
    return Path(given) if given and Path(given).is_dir() else None


def data_folder(data_dir: str | Path | None = None) -> Path:
    """The folder of all data sets: the argument, else the variable COLABEL_DATA."""
    given = data_dir or os.environ.get(VARIABLE)
    how = f"Give data_dir (--data-dir), or set {VARIABLE} to the folder that holds the data sets."
    if not given:
        raise InputError(Problem("the folder with the data sets is not known", how))
    if not Path(given).is_dir():
        raise InputError(Problem(f"the data folder {given} does not exist", how))
    return Path(given)


def data_file(folder: Path, name: str) -> Path:
    """One file of a data set."""
    path = folder / name
    if not path.is_file():
        what = f"the data folder {folder} has no {name}"
        raise Absent(Problem(what, f"Put it there, or let {VARIABLE} name another folder."))
    return path


def load_arrays(folder: Path, name: str) -> dict[str, NDArray[np.generic]]:
    """All arrays of an NPZ file of a data set."""
    with np.load(data_file(folder, name), allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}
