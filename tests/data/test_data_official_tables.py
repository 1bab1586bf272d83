"""The UCI sets from UCI's files, and which files are chosen where there are several."""

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from colabel.data import BENCHMARKS, load
from colabel.data.benchmarks.official import OFFICIAL
from colabel.errors import InputError
from official_files import cifar_record, put

PERSON = "39, {}, 7751, Bachelors, 13, Never-married, Sales, Wife, White, Male, 1, 0, 40, Peru, {}"
WINE_HEAD = '"fixed acidity";"pH";' + ";".join(f'"c{i}"' for i in range(9)) + ';"quality"\n'
DOCS = Path(__file__).parents[2] / "docs" / "data.md"


def refused(name: str, folder: Path, *, whole: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        load(name, folder, allow_partial=not whole)
    return str(caught.value)


def forest_row(area: int, soil: int, cover: int) -> str:
    numbers = [2596, 51, 3, 258, -7, 510, 221, 232, 148, 6279]
    flags = [int(i == area) for i in range(4)] + [int(i == soil) for i in range(40)]
    return ",".join(map(str, [*numbers, *flags, cover])) + "\n"


def test_covertype(tmp_path: Path) -> None:
    path = tmp_path / "uci_covertype/covtype.data.gz"
    put(path, gzip.compress((forest_row(3, 39, 7) + forest_row(0, 0, 1)).encode()))
    found = load("covertype", tmp_path, allow_partial=True)
    assert found.points.shape == (2, 54)
    assert found.points.dtype == np.int16
    assert found.points[0, [0, 4, 9, 13, 53]].tolist() == [2596, -7, 6279, 1, 1]
    assert found.labels.tolist() == [6, 0]
    assert found.natural_sites is not None
    assert found.natural_sites.tolist() == ["Cache la Poudre", "Rawah"]
    assert found.columns is not None
    assert len(found.columns) == 54
    assert "its SHA256 is" in refused("covertype", tmp_path, whole=True)
    path.unlink()
    for text, said in (
        (forest_row(0, 0, 8), "covtype.data has the label 8, and labels go from 1 to 7"),
        (forest_row(9, 0, 1), "there is not exactly one area"),
        (forest_row(0, 99, 1), "there is not exactly one soil"),
        (forest_row(0, 0, 1)[3:].replace("51", "x"), "not every cell is a number"),
        (forest_row(0, 0, 1)[:-8] + "\n", "52 columns, not 55"),
        (forest_row(0, 0, 1) + "1,2\n", "covtype.data is not in its official format"),
        ("", "covtype.data is not in its official format"),
    ):
        put(tmp_path / "uci_covertype/covtype.data", text)
        assert said in refused("covertype", tmp_path)


def test_adult(tmp_path: Path) -> None:
    here = tmp_path / "uci_adult"
    put(here / "adult.data", f"{PERSON.format('?', '<=50K')}\n{PERSON.format('Gov', '>50K')}\n\n")
    test = "|1x3 Cross validator\n" + PERSON.format("Gov", ">50K.") + "\n\n"
    put(here / "adult.test", test)
    found = load("adult", tmp_path, allow_partial=True)
    assert found.labels.tolist() == [0, 1, 1]
    assert found.test_rows.tolist() == [2]
    assert found.columns is not None
    assert found.columns[:3] == ("age", "workclass=?", "workclass=Gov")
    assert "adult.data is not the official file" in refused("adult", tmp_path, whole=True)
    put(here / "adult.test", test.replace(">50K.", ">50K"))
    assert "adult.test has the label '>50K'" in refused("adult", tmp_path)
    put(here / "adult.test", test.replace(", Peru", ""))
    assert "14 columns, not 15" in refused("adult", tmp_path)
    (here / "adult.test").unlink()
    assert "has no adult.test" in refused("adult", tmp_path)


def test_mushroom(tmp_path: Path) -> None:
    path = tmp_path / "uci_mushroom/agaricus-lepiota.data"
    put(path, "p,x" + ",a" * 20 + ",d\ne,b" + ",a" * 20 + ",d\n")
    found = load("mushroom", tmp_path, allow_partial=True)
    assert found.labels.tolist() == [1, 0]
    assert found.columns is not None
    assert found.columns[:2] == ("cap-shape=b", "cap-shape=x")
    assert found.columns[-1] == "habitat=d"
    put(path, "q,x" + ",a" * 21 + "\n")
    assert "has the label 'q'" in refused("mushroom", tmp_path)
    put(path, "\n")
    assert "it has no rows" in refused("mushroom", tmp_path)


def put_wines(folder: Path, white: str) -> None:
    cells = ";1" * 9
    put(folder / "uci_wine_quality/winequality-red.csv", f"{WINE_HEAD}7.4;3.5{cells};3\n")
    put(folder / "uci_wine_quality/winequality-white.csv", f"{WINE_HEAD}{white}{cells};9\n")


def test_wines(tmp_path: Path) -> None:
    put_wines(tmp_path, "7;3")
    quality = load("wine_quality", tmp_path, allow_partial=True)
    colour = load("wine_colour", tmp_path, allow_partial=True)
    assert quality.points[:, :2].tolist() == [[7.4, 3.5], [7, 3]]
    assert quality.columns is not None
    assert quality.columns[:2] == ("fixed_acidity", "pH")
    assert [quality.classes[c] for c in quality.labels] == ["3", "9"]
    assert [colour.classes[c] for c in colour.labels] == ["red", "white"]
    assert "winequality-red.csv is not the official file" in refused(
        "wine_colour", tmp_path, whole=True
    )
    put_wines(tmp_path, "7;")
    assert "winequality-white.csv is not in its official format" in refused(
        "wine_quality", tmp_path
    )
    put_wines(tmp_path, "x;3")
    assert "not every cell is a number" in refused("wine_quality", tmp_path)


def test_breast_cancer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLABEL_DATA", raising=False)
    bundled = load("breast_cancer")
    rows = [
        f"{i},{'MB'[label]}," + ",".join(repr(float(v)) for v in row)
        for i, (row, label) in enumerate(zip(bundled.points, bundled.labels, strict=True))
    ]
    path = put(tmp_path / "uci_breast_cancer/wdbc.data", "\n".join(rows) + "\n")
    found = load("breast_cancer", tmp_path, allow_partial=True)
    np.testing.assert_array_equal(found.points, bundled.points)
    np.testing.assert_array_equal(found.labels, bundled.labels)
    assert found.columns == bundled.columns
    assert "official files (a part may be missing)" in found.source
    assert len(load("breast_cancer")) == 569  # no folder is needed
    assert "wdbc.data is not the official file" in refused("breast_cancer", tmp_path, whole=True)
    put(path, rows[0].replace("17.99", "seventeen"))
    assert "could not convert" in refused("breast_cancer", tmp_path)


def test_a_right_checksum_and_a_wrong_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "p,x" + ",a" * 21 + "\n"
    digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    monkeypatch.setattr("colabel.data.benchmarks.official.uci._MUSHROOM", digest)
    put(tmp_path / "uci_mushroom/agaricus-lepiota.data", text)
    assert "expected 8,124 mushrooms, found 1" in refused("mushroom", tmp_path, whole=True)


def test_official_files_come_before_the_small_copy(tmp_path: Path) -> None:
    both = refused("cifar10", tmp_path)
    assert "has no cifar10/cifar10_sub.npz" in both
    assert "has no official files of cifar10: looked for data_batch_1.bin" in both
    assert "colabel downloads nothing" in both
    (tmp_path / "cifar10").mkdir()
    arrays = {"y_train": [1], "y_test": [2], "idx_train": [0], "idx_test": [0]}
    coded = np.zeros((3, 1, 32, 32), np.uint8)
    np.savez(
        tmp_path / "cifar10/cifar10_sub.npz",
        x_train_enc=coded,
        x_test_enc=coded,
        **{key: np.array(value, np.uint8) for key, value in arrays.items()},
    )
    assert len(load("cifar10", tmp_path)) == 2
    put(tmp_path / "cifar10/data_batch_1.bin", cifar_record([3], np.zeros((32, 32, 3))))
    found = load("cifar10", tmp_path, allow_partial=True)
    assert found.labels.tolist() == [3]
    assert "official" in found.source


@pytest.mark.parametrize("name", sorted(OFFICIAL))
def test_an_empty_folder_is_told_where_to_get_the_files(name: str, tmp_path: Path) -> None:
    official = OFFICIAL[name]
    if name == "breast_cancer":
        assert "bundled" in load(name, tmp_path).source
        return
    said = refused(name, tmp_path)
    assert official.origin in said
    assert official.folders[0] in said
    assert any(file in said for file in official.telling)


def test_side_is_for_image_files(tmp_path: Path) -> None:
    for name in ("digits", "cifar10", "svhn"):
        with pytest.raises(InputError, match="Leave out `side`"):
            load(name, tmp_path, side=8)
    put(tmp_path / "svhn/test_32x32.mat", "")
    with pytest.raises(InputError, match="Leave out `side`"):
        load("svhn", tmp_path, side=8)
    (tmp_path / "brain_mri/yes").mkdir(parents=True)
    with pytest.raises(InputError, match="side=0 is no size"):
        load("brain_mri", tmp_path, side=0)
    assert "there are no images in no, yes" in refused("brain_mri", tmp_path)


def test_the_documentation_names_every_set_and_its_files() -> None:
    rows = {
        line.split("`")[1]: line for line in DOCS.read_text().splitlines() if line.startswith("| `")
    }
    assert list(rows) == list(BENCHMARKS)
    for name, official in OFFICIAL.items():
        assert f"`{official.folders[0]}/`" in rows[name], name
        assert any(f"`{file}" in rows[name] for file in official.telling), name
