"""The real data at hand, written in the official formats: counts and checksums must then agree."""

import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

from colabel.data import Benchmark, load
from colabel.data.benchmarks import images, registry, tabular

FOLDER = os.environ.get("COLABEL_DATA", "")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not FOLDER or not Path(FOLDER).is_dir(),
        reason="the real data sets are absent: set COLABEL_DATA to their folder",
    ),
]


def same(found: Benchmark, copy: Benchmark) -> None:
    assert "official files" in found.source
    assert "official files" not in copy.source
    np.testing.assert_array_equal(found.points, copy.points)
    np.testing.assert_array_equal(found.labels, copy.labels)
    np.testing.assert_array_equal(found.test_rows, copy.test_rows)
    assert found.classes == copy.classes
    assert found.columns == copy.columns
    if copy.natural_sites is not None:
        np.testing.assert_array_equal(found.natural_sites, copy.natural_sites)


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_idx_files_have_the_official_checksums(name: str, tmp_path: Path) -> None:
    copy = registry._STORED[name](Path(FOLDER))
    here = tmp_path / name
    here.mkdir()
    for prefix, rows in (("train", copy.train_rows), ("t10k", copy.test_rows)):
        pixels, labels = copy.points[rows], copy.labels[rows].astype(np.uint8)
        head = struct.pack(">4I", 2051, *pixels.shape)
        (here / f"{prefix}-images-idx3-ubyte").write_bytes(head + pixels.tobytes())
        head = struct.pack(">2I", 2049, len(labels))
        (here / f"{prefix}-labels-idx1-ubyte").write_bytes(head + labels.tobytes())
        if name == "mnist":
            table = np.zeros((len(rows), 8), ">i4")
            table[:, 0] = labels
            table[:, 1], table[:, 2] = copy.groups["hsf"][rows], copy.groups["writer"][rows]
            part = "train" if prefix == "train" else "test"
            head = struct.pack(">3I", 3074, len(rows), 8)
            (here / f"qmnist-{part}-labels-idx2-int").write_bytes(head + table.tobytes())
    same(load(name, tmp_path), copy)


def test_cifar10_rows_are_those_of_the_original_order(tmp_path: Path) -> None:
    copy = images.cifar10(Path(FOLDER))
    here = tmp_path / "cifar-10-batches-bin"
    here.mkdir()
    for name, rows in (("data_batch_1", copy.train_rows[:500]), ("test_batch", copy.test_rows)):
        planes = copy.points[rows].transpose(0, 3, 1, 2).reshape(len(rows), -1)
        records = np.concatenate([copy.labels[rows].astype(np.uint8)[:, None], planes], axis=1)
        (here / f"{name}.bin").write_bytes(records.tobytes())
    found = load("cifar10", tmp_path, allow_partial=True)
    rows = np.concatenate([copy.train_rows[:500], copy.test_rows])
    np.testing.assert_array_equal(found.points, copy.points[rows])
    np.testing.assert_array_equal(found.labels, copy.labels[rows])


def test_covertype_has_the_official_checksum(tmp_path: Path) -> None:
    copy = tabular.covertype(Path(FOLDER))
    values = np.concatenate([copy.points, copy.labels[:, None] + 1], axis=1).astype(np.int16)
    (tmp_path / "uci_covertype").mkdir()
    table = pa.table({str(c): values[:, c] for c in range(55)})
    how = arrow_csv.WriteOptions(include_header=False)
    arrow_csv.write_csv(table, tmp_path / "uci_covertype/covtype.data", how)
    same(load("covertype", tmp_path), copy)


def test_adult_has_the_official_checksums(tmp_path: Path) -> None:
    here = tmp_path / "uci_adult"
    here.mkdir()
    for name in ("adult.data", "adult.test"):
        stored = (Path(FOLDER) / "uci_adult" / f"{name}.gz").read_bytes()
        (here / name).write_bytes(gzip.decompress(stored))
    same(load("adult", tmp_path), tabular.adult(Path(FOLDER)))


def test_mushroom_and_wine_are_the_same_in_uci_s_format(tmp_path: Path) -> None:
    # the copies were written anew, so only the values can be compared
    for folder in ("uci_mushroom", "uci_wine_quality"):
        (tmp_path / folder).mkdir()
    stored = (Path(FOLDER) / "uci_mushroom/agaricus-lepiota.csv.gz").read_bytes()
    rows = gzip.decompress(stored).split(b"\n", 1)[1]
    (tmp_path / "uci_mushroom/agaricus-lepiota.data").write_bytes(rows)
    for colour in ("red", "white"):
        name = f"uci_wine_quality/winequality-{colour}.csv"
        text = (Path(FOLDER) / name).read_text()
        head, rest = text.split("\n", 1)
        quoted = ";".join(f'"{word.replace("_", " ")}"' for word in head.split(","))
        (tmp_path / name).write_text(f"{quoted}\n{rest.replace(',', ';')}")
    for name in ("mushroom", "wine_quality", "wine_colour"):
        same(load(name, tmp_path, allow_partial=True), registry._STORED[name](Path(FOLDER)))
