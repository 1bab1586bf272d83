"""NPZ and NPY: arrays saved by NumPy.

An NPZ file holds `points` (or `X`), and may hold `labels` (or `y`), `ids`, `sites` (or `groups`)
and `classes`; whole-number labels are then indices into `classes`. An NPY file holds points only.
Tables become float64; images and texts keep their type, for features that read them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.data.site import UNLABELLED
from colabel.data.sources.labels import label_names
from colabel.data.sources.raw import RawFile, RawSite, Roles, missing_sites, split_by_site
from colabel.errors import InputError, Problem, did_you_mean

Arrays = Mapping[str, NDArray[np.generic]]


def read_npy(path: Path, roles: Roles) -> RawFile:
    """One array of points without labels."""
    return _from_arrays(path, {"points": np.load(path, allow_pickle=False)}, roles)


def read_npz(path: Path, roles: Roles) -> RawFile:
    """Several named arrays."""
    # NumPy leaves a file open that it opened itself and cannot read
    with path.open("rb") as stream:
        stored = np.load(stream, allow_pickle=False)
        if not isinstance(stored, Mapping):
            raise ValueError("it holds one array; name it .npy")
        return _from_arrays(path, dict(stored), roles)


def _from_arrays(path: Path, arrays: Arrays, roles: Roles) -> RawFile:
    points_name = _find(arrays, None, "points", "X")
    names = {
        "label": _find(arrays, roles.label, "labels", "label", "y"),
        "id": _find(arrays, roles.id, "ids"),
        "site": _find(arrays, roles.site, "sites", "groups"),
    }
    problems = list(_check_names(path, arrays, roles))
    if points_name is None:
        what = f"{path.name} has no array 'points' or 'X'"
        problems.append(Problem(what, f"It has: {', '.join(sorted(arrays))}. Rename one of them."))
        return RawFile(path, problems=tuple(problems), column_names=tuple(arrays))
    points = arrays[points_name]
    if not points.ndim:
        what = f"{path.name} holds one number"
        problems.append(Problem(what, "Save rows × columns.", path.stem))
        return RawFile(path, problems=tuple(problems), column_names=tuple(arrays))
    n = len(points)
    problems += _check_lengths(path.stem, arrays, n, names.values())
    if problems:
        return RawFile(path, problems=tuple(problems), column_names=tuple(arrays))
    return _build(path, points, arrays, names)


def _build(
    path: Path, points: NDArray[np.generic], arrays: Arrays, names: Mapping[str, str | None]
) -> RawFile:
    def array(role: str) -> NDArray[np.generic] | None:
        name = names[role]
        return arrays[name] if name is not None else None

    problems: list[Problem] = []
    labels = np.full(len(points), "")
    classes = tuple(arrays["classes"].astype(str).tolist()) if "classes" in arrays else None
    if (stored := array("label")) is not None:
        try:
            labels = _labels(stored, classes, names["label"] or "")
        except InputError as error:
            problems += [replace(p, site=path.stem) for p in error.problems]
    sites, ids = array("site"), array("id")
    site_of_row = sites.astype(str) if sites is not None else None
    problems += missing_sites(path.name, site_of_row, names["site"] or "")
    whole = RawSite(
        path.stem,
        path,
        points.astype(np.float64) if points.ndim == 2 and points.dtype.kind in "biuf" else points,
        None,
        labels,
        ids.astype(str) if ids is not None else None,
        np.arange(len(points)),
    )
    has = frozenset({name for name in (names["label"],) if name})
    return RawFile(
        path,
        tuple(split_by_site(whole, site_of_row)),
        tuple(problems),
        tuple(arrays),
        classes,
        has,
    )


def _find(arrays: Arrays, given: str | None, *usual: str) -> str | None:
    return next((name for name in ((given,) if given else usual) if name in arrays), None)


def _check_names(path: Path, arrays: Arrays, roles: Roles) -> Iterator[Problem]:
    for what, name in (("site", roles.site), ("id", roles.id)):
        if name is not None and name not in arrays:
            yield Problem(
                f"{path.name} has no {what} array {name!r}", did_you_mean(name, list(arrays))
            )


def _check_lengths(
    site: str, arrays: Arrays, n: int, names: Iterable[str | None]
) -> Iterator[Problem]:
    for name in names:
        if name is not None and arrays[name].shape[:1] != (n,):
            what = f"{n} points, but array {name!r} has shape {arrays[name].shape}"
            yield Problem(what, "Give one entry per point.", site)


def _labels(
    stored: NDArray[np.generic], classes: tuple[str, ...] | None, name: str
) -> NDArray[np.str_]:
    names = label_names(stored, name)
    if classes is None or stored.dtype.kind not in "iu":
        return names
    codes = stored.astype(np.int64)
    # an unsigned number may come out negative
    wrong = np.flatnonzero((codes < UNLABELLED) | (codes >= len(classes)) | (codes != stored))
    if len(wrong):
        what = f"label {stored[wrong[0]]} is not the index of one of the {len(classes)} classes"
        fix = f"Use 0 to {len(classes) - 1}, or {UNLABELLED} for unlabelled."
        raise InputError(Problem(what, fix, row=int(wrong[0]), column=name))
    return np.array([*classes, ""])[codes]
