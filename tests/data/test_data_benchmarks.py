"""The loaders, on tiny files of the same format that the tests write themselves."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from colabel.data import BENCHMARKS, Benchmark, describe, load
from colabel.data.benchmarks.coding import decode_images, encode_images
from colabel.errors import InputError

RNG = np.random.default_rng(0)


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def put_arrays(folder: Path, name: str, **arrays: object) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    np.savez(folder / name, **arrays)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "iris", "wine"])
def test_bundled_sets_need_no_folder(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLABEL_DATA", raising=False)
    found = load(name)
    assert found.name == name
    assert found.columns is not None
    assert found.points.shape == (len(found.labels), len(found.columns))
    assert len(found.classes) == found.labels.max() + 1
    assert found.licence
    assert len(found.test_rows) == 0


def test_every_set_is_described() -> None:
    assert all(describe(name).endswith(".") for name in BENCHMARKS)


def test_what_is_said_when_data_are_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLABEL_DATA", raising=False)
    with pytest.raises(InputError, match="set COLABEL_DATA to the folder"):
        load("mnist")
    with pytest.raises(InputError, match=r"has no mnist/mnist\.npz"):
        load("mnist", tmp_path)
    monkeypatch.setenv("COLABEL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="nowhere does not exist"):
        load("mnist")
    for ask in (load, describe):
        with pytest.raises(InputError, match="Did you mean 'mushroom'"):
            ask("mushrooms")


@given(hnp.arrays(np.uint8, st.sampled_from([(2, 3, 4), (2, 3, 4, 3), (0, 2, 2), (1, 1, 1, 3)])))
def test_image_coding_is_lossless(images: np.ndarray) -> None:
    np.testing.assert_array_equal(decode_images(encode_images(images)), images)


def test_image_coding_by_hand() -> None:
    # R − G, G, B − G of one pixel row: G = 10, 13; R = 12, 13; B = 9, 255
    coded = np.array([[[[2, 254]]], [[[10, 3]]], [[[255, 243]]]], np.uint8)
    assert decode_images(coded).tolist() == [[[[12, 10, 9], [13, 13, 255]]]]


def test_mnist_and_fashion_mnist(tmp_path: Path) -> None:
    images = {
        "x_train": np.zeros((3, 28, 28), np.uint8),
        "x_test": np.ones((2, 28, 28), np.uint8),
        "y_train": np.array([5, 0, 9], np.uint8),
        "y_test": np.array([1, 2], np.uint8),
    }
    put_arrays(tmp_path, "fashion_mnist/fashion_mnist.npz", **images)
    fashion = load("fashion_mnist", tmp_path)
    assert fashion.points.shape == (5, 28, 28)
    assert fashion.labels.tolist() == [5, 0, 9, 1, 2]
    assert fashion.test_rows.tolist() == [3, 4]
    who = {
        "writer_train": np.array([7, 0, 7], np.int16),
        "writer_test": np.array([25, 25], np.int16),
        "hsf_train": np.zeros(3),
        "hsf_test": np.zeros(2),
    }
    put_arrays(tmp_path, "mnist/mnist.npz", **images, **who)
    mnist = load("mnist", tmp_path)
    assert mnist.natural_sites is not None
    sites = mnist.to_sites(mnist.natural_sites[mnist.train_rows], np.array([True, True, False]))
    assert sites.names == ("writer-0000", "writer-0007")
    assert sites["writer-0007"].labels.tolist() == [5, -1]


def test_cifar10(tmp_path: Path) -> None:
    images = RNG.integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)
    put_arrays(
        tmp_path,
        "cifar10/cifar10_sub.npz",
        x_train_enc=encode_images(images[:4]),
        x_test_enc=encode_images(images[4:]),
        y_train=np.array([9, 9, 4, 1], np.uint8),
        y_test=np.array([3], np.uint8),
        idx_train=np.arange(4),
        idx_test=np.arange(1),
    )
    found = load("cifar10", tmp_path)
    np.testing.assert_array_equal(found.points, images)
    assert found.groups["original_row"].tolist() == [0, 1, 2, 3, 0]


def test_ham10000(tmp_path: Path) -> None:
    images = RNG.integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    put_arrays(
        tmp_path,
        "ham10000/ham10000_32.npz",
        x_enc=encode_images(images),
        y=np.array([1, 0, 1], np.uint8),
        center=np.array([1, 0, 0], np.uint8),
        lesion=np.array([4, 5, 5]),
        age=np.array([40, 50, 50]),
        sex=np.array([0, 1, 1]),
        class_names=np.array(["bcc", "nv"]),
        center_names=np.array(["here", "there"]),
    )
    put_arrays(
        tmp_path,
        "ham10000/ham10000_lite0_pca128.npz",
        features=np.ones((3, 128), np.float16),
        is_test_lesion=np.array([1, 0, 0], np.uint8),
    )
    pictures, features = load("ham10000", tmp_path), load("ham10000_features", tmp_path)
    np.testing.assert_array_equal(pictures.points, images)
    assert features.points.dtype == np.float64
    for found in (pictures, features):
        assert found.metric == "balanced_accuracy"
        assert found.natural_sites is not None
        assert found.natural_sites.tolist() == ["there", "here", "here"]
        assert found.test_rows.tolist() == [0]
        assert found.groups["lesion"].tolist() == [4, 5, 5]


def test_heart_fills_what_is_missing(tmp_path: Path) -> None:
    row = "63.0,1.0,1.0,145.0,{},1.0,2.0,150.0,0.0,2.3,3.0,{},6.0,{}\n"
    for name, chol, ca, num in (
        ("cleveland", "200", "0", "0"),
        ("hungarian", "300", "?", "2"),
        ("switzerland", "0", "1", "4"),
        ("va", "?", "2", "1"),
    ):
        put(tmp_path, f"uci_heart/processed.{name}.data", row.format(chol, ca, num))
    found = load("heart", tmp_path)
    assert found.labels.tolist() == [0, 1, 1, 1]
    assert found.points[:, 4].tolist() == [200, 300, 250, 250]
    assert found.points[:, 11].tolist() == [0, 1, 1, 2]
    assert found.natural_sites is not None
    assert found.natural_sites.tolist() == ["cleveland", "hungarian", "switzerland", "va"]
    assert found.groups["has_missing"].tolist() == [False, True, True, True]


def test_covertype(tmp_path: Path) -> None:
    put_arrays(
        tmp_path,
        "uci_covertype/covertype.npz",
        numeric=np.arange(20, dtype=np.int16).reshape(10, 2),
        wilderness=np.array([3, 0], np.uint8),
        soil=np.array([39, 0], np.uint8),
        y=np.array([7, 1], np.uint8),
        numeric_names=np.array([f"n{i}" for i in range(10)]),
    )
    found = load("covertype", tmp_path)
    assert found.points.shape == (2, 54)
    assert found.labels.tolist() == [6, 0]
    assert found.points[0, [0, 1, 13, 53]].tolist() == [0, 2, 1, 1]
    assert found.points[0, 10:].sum() == 2


def test_adult(tmp_path: Path) -> None:
    row = "39, {}, 7751, Bachelors, 13, Never-married, Sales, Wife, White, Male, 1, 0, 40, Peru, {}"
    put(
        tmp_path,
        "uci_adult/adult.data.gz",
        row.format("?", "<=50K") + "\n" + row.format("Private", ">50K") + "\n\n",
    )
    put(
        tmp_path,
        "uci_adult/adult.test.gz",
        "|1x3 Cross validator\n" + row.format("Private", ">50K.") + "\n\n",
    )
    found = load("adult", tmp_path)
    assert found.labels.tolist() == [0, 1, 1]
    assert found.test_rows.tolist() == [2]
    assert found.columns is not None
    assert found.columns[:3] == ("age", "workclass=?", "workclass=Private")
    assert found.points[:, :3].tolist() == [[39, 1, 0], [39, 0, 1], [39, 0, 1]]


def test_mushroom(tmp_path: Path) -> None:
    put(
        tmp_path,
        "uci_mushroom/agaricus-lepiota.csv.gz",
        "edibility,cap,root\np,x,?\ne,x,e\ne,b,e\n",
    )
    found = load("mushroom", tmp_path)
    assert found.columns == ("cap=b", "cap=x", "root=?", "root=e")
    assert found.labels.tolist() == [1, 0, 0]
    assert found.points.tolist() == [[0, 1, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1]]


def test_wines(tmp_path: Path) -> None:
    for colour, score in (("red", 3), ("white", 9)):
        put(tmp_path, f"uci_wine_quality/winequality-{colour}.csv", f"pH,quality\n3.5,{score}\n")
    quality, colours = load("wine_quality", tmp_path), load("wine_colour", tmp_path)
    assert [quality.classes[c] for c in quality.labels] == ["3", "9"]
    assert [colours.classes[c] for c in colours.labels] == ["red", "white"]
    assert quality.columns == ("pH",)


def test_imdb(tmp_path: Path) -> None:
    put(
        tmp_path,
        "text_imdb_polarity_v2/imdb_polarity2000.tsv.gz",
        'label\tcv_tag\ttext\n0\tcv000\t"a ""sorta"" film"\n1\tcv001\tNA\n',
    )
    found = load("imdb", tmp_path)
    assert found.points.tolist() == ['a "sorta" film', "NA"]
    assert found.labels.tolist() == [0, 1]


def test_to_sites_by_number() -> None:
    found = Benchmark("b", np.ones((12, 1)), np.zeros(12, np.int64), ("a",), "", "")
    names = found.to_sites(np.arange(12)).names
    assert names[0] == "site-01"
    assert names[-1] == "site-12"
    assert found.to_sites(np.array([0, 0]), rows=np.array([3, 4])).names == ("site-01",)
