"""A split on file: who holds which rows and sees which labels, for exactly one data set.

The file is JSON with its own checksum; the data themselves are not in it, only their fingerprint.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np

from colabel import randomness
from colabel.data.files import write_atomically
from colabel.data.lazy import LazyPoints, Points
from colabel.data.masks import LabelMask
from colabel.data.partitions.natural import Natural
from colabel.data.partitions.partition import Groups, Partition, Rows
from colabel.data.partitions.separately import deal_separately
from colabel.data.site import UNLABELLED, Site, Sites
from colabel.errors import InputError, Problem

FORMAT_VERSION = 1


class Split(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows and visible labels of every site, and how they were drawn."""

    dataset: str
    fingerprint: str
    partition: str
    unlabelled_partition: str | None = None
    mask: LabelMask
    seed: int
    sites: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    labelled_rows: tuple[tuple[int, ...], ...]
    format_version: int = FORMAT_VERSION


class _Sealed(msgspec.Struct, forbid_unknown_fields=True):
    checksum: str
    split: Split


def fingerprint(points: Points, labels: Rows) -> str:
    """SHA-256 of the points and the true labels: the same for the same data on every machine."""
    digest = hashlib.sha256()
    for array in (points, labels):
        if not isinstance(array, LazyPoints) and array.dtype.kind in "UT":
            digest.update(f"text {array.shape}".encode())
            for text in array.ravel().tolist():
                coded = str(text).encode()
                digest.update(len(coded).to_bytes(8, "little") + coded)
        else:
            order = array.dtype.newbyteorder("<")
            digest.update(f"{order.str} {array.shape}".encode())
            for block in array.blocks() if isinstance(array, LazyPoints) else (array,):
                digest.update(np.ascontiguousarray(block, order).data)
    return digest.hexdigest()


def make_split(
    dataset: str,
    points: Points,
    labels: Rows,
    *,
    partition: Partition,
    mask: LabelMask,
    n_sites: int,
    seed: int,
    unlabelled_partition: Partition | None = None,
    rows: Rows | None = None,
    groups: Groups = None,
) -> Split:
    """Deal `rows` (all, unless given) to sites and hide labels.

    With `unlabelled_partition`, labelled and unlabelled rows are dealt separately.
    """
    kept = np.arange(len(labels)) if rows is None else np.unique(rows)
    true = labels[kept]
    near = np.asarray(groups).astype(str)[kept] if groups is not None else None
    deals = randomness.data(seed, "partition")
    hides = randomness.data(seed, "label mask")
    if unlabelled_partition is None:
        site_of_row = partition.deal(true, n_sites, deals, near)
        visible = mask.choose(true, hides, site_of_row)
    else:
        visible = _without_sites(mask).choose(true, hides)
        m = mask.n_sites_with_labels
        site_of_row = deal_separately(
            partition, unlabelled_partition, visible, true, n_sites, deals,
            groups=near, n_labelled_sites=m,
        )  # fmt: skip
    here = [site_of_row == s for s in range(n_sites)]
    return Split(
        dataset=dataset,
        fingerprint=fingerprint(points, labels),
        partition=partition.spec,
        unlabelled_partition=unlabelled_partition.spec if unlabelled_partition else None,
        mask=mask,
        seed=seed,
        sites=_site_names(partition, n_sites, near),
        rows=tuple(tuple(kept[at].tolist()) for at in here),
        labelled_rows=tuple(tuple(kept[at & visible].tolist()) for at in here),
    )


def _without_sites(mask: LabelMask) -> LabelMask:
    if mask.labels_per_site is not None:
        what = "labels per site were asked for, but labelled rows are dealt separately"
        raise InputError(Problem(what, "Count labels in total, or deal all rows together."))
    return replace(mask, n_sites_with_labels=None)


def _site_names(partition: Partition, n_sites: int, groups: Groups) -> tuple[str, ...]:
    if isinstance(partition, Natural) and groups is not None:
        names = np.unique(np.asarray(groups)).tolist()
        if len(names) == n_sites:
            return tuple(names)
    width = max(len(str(n_sites)), 2)
    return tuple(f"site-{s + 1:0{width}}" for s in range(n_sites))


def write_split(path: str | Path, split: Split) -> None:
    """Write a split with its checksum, completely or not at all."""
    sealed = msgspec.json.encode(_Sealed(_checksum(split), split))

    def write(stream: BinaryIO) -> None:
        stream.write(sealed)

    write_atomically(path, write)


def read_split(path: str | Path) -> Split:
    """Read a split; refuse one that was changed, cut short or is of another version."""
    try:
        sealed = msgspec.json.decode(Path(path).read_bytes(), type=_Sealed)
    except OSError as error:
        raise InputError(Problem(f"{path} cannot be read: {error}", "Check the path.")) from error
    except msgspec.MsgspecError as error:
        what = f"{path} is no split of format {FORMAT_VERSION}: {error}"
        raise InputError(Problem(what, "Make the split again.")) from error
    split = sealed.split
    problems = []
    if split.format_version != FORMAT_VERSION:
        what = f"{path} has format {split.format_version}, this colabel reads {FORMAT_VERSION}"
        problems.append(Problem(what, "Make the split again, or use another version."))
    if sealed.checksum != _checksum(split):
        what = f"{path} was changed after it was written"
        problems.append(Problem(what, "Make the split again from its seed."))
    problems += _check(split)
    if problems:
        raise InputError(problems)
    return split


def _checksum(split: Split) -> str:
    return hashlib.sha256(msgspec.json.encode(split)).hexdigest()


def _check(split: Split) -> list[Problem]:
    dealt = [row for rows in split.rows for row in rows]
    if (
        len(split.sites) == len(split.rows) == len(split.labelled_rows)
        and len(set(dealt)) == len(dealt)
        and min(dealt, default=0) >= 0
        and all(
            set(labelled) <= set(rows)
            for labelled, rows in zip(split.labelled_rows, split.rows, strict=True)
        )
    ):
        return []
    what = "the split deals a row twice, or labels a row of another site"
    return [Problem(what, "Make the split again.")]


def apply_split(
    split: Split,
    points: Points,
    labels: Rows,
    classes: Sequence[str],
    columns: Sequence[str] | None = None,
) -> Sites:
    """The sites of this split; refuses any other data than those it was made from."""
    found = fingerprint(points, labels)
    if found != split.fingerprint:
        what = (
            f"these data are not those of the split ({split.dataset}):"
            f" fingerprint {found[:12]}…, expected {split.fingerprint[:12]}…"
        )
        raise InputError(Problem(what, "Load the same data, or make a new split for these."))
    sites = []
    for name, rows, labelled in zip(split.sites, split.rows, split.labelled_rows, strict=True):
        at = np.array(rows, np.int64)
        seen = np.where(np.isin(at, np.array(labelled, np.int64)), labels[at], UNLABELLED)
        sites.append(Site(name, points[at], seen))
    return Sites(tuple(sites), tuple(classes), tuple(columns) if columns is not None else None)
