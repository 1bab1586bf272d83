import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from colabel.data import apply_split, load, read_split

WORDS = ("--sites", 4, "--partition", "dirichlet:0.5", "--labels-per-site", 5, "--seed", 3)


def deal(n_sites: int, partition: str) -> tuple[object, ...]:
    return "--sites", n_sites, "--partition", partition


def test_writes_a_split_that_fits_the_data(shell: Any) -> None:
    answer = shell.json("split", "digits", *WORDS, "--out", "s.json")
    digits = load("digits")
    split = read_split("s.json")
    sites = apply_split(split, digits.points, digits.labels, digits.classes)
    assert answer["fingerprint"] == split.fingerprint
    assert answer["checksum"] == json.loads(Path("s.json").read_text())["checksum"]
    for told, site, rows in zip(answer["sites"], sites.sites, split.rows, strict=True):
        assert told["name"] == site.name
        assert told["points"] == len(site)
        assert told["labels"] == int(site.labelled.sum()) == 5
        assert told["classes"] == np.bincount(digits.labels[list(rows)], minlength=10).tolist()


def test_prints_a_table_and_the_fingerprint(shell: Any) -> None:
    result = shell("split", "digits", *WORDS, "--out", "s.json")
    assert result.exit_code == 0, result.output
    assert "site-04" in result.stdout
    assert read_split("s.json").fingerprint in result.stdout


def test_the_sites_written_can_be_labelled(shell: Any) -> None:
    shell("split", "iris", *WORDS, "--out", "s.json", "--write-sites", "parts")
    iris, split = load("iris"), read_split("s.json")
    for name, rows, seen in zip(split.sites, split.rows, split.labelled_rows, strict=True):
        table = pyarrow.parquet.read_table(f"parts/{name}.parquet")
        assert [int(i) for i in table["id"].to_pylist()] == list(rows)
        true = [iris.classes[c] for c in iris.labels[list(rows)]]
        assert table["truth"].to_pylist() == true
        shown = [t if row in seen else None for t, row in zip(true, rows, strict=True)]
        assert table["label"].to_pylist() == shown
        points = np.stack([table[c].to_numpy() for c in table.column_names[:4]], axis=1)
        assert np.array_equal(points, iris.points[list(rows)])
    words = ("--truth-column", "truth", "--out", "o.csv", "--random-state", 1)
    answer = shell.json("label", "parts", *words)
    assert answer["overall"]["across sites"]["accuracy"] > 0.6


def test_splits_a_file(shell: Any, sites: Path) -> None:
    file = sites / "clinic-0.csv"
    file.write_text(file.read_text().replace("truth", "kind").replace("label", "seen"))
    text = file.read_text().splitlines()
    rows = [line.split(",") for line in text]
    file.write_text("\n".join(",".join(r[:4] + r[5:6]) for r in rows) + "\n")
    words = ("--sites", 2, "--partition", "iid", "--labels", 6, "--label-column", "kind")
    answer = shell.json("split", file, *words, "--out", "s.json")
    assert answer["dataset"] == "clinic-0.csv"
    assert sum(site["points"] for site in answer["sites"]) == 30
    assert sum(site["labels"] for site in answer["sites"]) == 6


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("digitz", *WORDS, "--out", "s.json"), "Did you mean 'digits'?"),
        (("digits", *WORDS, "--out", "no/s.json"), "does not exist"),
        (("digits", *deal(4, "dirichlet"), "--labels", 9, "--out", "s.json"), "β"),
        (("digits", *deal(4, "idi"), "--labels", 9, "--out", "s.json"), "'iid'"),
        (("digits", *deal(4, "iid"), "--out", "s.json"), "number of labels"),
        (("digits", *deal(0, "iid"), "--labels", 9, "--out", "s.json"), "0 sites"),
        (("digits", *WORDS, "--out", "s.json", "--write-sites", "full"), "not an empty folder"),
        (("mnist", *WORDS, "--out", "s.json", "--data-dir", "nowhere"), "nowhere"),
    ],
)
def test_bad_input_is_told_and_leaves_nothing(
    shell: Any, tmp_path: Path, words: tuple[object, ...], says: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "old.parquet").touch()
    result = shell("split", *words)
    assert result.exit_code == 1, result.output
    assert says in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
