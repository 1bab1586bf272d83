import json
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from colabel.data import (
    ClassesPerSite,
    Dirichlet,
    Iid,
    LabelMask,
    Natural,
    Split,
    apply_split,
    fingerprint,
    make_split,
    read_split,
    write_atomically,
    write_split,
)
from colabel.errors import InputError

POINTS = np.random.default_rng(0).random((200, 3))
LABELS = np.arange(200) % 4
CLASSES = ("a", "b", "c", "d")


def made(seed: int = 0) -> Split:
    return make_split(
        "made up",
        POINTS,
        LABELS,
        partition=Dirichlet(0.5),
        mask=LabelMask(n_labels=20, stratified=True),
        n_sites=5,
        seed=seed,
    )


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "split.json"
    write_split(path, made())
    split = read_split(path)
    assert split == made() != made(seed=1)
    sites = apply_split(split, POINTS, LABELS, CLASSES, ("x", "y", "z"))
    assert sites.names == ("site-01", "site-02", "site-03", "site-04", "site-05")
    assert sum(len(site) for site in sites.sites) == 200
    assert sum(int(site.labelled.sum()) for site in sites.sites) == 20
    for site, rows in zip(sites.sites, split.rows, strict=True):
        np.testing.assert_array_equal(site.points, POINTS[list(rows)])
        seen = site.labelled
        np.testing.assert_array_equal(site.labels[seen], LABELS[list(rows)][seen])


def test_only_some_rows_and_natural_names() -> None:
    split = make_split(
        "made up",
        POINTS,
        LABELS,
        partition=Natural(),
        mask=LabelMask(labels_per_site=2),
        n_sites=2,
        seed=0,
        rows=np.arange(50, 90),
        groups=np.where(np.arange(200) % 3 == 0, "north", "south"),
    )
    assert split.sites == ("north", "south")
    assert sorted(row for rows in split.rows for row in rows) == list(range(50, 90))
    assert [len(rows) for rows in split.labelled_rows] == [2, 2]


def test_labelled_and_unlabelled_separately() -> None:
    split = make_split(
        "made up",
        POINTS,
        LABELS,
        partition=ClassesPerSite(1),
        unlabelled_partition=Iid(),
        mask=LabelMask(n_labels=40, n_sites_with_labels=4),
        n_sites=8,
        seed=0,
    )
    classes = [set(LABELS[list(rows)].tolist()) for rows in split.labelled_rows]
    assert sorted(map(len, classes)) == [0, 0, 0, 0, 1, 1, 1, 1]
    with pytest.raises(InputError, match="labelled rows are dealt separately"):
        make_split(
            "made up", POINTS, LABELS, partition=Iid(), unlabelled_partition=Iid(),
            mask=LabelMask(labels_per_site=1), n_sites=4, seed=0,
        )  # fmt: skip


def test_other_data_are_refused() -> None:
    for points, labels in (
        (POINTS + 1e-9, LABELS),
        (POINTS, LABELS[::-1]),
        (POINTS.astype(np.float32), LABELS),
        (POINTS[:-1], LABELS[:-1]),
    ):
        with pytest.raises(InputError, match=r"not those of the split \(made up\)"):
            apply_split(made(), points, labels, CLASSES)


def test_fingerprints_do_not_depend_on_the_machine() -> None:
    swapped = POINTS.astype(">f8")
    assert fingerprint(swapped, LABELS) == fingerprint(POINTS, LABELS)
    assert fingerprint(np.asfortranarray(POINTS), LABELS) == fingerprint(POINTS, LABELS)
    texts = ["ä", "bc"]
    wide = np.array(texts, np.dtypes.StringDType())
    assert fingerprint(wide, LABELS) == fingerprint(np.array(texts), LABELS)
    assert fingerprint(np.array(["äb", "c"]), LABELS) != fingerprint(wide, LABELS)


def test_a_changed_split_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "split.json"
    write_split(path, made())
    whole = path.read_bytes()

    def change(**values: object) -> None:
        sealed = json.loads(whole)
        sealed["split"].update(values)
        path.write_text(json.dumps(sealed))

    change(seed=7)
    with pytest.raises(InputError, match="was changed after it was written"):
        read_split(path)
    change(format_version=9)
    with pytest.raises(InputError, match="has format 9, this colabel reads 1"):
        read_split(path)
    rows = [list(r) for r in made().rows]
    change(rows=[rows[1], *rows[1:]])
    with pytest.raises(InputError, match="deals a row twice"):
        read_split(path)
    change(rows=rows[1:])
    with pytest.raises(InputError, match="deals a row twice"):
        read_split(path)
    change(surprise=1)
    with pytest.raises(InputError, match="is no split of format 1"):
        read_split(path)
    path.write_bytes(whole[:-20])
    with pytest.raises(InputError, match="is no split of format 1"):
        read_split(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_split(tmp_path / "nowhere.json")


def test_layout_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "split.json"
    write_split(path, made())
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=2))
    assert read_split(path) == made()


def test_write_atomically(tmp_path: Path) -> None:
    path = tmp_path / "out.bin"

    def good(stream: BinaryIO) -> None:
        stream.write(b"whole")

    def bad(stream: BinaryIO) -> None:
        stream.write(b"ha")
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        write_atomically(path, bad)
    assert list(tmp_path.iterdir()) == []
    write_atomically(path, good)
    with pytest.raises(RuntimeError):
        write_atomically(path, bad)
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match=r"does not exist\. Create it"):
        write_atomically(tmp_path / "no" / "out.bin", good)
