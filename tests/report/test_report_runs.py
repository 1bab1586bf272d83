import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from colabel.data import Site, Sites
from colabel.errors import InputError
from colabel.federation.own_labels import OwnLabels
from colabel.runs import RunFolder, environment, labels_table, new_folder_name, write_table
from colabel.runs.labels import check_out

SITES = Sites(
    (
        Site("a", np.eye(3), np.array([0, -1, -1]), np.array(["x", "y", "z"])),
        Site("b", np.eye(3), np.array([1, -1, -1])),
    ),
    ("no", "yes"),
)


def start(path: Path, force: bool = False) -> RunFolder:
    return RunFolder.start(path, "label", settings={}, seeds={}, sites=SITES, force=force)


def test_status_follows_the_run(tmp_path: Path) -> None:
    run = start(tmp_path / "r")
    assert json.loads((tmp_path / "r/run.json").read_text())["status"] == "running"

    def work() -> None:
        with run.recording():
            run.listen({"event": "step", "step": "codes"})
            raise ZeroDivisionError("by zero")

    with pytest.raises(ZeroDivisionError):
        work()
    record = json.loads((tmp_path / "r/run.json").read_text())
    assert (record["status"], record["error"]) == ("failed", "by zero")
    events = (tmp_path / "r/events.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in events] == ["step", "failed"]


def test_what_is_not_ours_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("all my work")
    with pytest.raises(InputError, match="not the folder of a run"):
        start(tmp_path, force=True)
    start(tmp_path / "r")
    (tmp_path / "r" / "notes.txt").write_text("mine")
    start(tmp_path / "r", force=True)
    assert (tmp_path / "r" / "notes.txt").read_text() == "mine"
    with pytest.raises(InputError, match="is a file"):
        start(tmp_path / "thesis.tex")


def test_environment_names_no_one() -> None:
    versions, machine = environment()
    assert {"python", "numpy", "scipy"} <= set(versions)
    assert set(machine) == {"system", "cpu", "cores", "threads used"}


def test_new_folders_are_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = new_folder_name("label")
    start(first)
    assert new_folder_name("label") != first


def test_labels_of_unreached_points_and_lost_sites() -> None:
    shares = np.array([[1.0, 0.0], [0.25, 0.75], [0.0, 0.0]])
    own = {"a": OwnLabels(np.array([0, 1, -1]), np.array([1.0, 0.2, 0.0]), shares), "b": None}
    rows = labels_table(SITES, own).to_pylist()
    assert [row["label"] for row in rows] == ["no", "yes", None, "yes", None, None]
    assert [row["id"] for row in rows] == ["x", "y", "z", None, None, None]
    assert [row["confidence"] for row in rows] == [1.0, 0.2, 0.0, 1.0, 0.0, 0.0]
    assert rows[3] == {
        "site": "b", "row": 0, "id": None, "label": "yes", "confidence": 1.0, "given": True,
        "share no": 0.0, "share yes": 1.0,
    }  # fmt: skip


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "o.csv"
    path.write_text("old")

    def fail(table: pa.Table, stream: object) -> None:
        stream.write(b"half")  # type: ignore[attr-defined]
        raise OSError("disk full")

    monkeypatch.setattr("pyarrow.csv.write_csv", fail)
    with pytest.raises(OSError, match="disk full"):
        write_table(path, pa.table({"a": [1]}))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_out_must_make_sense(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one of the inputs"):
        check_out(tmp_path / "a.csv", (tmp_path / "a.csv",))
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        check_out(tmp_path / "d.csv")
    check_out(tmp_path / "fine.parquet", (tmp_path / "a.csv",))
