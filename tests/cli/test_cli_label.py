import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

import colabel.jobs.label
from colabel.errors import SitesLost
from colabel.jobs.label import label as label_job

FAST = ("--n-neighbors", 5, "--random-state", 1, "--features", "centred")


def everything_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_labels_every_point_right(shell: Any, sites: Path) -> None:
    result = shell("label", sites, "--truth-column", "truth", "--out", "labels.parquet", *FAST)
    assert result.exit_code == 0, result.output
    table = pyarrow.parquet.read_table("labels.parquet")
    assert table.column_names == [
        "site", "row", "id", "label", "confidence", "given", "share cat", "share dog",
    ]  # fmt: skip
    assert table.num_rows == 90
    for row in table.to_pylist():
        s, i = map(int, row["id"].split("-"))
        assert row["label"] == ("cat", "dog")[(i + s) % 2]
        assert row["site"] == f"clinic-{s}"
        assert row["row"] == i
        assert row["given"] == (i < 4)
        assert 0 <= row["confidence"] <= 1
        assert row["share cat"] + row["share dog"] == pytest.approx(1)
    assert "Who learnt what" in result.stdout
    assert "100.0 %" in result.stdout


def test_writes_a_run_folder(shell: Any, sites: Path) -> None:
    words = ("--truth-column", "truth", "--out", "labels.csv", "--run-dir", "run")
    shell("label", sites, *words, *FAST)
    assert everything_below(Path("run")) == {
        "run.json", "events.jsonl", "labels.parquet", "results.json", "ledger.json", "report.html",
    }  # fmt: skip
    record = json.loads(Path("run/run.json").read_text())
    assert record["status"] == "finished"
    assert set(record["inputs"]) == {"clinic-0", "clinic-1", "clinic-2"}
    assert str(Path.cwd()) not in Path("run/run.json").read_text()
    events = [json.loads(line) for line in Path("run/events.jsonl").read_text().splitlines()]
    assert {"step", "server", "finished"} <= {event["event"] for event in events}
    assert all("time" in event for event in events)
    stored = pyarrow.parquet.read_table("run/labels.parquet").to_pylist()
    written = pyarrow.csv.read_csv("labels.csv").to_pylist()
    assert [row["label"] for row in stored] == [row["label"] for row in written]


def test_json_is_one_object(shell: Any, sites: Path) -> None:
    words = ("label", sites, "--truth-column", "truth", "--out", "o.csv", "--run-dir", "r")
    answer = shell.json(*words, *FAST)
    assert answer["verb"] == "label"
    assert answer["out"] == "o.csv"
    assert answer["run"] == "r"
    assert answer["overall"]["across sites"]["accuracy"] == 1.0
    assert set(answer["overall"]) == {"each site alone", "across sites", "all pooled"}
    assert [site["name"] for site in answer["sites"]] == ["clinic-0", "clinic-1", "clinic-2"]
    assert answer["plan"]["n_neighbors"] == 5
    assert {"step", "sites", "what", "to", "mechanism", "times"} == set(answer["ledger"][0])


def test_the_truth_changes_no_label(shell: Any, sites: Path, tmp_path: Path) -> None:
    shell("label", sites, "--truth-column", "truth", "--out", "a.csv", *FAST)
    for file in sites.iterdir():
        lines = [line.split(",") for line in file.read_text().splitlines()]
        file.write_text("\n".join(",".join(line[:5] + line[6:]) for line in lines) + "\n")
    result = shell("label", sites, "--out", "b.csv", *FAST)
    assert result.exit_code == 0, result.output
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert "Coverage" in result.stdout
    assert "Accuracy" not in result.stdout


def test_truth_as_numbers_is_no_feature(shell: Any, sites: Path) -> None:
    for file in sites.iterdir():
        text = file.read_text().replace(",cat,", ",1,").replace(",dog,", ",2,")
        file.write_text(text.replace("cat", "1").replace("dog", "2"))
    answer = shell.json("label", sites, "--truth-column", "truth", "--out", "a.csv", *FAST)
    assert answer["overall"]["across sites"]["accuracy"] == 1.0
    assert answer["sites"][0]["n_given"] == 4


def test_one_file_with_a_site_column(shell: Any, sites: Path) -> None:
    parts = [file.read_text().splitlines() for file in sorted(sites.iterdir())]
    lines = [parts[0][0] + ",place"]
    lines += [f"{line},town-{p}" for p, part in enumerate(parts) for line in part[1:]]
    Path("all.csv").write_text("\n".join(lines) + "\n")
    words = ("--site-column", "place", "--truth-column", "truth", "--out", "o.parquet")
    answer = shell.json("label", "all.csv", *words, *FAST)
    assert [site["name"] for site in answer["sites"]] == ["town-0", "town-1", "town-2"]
    assert answer["overall"]["across sites"]["accuracy"] == 1.0


def test_images_become_rows_and_texts_are_refused(shell: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.array([0, 1, *[-1] * 8])
    for name in ("a", "b"):
        np.savez(f"{name}.npz", X=rng.integers(0, 255, (10, 4, 4)).astype("u1"), y=y)
    answer = shell.json("label", "a.npz", "b.npz", "--out", "o.csv", *FAST)
    assert answer["overall"]["across sites"]["coverage"] == 1.0
    np.savez("c.npz", X=np.array(["a", "b", "c"]), y=np.array([0, 1, -1]))
    refused = shell("label", "c.npz", "--out", "p.csv", *FAST)
    assert refused.exit_code == 1
    assert "site c: the points are not numbers" in refused.stderr
    assert shell("doctor", "c.npz").exit_code == 1


def test_repeats_with_a_random_state(shell: Any, sites: Path) -> None:
    for name in ("a.csv", "b.csv"):
        shell("label", sites, "--truth-column", "truth", "--out", name, *FAST)
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: text.replace("\n", ",\n", 2), ()),
        (lambda text: text[: len(text) // 2], ()),
        (lambda text: text.replace("a,b", "a,z"), ("column", "b")),
        (lambda text: "a,b,c,d,label,truth,id\n", ("clinic-1", "no rows")),
        (lambda text: text.replace("1-7", "1-8"), ("clinic-1", "1-8")),
        (lambda text: text.replace("a,b,c", "a,a,c"), ("a",)),
        (lambda text: _with_cell(text, 3, 1, "nan"), ("clinic-1", "row 2", "column b")),
        (lambda text: _with_cell(text, 3, 1, "inf"), ("clinic-1", "row 2", "column b")),
        (lambda text: _with_cell(text, 3, 1, "high"), ("clinic-1", "row 2", "column b")),
    ],
)
def test_bad_input_is_told_and_leaves_nothing(
    shell: Any, sites: Path, tmp_path: Path, damage: Any, says: tuple[str, ...]
) -> None:
    file = sites / "clinic-1.csv"
    file.write_text(damage(file.read_text()))
    before = everything_below(tmp_path)
    result = shell("label", sites, "--truth-column", "truth", "--out", "o.parquet", *FAST)
    assert result.exit_code == 1, result.output
    assert "problem" in result.stderr
    assert "Traceback" not in result.output
    assert "colabel-" not in result.stderr  # the copies without the truth
    for word in says:
        assert word in result.stderr
    assert everything_below(tmp_path) == before


def _with_cell(text: str, line: int, column: int, value: str) -> str:
    lines = [row.split(",") for row in text.splitlines()]
    lines[line][column] = value
    return "\n".join(",".join(row) for row in lines) + "\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--out", "o.xlsx"), ".parquet or .csv"),
        (("--out", "no/o.csv"), "does not exist"),
        (("--out", "sites/o.csv"), "folder of inputs"),
        (("--out", "o.csv", "--hamming", "claer"), "Did you mean 'clear'?"),
        (("--out", "o.csv", "--alpha", "1.5"), "alpha is 1.5"),
        (("--out", "o.csv", "--n-neighbors", "0"), "n_neighbors is 0"),
        (("--out", "o.csv", "--n-bits", "70000"), "n_bits"),
        (("--out", "o.csv", "--features", "blue", "--alpha", "7"), "alpha is 7"),
        (("--out", "o.csv", "--preset", "papre"), "Did you mean 'paper'?"),
        (("--out", "o.csv", "--truth-column", "thruth"), "Did you mean 'truth'?"),
        (("--out", "o.csv", "--truth-column", "label"), "column of their own"),
        (("--out", "o.csv", "--label-column", "lable"), "Did you mean 'label'?"),
        (("--out", "o.csv", "--run-dir", "sites"), "not the folder of a run"),
    ],
)
def test_bad_settings_are_told_and_leave_nothing(
    shell: Any, sites: Path, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    before = everything_below(tmp_path)
    truth = () if "--truth-column" in words else ("--truth-column", "truth")
    result = shell("label", "sites", *truth, *words)
    assert result.exit_code == 1, result.output
    assert says in result.stderr
    assert everything_below(tmp_path) == before
    answer = shell.json("label", "sites", *truth, *words)
    assert answer["error"]["kind"] == "input"
    assert set(answer["error"]["problems"][0]) == {"what", "fix", "site", "row", "column"}


def test_a_run_is_only_replaced_by_force(shell: Any, sites: Path) -> None:
    words = ("label", sites, "--truth-column", "truth", "--out", "o.csv", "--run-dir", "r", *FAST)
    assert shell(*words).exit_code == 0
    kept = Path("r/run.json").read_bytes()
    refused = shell(*words)
    assert refused.exit_code == 1
    assert "--force" in refused.stderr
    assert Path("r/run.json").read_bytes() == kept
    assert shell(*words, "--force").exit_code == 0
    assert Path("r/run.json").read_bytes() != kept


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        (SitesLost("no site is left"), 3, "site"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (RuntimeError("oh no"), 4, "internal"),
        (OSError(28, "No space left on device", "o.csv"), 1, "input"),
    ],
)
def test_a_crash_leaves_what_happened_and_no_result(
    shell: Any,
    sites: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    kind: str,
) -> None:
    def break_off(*args: Any, listen: Any, **options: Any) -> None:
        def until_codes(event: Any) -> None:
            listen(event)
            if event.get("step") == "codes":
                raise error

        label_job(*args, listen=until_codes, **options)

    monkeypatch.setattr(colabel.jobs.label, "label", break_off)
    words = ("label", sites, "--truth-column", "truth", "--out", "o.csv", "--run-dir", "r", *FAST)
    words = (*words, "--hamming", "clear")
    result = shell(*words)
    assert result.exit_code == code
    assert "Traceback" not in result.output
    assert not Path("o.csv").exists()
    assert sorted(p.name for p in Path("r").iterdir()) == ["events.jsonl", "run.json"]
    status = json.loads(Path("r/run.json").read_text())["status"]
    assert status == ("interrupted" if kind == "interrupted" else "failed")
    assert shell.json(*words, "--force")["error"]["kind"] == kind
    assert "Traceback" in shell(*words, "--force", "--debug").stderr
    told = shell("report", "r")
    assert told.exit_code == 1
    assert status in told.stderr
