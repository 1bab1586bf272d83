"""CIFAR, SVHN, STL-10, MNIST and Fashion-MNIST from files of bytes."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colabel.data import Benchmark, LazyPoints, load
from colabel.data.benchmarks.official import svhn
from colabel.errors import InputError
from official_files import cifar_record, idx, mat, put, stl_image

RNG = np.random.default_rng(0)


def images(n: int, side: int) -> np.ndarray:
    return RNG.integers(0, 256, (n, side, side, 3), dtype=np.uint8)


def part(name: str, folder: Path) -> Benchmark:
    return load(name, folder, allow_partial=True)


def refused(name: str, folder: Path, *, whole: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        load(name, folder, allow_partial=not whole)
    return str(caught.value)


def put_cifar10(folder: Path, pictures: np.ndarray) -> Path:
    here = folder / "cifar10/cifar-10-batches-bin"
    put(here / "data_batch_2.bin", cifar_record([7], pictures[0]) + cifar_record([0], pictures[1]))
    return put(here / "test_batch.bin", cifar_record([9], pictures[2]))


def test_cifar10(tmp_path: Path) -> None:
    pictures = images(3, 32)
    put_cifar10(tmp_path, pictures)
    found = part("cifar10", tmp_path)
    np.testing.assert_array_equal(found.points, pictures)
    assert found.labels.tolist() == [7, 0, 9]
    assert found.test_rows.tolist() == [2]
    assert found.groups["original_row"].tolist() == [10_000, 10_001, 0]
    assert found.classes[7] == "horse"
    assert "official" in found.source


def test_cifar10_must_be_whole_and_have_labels_below_ten(tmp_path: Path) -> None:
    test = put_cifar10(tmp_path, images(3, 32))
    said = refused("cifar10", tmp_path, whole=True)
    assert "4 problems" in said
    assert "has no data_batch_5.bin" in said
    assert "allow_partial=True" in said
    for n in (1, 3, 4, 5):
        put(test.parent / f"data_batch_{n}.bin", cifar_record([0], images(1, 32)[0]))
    assert "data_batch_1.bin is not the official file: its SHA1 is" in refused(
        "cifar10", tmp_path, whole=True
    )
    put(test, test.read_bytes() + cifar_record([10], images(1, 32)[0]))
    assert "row 1" in (said := refused("cifar10", tmp_path))
    assert "test_batch.bin has the label 10, and labels go from 0 to 9" in said


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 3 * 3073))
def test_cifar10_cut_off_anywhere(tmp_path: Path, length: int) -> None:
    data = cifar_record([1], images(1, 32)[0]) * 3
    put(tmp_path / "cifar-10-batches-bin/data_batch_1.bin", data[:length])
    if length and length % 3073 == 0:
        assert len(part("cifar10", tmp_path)) == length // 3073
    else:
        assert "data_batch_1.bin has" in (said := refused("cifar10", tmp_path))
        assert "cut off" in said


def test_cifar100(tmp_path: Path) -> None:
    here, pictures = tmp_path / "cifar-100-binary", images(2, 32)
    put(here / "train.bin", cifar_record([19, 99], pictures[0]))
    put(here / "test.bin", cifar_record([0, 3], pictures[1]))
    put(here / "coarse_label_names.txt", "".join(f"coarse{i}\n" for i in range(20)))
    names = put(here / "fine_label_names.txt", "".join(f"fine{i}\n" for i in range(100)) + "\n")
    found = part("cifar100", tmp_path)
    np.testing.assert_array_equal(found.points, pictures)
    assert found.labels.tolist() == [99, 3]
    assert found.groups["superclass"].tolist() == ["coarse19", "coarse0"]
    assert found.test_rows.tolist() == [1]
    assert found.classes[99] == "fine99"
    put(names, "apple\n")
    assert "expected 100 different names, found 1" in refused("cifar100", tmp_path)
    put(here / "test.bin", cifar_record([20, 3], pictures[1]))
    assert "test.bin has the label 20" in refused("cifar100", tmp_path)


@pytest.mark.parametrize(
    ("name", "there", "instead"),
    [
        ("cifar10", "cifar-10-batches-py/data_batch_1", "cifar-10-binary.tar.gz"),
        ("cifar100", "cifar100/cifar-100-python/train", "cifar-100-binary.tar.gz"),
        ("mini_imagenet", "mini_imagenet/mini-imagenet-cache-train.pkl", "CSV files"),
    ],
)
def test_pickles_are_refused(tmp_path: Path, name: str, there: str, instead: str) -> None:
    put(tmp_path / there, b"\x80\x04.")
    said = refused(name, tmp_path)
    assert "pickled" in said
    assert "can run any program" in said
    assert instead in said


def put_svhn(folder: Path, pictures: np.ndarray) -> None:
    put(folder / "svhn/train_32x32.mat", mat(pictures[:2], [10, 1]))
    put(folder / "svhn/test_32x32.mat", mat(pictures[2:], [9]))


def test_svhn(tmp_path: Path) -> None:
    pictures = images(3, 32)
    put_svhn(tmp_path, pictures)
    found = part("svhn", tmp_path)
    np.testing.assert_array_equal(found.points, pictures)
    assert found.labels.tolist() == [0, 1, 9]  # 10 is the digit 0
    assert found.test_rows.tolist() == [2]
    put(tmp_path / "svhn/extra_32x32.mat", mat(pictures[:1], [4]))
    assert len(part("svhn", tmp_path)) == 3
    more = part("svhn_extra", tmp_path)
    assert more.groups["part"].tolist() == ["train", "train", "test", "extra"]
    assert more.train_rows.tolist() == [0, 1, 3]


def test_svhn_checksum_then_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_svhn(tmp_path, images(3, 32))
    assert "its MD5 is" in refused("svhn", tmp_path, whole=True)
    monkeypatch.setattr(svhn.Reading, "verified", lambda self, name, _: self.path(name))
    said = refused("svhn", tmp_path, whole=True)
    assert "expected 73,257 images in train_32x32.mat, found 2" in said
    assert "expected 26,032 images in test_32x32.mat, found 1" in said
    monkeypatch.setattr(svhn, "_COUNTS", {"train": 2, "test": 1})
    assert len(load("svhn", tmp_path)) == 3


def test_svhn_broken(tmp_path: Path) -> None:
    pictures = images(2, 32)
    path = tmp_path / "svhn/train_32x32.mat"
    whole = mat(pictures, [3, 11])
    put(path, whole)
    assert "train_32x32.mat has the label 11" in refused("svhn", tmp_path)
    for content in (b"", whole[:-40], whole[:200], b"hello", mat(pictures, [1])):
        put(path, content)
        assert "train_32x32.mat is not in its official format" in refused("svhn", tmp_path)


def put_stl10(folder: Path, pictures: np.ndarray) -> Path:
    here = folder / "stl10_binary"
    put(here / "train_X.bin", stl_image(pictures[0]) + stl_image(pictures[1]))
    put(here / "train_y.bin", bytes([10, 1]))
    put(here / "test_X.bin", stl_image(pictures[2]))
    put(here / "test_y.bin", bytes([2]))
    put(here / "unlabeled_X.bin", stl_image(pictures[3]))
    return here


def test_stl10(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = images(4, 96)
    put_stl10(tmp_path, pictures)
    found = part("stl10", tmp_path)
    assert isinstance(found.points, LazyPoints)
    np.testing.assert_array_equal(found.points, pictures)
    np.testing.assert_array_equal(found.points[[3, 0, 2]], pictures[[3, 0, 2]])
    assert found.labels.tolist() == [9, 0, 1, -1]
    assert found.groups["part"].tolist() == ["train", "train", "test", "unlabeled"]
    assert found.train_rows.tolist() == [0, 1, 3]
    sites = found.to_sites(np.array([0, 1, 1]))
    assert sites["site-02"].labels.tolist() == [0, -1]
    np.testing.assert_array_equal(sites["site-02"].points, pictures[[1, 3]])
    assert "its MD5 is" in refused("stl10", tmp_path, whole=True)
    monkeypatch.setattr("colabel.data.benchmarks.official.reading._compare", lambda *_: None)
    assert "expected 100,000 images in unlabeled_X.bin, found 1" in refused(
        "stl10", tmp_path, whole=True
    )


def test_stl10_broken(tmp_path: Path) -> None:
    here = put_stl10(tmp_path, images(4, 96))
    put(here / "train_y.bin", bytes([1]))
    assert "train_y.bin has 1 labels for 2 images" in refused("stl10", tmp_path)
    put(here / "train_y.bin", bytes([1, 0]))
    assert "train_y.bin has the label 0, and labels go from 1 to 10" in refused("stl10", tmp_path)
    (here / "train_y.bin").unlink()
    assert "has no train_y.bin" in refused("stl10", tmp_path)
    put(here / "test_X.bin", b"")
    assert "test_X.bin has 0 bytes" in refused("stl10", tmp_path)


def put_idx(folder: Path, name: str, zipped: bool = True) -> tuple[np.ndarray, list[int]]:
    pixels, labels = RNG.integers(0, 256, (3, 28, 28)), [5, 0, 9]
    for prefix, rows in (("train", slice(2)), ("t10k", slice(2, 3))):
        for file, array in (
            ("images-idx3-ubyte", pixels[rows]),
            ("labels-idx1-ubyte", np.array(labels[rows])),
        ):
            data = idx(array)
            path = folder / name / f"{prefix}-{file}{'.gz' if zipped else ''}"
            put(path, gzip.compress(data) if zipped else data)
    return pixels, labels


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_idx(tmp_path: Path, name: str, zipped: bool) -> None:
    pixels, labels = put_idx(tmp_path, name, zipped)
    found = part(name, tmp_path)
    np.testing.assert_array_equal(found.points, pixels)
    assert found.points.dtype == np.uint8
    assert found.labels.tolist() == labels
    assert found.test_rows.tolist() == [2]
    assert found.natural_sites is None
    assert "is not the official file: its MD5" in refused(name, tmp_path, whole=True)


def test_writers_come_from_qmnist(tmp_path: Path) -> None:
    _, labels = put_idx(tmp_path, "mnist")
    rows = np.array([[y, 4, 2100 + y, 0, 30 + y, 7, 0, 0] for y in labels])
    files = ("qmnist-train-labels-idx2-int.gz", "qmnist-test-labels-idx2-int.gz")
    put(tmp_path / "mnist" / files[0], gzip.compress(idx(rows[:2], 12)))
    assert "has no qmnist-test-labels-idx2-int" in refused("mnist", tmp_path)
    more = np.concatenate([rows[2:], rows])  # QMNIST's test part is longer
    put(tmp_path / "mnist" / files[1], gzip.compress(idx(more, 12)))
    found = part("mnist", tmp_path)
    assert found.natural_sites is not None
    assert found.natural_sites.tolist() == ["writer-2105", "writer-2100", "writer-2109"]
    assert found.groups["hsf"].tolist() == [4, 4, 4]
    rows[0, 0] = 6
    put(tmp_path / "mnist" / files[0], gzip.compress(idx(rows[:2], 12)))
    assert "its digits are not those of MNIST, in this order" in refused("mnist", tmp_path)


def test_idx_broken(tmp_path: Path) -> None:
    put_idx(tmp_path, "mnist", zipped=False)
    path = tmp_path / "mnist/train-labels-idx1-ubyte"
    whole = path.read_bytes()
    for content, said in (
        (whole[:-1], "its head promises 2 bytes, and 1 follow"),
        (whole + b"\0", "its head promises 2 bytes, and 3 follow"),
        (whole[:6], "it begins with 00000801"),
        (b"", "it begins with"),
        (idx(np.array([5])), "1 labels for 2 images"),
        (idx(np.array([5, 10])), "has the label 10"),
    ):
        put(path, content)
        assert said in (message := refused("mnist", tmp_path))
        assert "train-labels-idx1-ubyte" in message
    path.unlink()
    assert "has no train-labels-idx1-ubyte" in refused("mnist", tmp_path)
    zipped = gzip.compress(whole)
    for content in (zipped[:-9], zipped[:5], b"no gzip", b""):
        put(tmp_path / "mnist/train-labels-idx1-ubyte.gz", content)
        assert "train-labels-idx1-ubyte.gz" in refused("mnist", tmp_path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 1583), st.integers(0, 255))
def test_any_wrong_byte_of_an_idx_file_is_a_pixel_or_refused(
    tmp_path: Path, place: int, value: int
) -> None:
    put_idx(tmp_path, "mnist", zipped=False)
    path = tmp_path / "mnist/train-images-idx3-ubyte"
    data = bytearray(path.read_bytes())
    data[place] = value
    put(path, bytes(data))
    if place >= 16 or path.read_bytes()[:16] == idx(np.zeros((2, 28, 28)))[:16]:
        assert part("mnist", tmp_path).points.shape == (3, 28, 28)
    else:
        assert "train-images-idx3-ubyte" in refused("mnist", tmp_path)
