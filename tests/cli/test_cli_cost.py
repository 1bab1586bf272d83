import json
from pathlib import Path
from typing import Any

import pytest

from colabel.protocols.hamming import WAYS


def test_every_way_side_by_side(shell: Any, sites: Path) -> None:
    answer = shell.json("cost", sites, "--truth-column", "truth")
    assert answer["verb"] == "cost"
    assert answer["sites"] == {"clinic-0": 30, "clinic-1": 30, "clinic-2": 30}
    assert [way["name"] for way in answer["ways"]] == list(WAYS)
    for way in answer["ways"]:
        assert way["bytes_up"] > way["bytes_up_per_site"] > 0
        assert way["protects"] == WAYS[way["name"]].protects
        assert way["broken_by"] == WAYS[way["name"]].broken_by
        assert {"what", "to", "mechanism"} == set(way["reveals"][0])
    result = shell("cost", sites, "--truth-column", "truth")
    assert result.exit_code == 0, result.output
    for way in WAYS:
        assert way in result.stdout
    assert "no protection" in result.stdout
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["sites"]


@pytest.mark.parametrize("way", ["lattice", "clear"])
def test_label_costs_what_was_said(shell: Any, sites: Path, way: str) -> None:
    words = (sites, "--truth-column", "truth", "--n-bits", 128, "--hamming", way)
    said = shell.json("cost", *words)["ways"]
    assert [one["name"] for one in said] == [way]
    done = shell.json("label", *words, "--out", "o.csv", "--no-compare")
    assert sum(step["bytes_up"] for step in done["steps"]) == said[0]["bytes_up"]
    assert sum(step["bytes_down"] for step in done["steps"]) == said[0]["bytes_down"]
    assert len(done["steps"]) == said[0]["steps"]
    revealed = [{key: one[key] for key in ("what", "to", "mechanism")} for one in done["ledger"]]
    assert revealed == said[0]["reveals"]


def test_label_tells_cost_and_releases_first(shell: Any, sites: Path) -> None:
    words = ("--truth-column", "truth", "--n-bits", 64, "--no-compare", "--out", "o.csv")
    told = shell("label", sites, *words).stderr
    assert "This run will take about" in told
    assert "to the server and" in told
    assert "How codes are compared: lattice, lattice encryption" in told
    assert "Will go to the server: number of points" in told
    assert "the distances of all pairs of points of different sites (masked)" in told
    assert "Will go to each site: " in told
    assert "no protection" not in told


def test_clear_says_no_protection_everywhere(shell: Any, sites: Path) -> None:
    words = ("--truth-column", "truth", "--n-bits", 64, "--no-compare", "--hamming", "clear")
    result = shell("label", sites, *words, "--out", "o.csv", "--run-dir", "r")
    assert "no protection: the server sees all codes" in result.stderr
    assert "no protection" in result.stdout
    ledger = json.loads(Path("r/ledger.json").read_text())["ledger"]["entries"]
    unprotected = [one["what"] for one in ledger if "no protection" in one["mechanism"]]
    assert "the codes of all points, hence all distances and directions" in unprotected
    assert "each site's class scores and class counts" in unprotected
    page = Path("r/report.html").read_text()
    assert "This run protected nothing" in page
    assert page.count("in clear, no protection") == len(unprotected)
    shell("label", sites, *words[:-1], "sketch", "--out", "o.csv", "--run-dir", "s")
    assert "no protection" not in Path("s/report.html").read_text()


def test_a_site_that_is_alone_is_not_said_to_be_protected(shell: Any, sites: Path) -> None:
    words = (sites / "clinic-0.csv", "--truth-column", "truth", "--n-bits", 64, "--no-compare")
    answer = shell.json("label", *words, "--out", "o.csv")
    assert answer["protection"].startswith("clear, no protection")


def test_sizes_instead_of_files(shell: Any) -> None:
    words = ("--n-bits", 64, "--labels", 2, "--classes", 3, "--features-per-point", 4)
    answer = shell.json("cost", "--sizes", "2x20, 30", *words)
    assert answer["sites"] == {"site-1": 20, "site-2": 20, "site-3": 30}
    longer = shell.json("cost", "--sizes", "20,20,30", *words, "--n-bits", 640)
    for one, other in zip(answer["ways"], longer["ways"], strict=True):
        assert one["bytes_up"] < other["bytes_up"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "--sizes are needed"),
        (("sites", "--sizes", "5,5"), "--sizes are needed"),
        (("--sizes", "5,x"), "'x'"),
        (("--sizes", "0,5"), "'0'"),
        (("--sizes", "5"), "nobody to compare"),
        (("--sizes", "5,5", "--hamming", "latice"), "Did you mean 'lattice'"),
        (("nothing.csv",), "nothing.csv"),
    ],
)
def test_bad_input(shell: Any, sites: Path, words: tuple[str, ...], says: str) -> None:
    result = shell("cost", *words)
    assert result.exit_code == 1, result.output
    assert says in result.stderr
