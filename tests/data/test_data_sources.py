from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel.data import Site, Sites, check_sites, diagnose, notes_on, read_sites, severity
from colabel.errors import InputError


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def whats(error: InputError) -> str:
    return "\n".join(str(problem) for problem in error.problems)


def refused(paths: object, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read_sites(paths, **options)  # type: ignore[arg-type]
    return whats(caught.value)


GOOD = "a,b,label\n1,2,cat\n3,4,\n5,6,dog\n"


def test_csv_one_file_per_site(tmp_path: Path) -> None:
    north = write(tmp_path, "north.csv", GOOD)
    south = write(tmp_path, "south.csv", "b,label,a\n1,emu,7\n2,,8\n")
    sites = read_sites([north, south])
    assert sites.names == ("north", "south")
    assert sites.classes == ("cat", "dog", "emu")
    assert sites.columns == ("a", "b")
    assert sites["north"].labels.tolist() == [0, -1, 1]
    assert sites["south"].points.tolist() == [[7, 1], [8, 2]]
    assert sites["south"].points.dtype == np.float64


def test_csv_with_site_column_and_ids(tmp_path: Path) -> None:
    path = write(tmp_path, "all.csv", "id,a,where,label\np1,1,x,0\np2,2,y,1\np3,3,x,-1\n")
    sites = read_sites(path, site_column="where")
    assert sites.names == ("x", "y")
    assert sites["x"].ids is not None
    assert sites["x"].ids.tolist() == ["p1", "p3"]
    assert sites["x"].labels.tolist() == [0, -1]


def test_a_folder_means_its_files(tmp_path: Path) -> None:
    write(tmp_path, "b.csv", GOOD)
    write(tmp_path, "a.tsv", GOOD.replace(",", "\t"))
    write(tmp_path, "notes.txt", "not data")
    assert read_sites(tmp_path).names == ("a", "b")


@pytest.mark.parametrize(
    ("column", "classes", "labels"),
    [
        (["NA", "None", "", "nan"], ("NA", "None", "nan"), [0, 1, -1, 2]),
        (["10", "9", "-1", ""], ("9", "10"), [1, 0, -1, -1]),
        (["1.0", "", "0", "1"], ("0", "1"), [1, -1, 0, 1]),
        (["01", "1", "x", " x "], ("01", "1", "x"), [0, 1, 2, 2]),
        (["True", "False", "", "True"], ("False", "True"), [1, 0, -1, 1]),
    ],
)
def test_csv_label_policy(
    tmp_path: Path, column: list[str], classes: tuple[str, ...], labels: list[int]
) -> None:
    rows = "".join(f"{i},{label}\n" for i, label in enumerate(column))
    sites = read_sites(write(tmp_path, "s.csv", "a,label\n" + rows))
    assert sites.classes == classes
    assert sites["s"].labels.tolist() == labels


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (pa.array([3, None, 1, -1]), [1, -1, 0, -1]),
        (pa.array([3.0, None, 1.0, float("nan")]), [1, -1, 0, -1]),
        (pa.array(["b", None, "a", ""]), [1, -1, 0, -1]),
        (pa.array(["b", None, "a", ""]).dictionary_encode(), [1, -1, 0, -1]),
        (pa.array([True, None, False, None]), [1, -1, 0, -1]),
    ],
)
def test_parquet_labels(tmp_path: Path, values: pa.Array, labels: list[int]) -> None:
    path = tmp_path / "s.parquet"
    half = pa.array(np.arange(4, dtype=np.float16))
    columns = {"a": half, "yes": [True, False, True, True], "label": values}
    pq.write_table(pa.table({**columns, "__index_level_0__": [5, 6, 7, 8]}), path)
    sites = read_sites(path)
    assert sites.columns == ("a", "yes")
    assert sites["s"].labels.tolist() == labels
    assert sites["s"].points.tolist() == [[0, 1], [1, 0], [2, 1], [3, 1]]


def test_labels_of_all_kinds_agree_across_sites(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "x,label\n1,1\n2,0\n")
    pq.write_table(pa.table({"x": [1.0], "label": [1.0]}), tmp_path / "b.parquet")
    np.savez(tmp_path / "c.npz", points=np.ones((2, 1)), labels=np.array(["1", ""]))
    sites = read_sites(tmp_path)
    assert sites.classes == ("0", "1")
    assert [site.labels.tolist() for site in sites.sites] == [[1, 0], [1], [1, -1]]


def test_npz_with_groups_classes_and_images(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "all.npz",
        X=np.zeros((3, 2, 2), np.uint8),
        y=np.array([1, -1, 0]),
        groups=np.array(["u", "v", "u"]),
        classes=np.array(["no", "yes", "never"]),
        ids=np.array([1, 2, 3]),
    )
    sites = read_sites(tmp_path / "all.npz")
    assert sites.classes == ("no", "yes", "never")
    assert sites["u"].labels.tolist() == [1, 0]
    assert sites["u"].points.dtype == np.uint8
    assert sites["v"].ids is not None


def test_npy_is_an_unlabelled_site(tmp_path: Path) -> None:
    np.save(tmp_path / "b.npy", np.ones((3, 2), np.float32))
    write(tmp_path, "a.csv", GOOD)
    sites = read_sites(tmp_path)
    assert sites["b"].labels.tolist() == [-1, -1, -1]
    assert sites["b"].points.dtype == np.float64


def test_given_classes_keep_their_order_and_refuse_others(tmp_path: Path) -> None:
    path = write(tmp_path, "s.csv", GOOD)
    assert read_sites(path, classes=["dog", "emu", "cat"])["s"].labels.tolist() == [2, -1, 0]
    text = refused(path, classes=["cat", "dogs"])
    assert "site s, row 2: label 'dog' is not one of the classes. Did you mean 'dogs'?" in text


def test_text_column(tmp_path: Path) -> None:
    text = refused(write(tmp_path, "s.csv", "a,town,label\n1,2,x\n1,Bonn,y\n"))
    assert "site s, row 1, column town: the column holds text, such as 'Bonn'" in text
    assert "site_column" in text


def test_dates_and_lists_are_no_features(tmp_path: Path) -> None:
    table = pa.table({"v": [[1.0], [2.0]], "label": [0, 1]})
    pq.write_table(table, tmp_path / "s.parquet")
    assert "column v: the column is of type list" in refused(tmp_path / "s.parquet")
    text = refused(write(tmp_path, "t.csv", "day,label\n2020-01-01,0\n2020-01-02,1\n"))
    assert "column day: the column is of type date32" in text


def test_missing_and_infinite_values(tmp_path: Path) -> None:
    rows = "".join(f"{'' if i < 5 else i},{'inf' if i == 6 else i},x\n" for i in range(8))
    text = refused(write(tmp_path, "s.csv", "a,b,label\n" + rows))
    assert "site s, row 0, column a: the value is missing." in text
    assert "row 2, column a: the value is missing (and 2 more in this column)" in text
    assert "row 6, column b: the value is infinite." in text
    assert "row 3, column a" not in text


def test_rows_are_those_of_the_file_with_a_site_column(tmp_path: Path) -> None:
    path = write(tmp_path, "all.csv", "a,where,label\n1,x,0\n2,y,1\n,y,1\n")
    assert "site y, row 2, column a" in refused(path, site_column="where")


def test_very_wide_gaps_are_summed_up() -> None:
    points = np.full((4, 30), np.nan)
    site = Site("s", points, np.array([0, 1, 0, 1]))
    problems = check_sites(Sites((site,), ("a", "b")))
    assert len(problems) == 31
    assert (
        "80 more values are missing, infinite or too large, in columns 10, 11, 12 and 17 more"
        in str(problems[-1])
    )


def test_different_columns(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", GOOD)
    write(tmp_path, "b.csv", "a,c,label\n1,2,cat\n")
    text = refused(tmp_path)
    assert "site b: lacks column 'b' and adds column 'c', compared with site a" in text


def test_different_widths(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", GOOD)
    np.save(tmp_path / "b.npy", np.ones((3, 5)))
    assert "site b: its points have shape (5,), those of site a have (2,)" in refused(tmp_path)


def test_empty_sites(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", GOOD)
    write(tmp_path, "b.csv", "a,b,label\n")
    write(tmp_path, "c.csv", "")
    text = refused(tmp_path)
    assert "site b: the site has no rows" in text
    assert "site c: c.csv cannot be read: Empty CSV" in text
    assert "the files hold no rows" in refused(
        write(tmp_path, "d.csv", "a,where,label\n"), site_column="where"
    )


def test_duplicate_ids(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "id,x,label\np,1,0\nq,2,1\np,3,1\n")
    write(tmp_path, "b.csv", "id,x,label\nq,1,0\n,2,1\n")
    text = refused(tmp_path)
    assert "site a, row 2: id 'p' is also the id of row 0" in text
    assert "site b: id 'q' is at site a too. It is the same point twice" in text
    assert "site b, row 1: the id is missing" in text


@pytest.mark.parametrize("kind", ["parquet", "npz", "npy"])
def test_files_cut_short(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"s.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"a": np.random.default_rng(0).random(1000)}), path)
    elif kind == "npz":
        np.savez_compressed(path, points=np.random.default_rng(0).random((100, 3)))
    else:
        np.save(path, np.ones((100, 3)))
    whole = path.read_bytes()
    for size in (0, 5, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:size])
        assert f"s.{kind} cannot be read" in refused(path)


def test_damaged_inside(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    np.savez_compressed(path, points=np.random.default_rng(0).random((100, 3)))
    whole = bytearray(path.read_bytes())
    whole[200:260] = bytes(60)
    path.write_bytes(whole)
    assert "s.npz cannot be read" in refused(path)


@settings(max_examples=150, deadline=None)
@given(
    content=st.binary(max_size=200), kind=st.sampled_from(["csv", "tsv", "parquet", "npz", "npy"])
)
def test_any_bytes_are_read_or_refused(content: bytes, kind: str) -> None:
    marks = {"npy": b"\x93NUMPY\x01\x00", "npz": b"PK\x03\x04", "parquet": b"PAR1"}
    for start in (b"", marks.get(kind, b"a,label\n")):
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"s.{kind}"
            path.write_bytes(start + content)
            found = diagnose(path)
            assert (found.sites is None) == bool(found.problems)


def test_csv_with_a_short_row_or_broken_letters(tmp_path: Path) -> None:
    assert "s.csv cannot be read" in refused(write(tmp_path, "s.csv", GOOD + "7,8\n"))
    (tmp_path / "t.csv").write_bytes("a,label\n1,é\n".encode("latin-1"))
    assert "t.csv cannot be read" in refused(tmp_path / "t.csv")


def test_csv_headers(tmp_path: Path) -> None:
    assert "separated by ';'" in refused(write(tmp_path, "s.csv", "a;label\n1;2\n"))
    assert "column 0 has no name" in refused(write(tmp_path, "t.csv", ",a,label\n0,1,2\n"))
    assert "column a: 2 columns have this name" in refused(
        write(tmp_path, "u.csv", "a,a,label\n0,1,2\n")
    )


def test_npz_of_objects(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", points=np.array([{}, {}], dtype=object))
    assert "s.npz holds Python objects" in refused(tmp_path / "s.npz")


def test_npz_names_lengths_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    np.savez(path, data=np.ones((2, 2)))
    assert "s.npz has no array 'points' or 'X'. It has: data" in refused(path)
    np.savez(path, points=np.ones((2, 2)), labels=np.zeros(3, int))
    assert "2 points, but array 'labels' has shape (3,)" in refused(path)
    np.savez(path, points=np.ones((2, 2)), labels=np.array([0, 4]), classes=np.array(["a"]))
    assert "row 1, column labels: label 4 is not the index of one of the 1 classes" in refused(path)
    np.savez(path, points=np.ones(2), labels=np.array([0, 1]))
    assert "one list of numbers" in refused(path)


def test_paths(tmp_path: Path) -> None:
    north = write(tmp_path, "north.csv", GOOD)
    (tmp_path / "old").mkdir()
    again = write(tmp_path / "old", "north.csv", GOOD)
    assert "site north" in (text := refused([north, again]))
    assert "are both of this site" in text
    assert "Did you mean 'north.csv'?" in refused(tmp_path / "nort.csv")
    assert "x.xlsx is of no known format" in refused(write(tmp_path, "x.xlsx", ""))
    assert "no files were given" in refused([])
    (tmp_path / "empty").mkdir()
    assert "holds no data files" in refused(tmp_path / "empty")


def test_label_column_names(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "x,class\n1,0\n2,1\n")
    assert "no file has a label column 'clas'. Did you mean 'class'?" in refused(
        tmp_path, label_column="clas"
    )
    write(tmp_path, "b.csv", "x\n1\n")
    assert not read_sites(tmp_path, label_column="class")["b"].labelled.any()
    write(tmp_path, "b.csv", "x,Class\n1,0\n")
    assert "b.csv has no label column 'class'. Did you mean 'Class'?" in refused(
        tmp_path, label_column="class"
    )


def test_site_and_id_column_names(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "town,x,label\nP,1,0\n,2,1\n")
    text = refused(path, site_column="twon", id_column="key")
    assert "a.csv has no site column 'twon'. Did you mean 'town'?" in text
    assert "a.csv has no id column 'key'" in text
    assert "row 1, column town: the site is missing" in refused(path, site_column="town")


def test_no_labels_and_measurements_as_labels(tmp_path: Path) -> None:
    assert "no site has a label" in refused(write(tmp_path, "a.csv", "x,target\n1,0\n"))
    text = refused(write(tmp_path, "b.csv", "x,label\n1,0.5\n2,1\n3,1.5\n"))
    assert "site b, row 0, column label: label 0.5 is not a whole number (and 1 more)" in text


def test_everything_at_once(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "x,y,label\n,1,cat\n")
    write(tmp_path, "b.csv", "x,label\n1,dog\n")
    (tmp_path / "c.parquet").write_bytes(b"PAR1")
    found = diagnose([tmp_path, tmp_path / "d.csv"], classes=["cat"])
    text = "\n".join(map(str, found.problems))
    for part in ("column x", "lacks column 'y'", "c.parquet cannot", "d.csv does not", "'dog'"):
        assert part in text
    assert all(problem.fix for problem in found.problems)
    assert found.sites is None


def test_notes(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "x,y,z,label\n0,0,0,cat\n1,0,2,dog\n")
    write(tmp_path, "b.csv", "x,y,z,label\n1,0,0,cat\n1,0,1,NA\n")
    write(tmp_path, "c.csv", "x,y,z\n1,0,5\n")
    found = diagnose(tmp_path, classes=["cat", "dog", "NA", "emu"])
    text = "\n".join(map(str, found.notes))
    assert "site a: class 'dog' has labels at this site only" in text
    assert "site c: the site has no labels" in text
    assert "column 'y' never change" in text
    assert "site a: 1 row is all zero, the first is row 0" in text
    assert "class 'emu' has no label anywhere" in text
    assert "'NA' is taken as the name of a class" in text
    assert found.sites is not None
    assert {severity(note) for note in found.notes} == {"note"}
    assert found.problems == ()


def test_notes_on_one_site_of_one_class() -> None:
    site = Site("s", np.array([[1.0], [2.0]]), np.array([0, -1]))
    text = "\n".join(map(str, notes_on(Sites((site,), ("1",)))))
    assert "there is only one site" in text
    assert "all labels are of one class" in text


def test_check_sites_in_memory() -> None:
    def site(**changed: object) -> Site:
        usual = {"name": "s", "points": np.ones((2, 2)), "labels": np.array([0, 1]), "ids": None}
        return Site(**{**usual, **changed})  # type: ignore[arg-type]

    def text(*sites: Site, classes: tuple[str, ...] = ("a", "b")) -> str:
        return "\n".join(map(str, check_sites(Sites(sites, classes, ("x", "y")))))

    assert text(site()) == ""
    assert "label 2 is not one of the 2 classes" in text(site(labels=np.array([0, 2])))
    assert "2 points but 3 labels" in text(site(labels=np.array([0, 1, 1])))
    assert "2 points but 1 ids" in text(site(ids=np.array(["a"])))
    assert "of type float64, not class numbers" in text(site(labels=np.array([0.0, 1.0])))
    assert "of type object" in text(site(points=np.array([[None], [None]])))
    assert "no columns" in text(site(points=np.ones((2, 0))))
    assert "two of the site names are 's'" in text(site(), site())
    assert "two of the class names are 'a'" in text(site(), classes=("a", "a"))
    assert "2 column names for points of shape (3,)" in text(site(points=np.ones((2, 3))))
    assert "there are no sites" in text()
    assert "no site has a label" in text(site(labels=np.array([-1, -1])))
    assert text(site(points=np.array(["a text", "another"]))).startswith("2 column names")


def test_labels_that_are_no_labels(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    np.savez(path, points=np.ones((2, 2)), labels=np.ones((2, 2), int))
    assert "the labels have shape (2, 2). Give one label per row" in refused(path)
    np.savez(path, points=np.ones((2, 2)), labels=np.ones(2, complex))
    assert "the labels are of type complex128" in refused(path)
    table = pa.table({"a": [1, 2], "label": [[1], [2]]})
    pq.write_table(table, tmp_path / "t.parquet")
    assert "the labels are of type list" in refused(tmp_path / "t.parquet")
    np.savez(path, points=np.ones((2, 2)), labels=np.array([True, False]))
    assert read_sites(path).classes == ("False", "True")
    assert "class 'True' is listed twice" in refused(path, classes=["True", "True", "False"])


def test_an_unknown_site_is_a_key_error(tmp_path: Path) -> None:
    sites = read_sites(write(tmp_path, "north.csv", GOOD))
    with pytest.raises(KeyError, match="Did you mean 'north'"):
        sites["nort"]
