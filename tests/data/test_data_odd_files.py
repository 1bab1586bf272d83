"""Files that exist in hospitals: other encodings, huge numbers, labels that float64 would merge."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from colabel.data import Site, Sites, check_sites, diagnose, notes_on, read_sites
from colabel.errors import InputError


def problems(*paths: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_sites(paths)
    return str(caught.value)


def csv(folder: Path, labels: list[str], encoding: str = "utf-8", name: str = "s.csv") -> Path:
    rows = "".join(f"{i}.5,{label}\n" for i, label in enumerate(labels))
    path = folder / name
    path.write_bytes(("x,label\n" + rows).encode(encoding))
    return path


def parquet(folder: Path, labels: object) -> Path:
    path = folder / "s.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0], "label": labels}), path)
    return path


def npz(folder: Path, labels: object, **more: object) -> Path:
    path = folder / "s.npz"
    np.savez(path, X=np.arange(6.0).reshape(3, 2), y=labels, **more)
    return path


BIG = 2**53  # the next whole number is the same float64


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: csv(folder, [str(BIG), str(BIG + 1), "-1"]),
        lambda folder: parquet(folder, pa.array([BIG, BIG + 1, None])),
        lambda folder: npz(folder, np.array([BIG, BIG + 1, -1])),
    ],
)
def test_long_numbers_stay_different_classes(tmp_path: Path, write) -> None:
    sites = read_sites(write(tmp_path))
    assert sites.classes == (str(BIG), str(BIG + 1))
    assert sites["s"].labels.tolist() == [0, 1, -1]


def test_unsigned_labels_do_not_wrap_around(tmp_path: Path) -> None:
    labels = np.array([2**64 - 1, 2**63 + 1, 0], np.uint64)
    sites = read_sites(npz(tmp_path, labels))
    assert sites.classes == ("0", str(2**63 + 1), str(2**64 - 1))
    assert sites["s"].labels.tolist() == [2, 1, 0]
    assert "label 18446744073709551615 is not the index" in problems(
        npz(tmp_path, labels, classes=np.array(["a", "b"]))
    )


def test_a_float_that_is_no_exact_whole_number_is_refused(tmp_path: Path) -> None:
    text = problems(npz(tmp_path, np.array([1e300, 2.0, np.nan])))
    assert "row 0, column y: label 1e+300 is too large to be exact" in text
    assert "label inf is" in problems(npz(tmp_path, np.array([np.inf, 2.0, np.nan])))


@pytest.mark.parametrize(
    ("labels", "classes", "numbers"),
    [
        (["1.0", "2.0", "nan", "NaN"], ("1", "2"), [0, 1, -1, -1]),  # what savetxt writes
        (["cat", "-1", "dog", ""], ("cat", "dog"), [0, -1, 1, -1]),  # what fillna(-1) leaves
        (["cat", "nan", "dog", ""], ("cat", "dog", "nan"), [0, 2, 1, -1]),
        (["-2", "+3", "3.00", "-1.0"], ("-2", "3"), [0, 1, 1, -1]),
    ],
)
def test_what_is_unlabelled(
    tmp_path: Path, labels: list[str], classes: tuple[str, ...], numbers: list[int]
) -> None:
    sites = read_sites(csv(tmp_path, labels))
    assert sites.classes == classes
    assert sites["s"].labels.tolist() == numbers


def test_labels_that_cannot_be_read_are_not_also_missing(tmp_path: Path) -> None:
    text = problems(csv(tmp_path, ["1.5", "2.5", ""]))
    assert "row 0, column label: label 1.5 is not a whole number (and 1 more)" in text
    assert "no site has a label" not in text
    path = csv(tmp_path, ["a", "b"])
    found = diagnose(path, label_column="lable")
    assert [p.what for p in found.problems if "label" in p.what] == [
        "no file has a label column 'lable'"
    ]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings_are_named_as_the_reason(tmp_path: Path, encoding: str) -> None:
    text = problems(csv(tmp_path, ["é", "b"], encoding))
    assert text == "site s: s.csv cannot be read: it is not UTF-8 text. Save it with the encoding" \
        " UTF-8."  # fmt: skip


def test_every_file_with_a_wrong_header_is_named(tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_text("x;label\n1;2\n")
    text = problems(*paths)
    assert "site a: the columns are separated by ';'" in text
    assert "site b: the columns are separated by ';'" in text


def test_a_folder_may_hold_other_things(tmp_path: Path) -> None:
    csv(tmp_path, ["a", "b"])
    csv(tmp_path, ["a", "b"], name=".~s.csv")
    (tmp_path / "old.csv").mkdir()
    assert read_sites(tmp_path).names == ("s",)


def test_columns_that_cannot_be_read_cause_one_problem_only(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    pq.write_table(pa.table({"x": [[1.0], [2.0]], "label": ["a", "b"]}), path)
    assert "\n" not in problems(path)


def test_one_number_is_no_site(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.float64(3))
    assert "site s: s.npy holds one number. Save rows × columns" in problems(tmp_path / "s.npy")


def test_numbers_too_large_to_be_squared_and_summed_are_named() -> None:
    points = np.array([[1.0, 1e300], [2.0, -1e25], [3.0, 1e24]])
    found = check_sites(Sites((Site("s", points, np.array([0, 1, -1])),), ("a", "b"), ("x", "y")))
    assert [(p.row, p.column) for p in found] == [(0, "y"), (1, "y")]
    assert str(found[0]).endswith(
        "the value 1e+300 is too large. Change the unit: up to 1e+24 fits."
    )


def test_a_single_point_is_refused_before_anything_runs() -> None:
    sites = Sites((Site("s", np.ones((1, 2)), np.array([0])),), ("a",))
    assert [p.what for p in check_sites(sites)] == ["there is only one point"]


def test_notes_on_many_classes_are_one_note() -> None:
    left = Site("left", np.eye(9), np.arange(9))
    right = Site("right", np.eye(9), np.full(9, -1))
    found = notes_on(Sites((left, right), tuple("abcdefghi")))
    alone = [note for note in found if "at this site only" in note.what]
    assert [note.what for note in alone] == [
        "classes 'a', 'b', 'c' and 6 more have labels at this site only"
    ]


def test_a_damaged_page_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    table = pa.table({"x": np.arange(4096.0), "label": ["a", "b"] * 2048})
    pq.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[1000:1064] = bytes(64)
    path.write_bytes(content)
    assert "site s: s.parquet cannot be read" in problems(path)
