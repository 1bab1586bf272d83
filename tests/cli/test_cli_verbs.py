import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from rich.console import Console

from colabel.cli import main
from colabel.cli.plan_options import DEFAULTS, make_plan
from colabel.cli.progress import shown
from colabel.federation.plan import LabellingPlan


def test_demo(shell: Any) -> None:
    started = time.perf_counter()
    answer = shell.json("demo", "--out", "d", "--seeds", 2)
    assert time.perf_counter() - started < 60
    across, alone = answer["overall"]["across sites"], answer["overall"]["each site alone"]
    assert across["accuracy"] > alone["accuracy"] + 0.1
    assert [one["seed"] for one in answer["repeats"]] == [0, 1]
    assert len(answer["sites"]) == 6
    page = Path("d/report.html").read_text()
    assert "over 2 seeds" in page
    Path("d/report.html").unlink()
    again = shell.json("report", "d")
    assert again["report"] == "d/report.html"
    assert Path("d/report.html").read_text() == page


def test_demo_says_the_same_to_people(shell: Any) -> None:
    result = shell("demo", "--seeds", 1)
    assert result.exit_code == 0, result.output
    assert "each site alone" in result.stdout
    assert "Report: runs/demo-" in result.stdout


def test_doctor_finds_nothing(shell: Any, sites: Path) -> None:
    answer = shell.json("doctor", sites, "--truth-column", "truth")
    assert answer["ok"]
    assert answer["problems"] == []
    assert answer["classes"] == ["cat", "dog"]
    assert answer["sites"][0] == {"name": "clinic-0", "points": 30, "labels": 4}
    assert {"python", "numpy", "colabel"} <= set(answer["versions"])
    assert {"torch", "vision", "text"} == set(answer["extras"])
    assert shell("doctor", sites, "--truth-column", "truth").exit_code == 0
    assert shell("doctor").exit_code == 0


def test_doctor_finds_everything_at_once(shell: Any, sites: Path) -> None:
    for s, old in ((0, ",cat,0-9"), (1, ",dog,1-8")):
        file = sites / f"clinic-{s}.csv"
        lines = file.read_text().splitlines()
        lines[7] = "nan," + lines[7].partition(",")[2]
        file.write_text("\n".join(lines).replace(old, old) + "\n")
    (sites / "clinic-2.csv").write_text("a,b,c,label,truth,id\n1,2,3,cat,cat,2-0\n")
    result = shell("doctor", sites, "--truth-column", "truth")
    assert result.exit_code == 1
    for words in ("clinic-0, row 6, column a", "clinic-1, row 6, column a", "clinic-2"):
        assert words in result.stderr
    answer = shell.json("doctor", sites, "--truth-column", "truth")
    assert not answer["ok"]
    assert len(answer["problems"]) >= 3
    assert all(problem["fix"] for problem in answer["problems"])


def test_doctor_speaks_of_options(shell: Any, sites: Path) -> None:
    result = shell("doctor", sites)
    assert result.exit_code == 1
    assert "--label-column" in result.stderr
    assert "label_column" not in result.stderr


@pytest.mark.parametrize("made", ["nothing", "file", "empty", "broken", "other format"])
def test_report_of_something_else(shell: Any, tmp_path: Path, made: str) -> None:
    place = tmp_path / "r"
    if made == "file":
        place.touch()
    elif made != "nothing":
        place.mkdir()
    if made == "broken":
        (place / "run.json").write_text('{"format": 1, "verb":')
    if made == "other format":
        (place / "run.json").write_text('{"format": 99}')
    result = shell("report", "r")
    assert result.exit_code == 1
    assert "problem" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion(shell: Any, shell_name: str) -> None:
    result = shell("completion", shell_name)
    assert result.exit_code == 0
    assert "_COLABEL_COMPLETE" in result.stdout
    assert shell.json("completion", shell_name)["script"].strip() == result.stdout.strip()


@pytest.mark.parametrize(
    "words",
    [
        ("lable",),
        ("label",),
        ("label", "x.csv"),
        ("label", "x.csv", "--out", "o.csv", "--n-neighbors", "few"),
        ("label", "x.csv", "--out", "o.csv", "--random-state", "-1"),
        ("split", "digits"),
        ("completion", "tcsh"),
        ("--what",),
    ],
)
def test_usage_errors(shell: Any, words: tuple[str, ...]) -> None:
    result = shell(*words)
    assert result.exit_code == 2
    assert "--help" in result.stderr
    assert result.stdout == ""
    answer = shell.json(*words)
    assert answer["error"]["kind"] == "usage"
    assert answer["error"]["exit_code"] == 2


def test_help_has_every_verb_and_exit_code(shell: Any) -> None:
    text = shell("--help").stdout
    for word in ("label", "split", "demo", "report", "doctor", "completion", "130", "--json"):
        assert word in text
    assert shell().stdout == text
    for words in verbs(main):
        help_text = shell(*words, "--help")
        assert help_text.exit_code == 0
        assert "--json" in help_text.stdout


def verbs(group: click.Group) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from ((name, *words) for words in verbs(command))
        else:
            yield (name,)


def test_help_states_the_true_defaults() -> None:
    plan = LabellingPlan(n_classes=2)
    assert {name: str(getattr(plan, name)) for name in DEFAULTS} == DEFAULTS
    assert make_plan(2, {}, None) == plan
    command = main.commands["label"]
    assert isinstance(command, click.Command)
    assert set(DEFAULTS) <= {option.name for option in command.params}


def test_progress_shows_the_step_and_losses() -> None:
    console = Console(force_terminal=True, record=True, width=80)
    with shown(console, "Labelling") as listen:
        events: list[Mapping[str, Any]] = [
            {"event": "step", "step": "codes", "number": 2, "sites": ["a", "b"]},
            {"event": "server", "before": "influence", "seconds": 1.0},
            {"event": "lost", "step": "codes", "site": "[b]"},
            {"event": "finished"},
        ]
        for event in events:
            listen(event)
    assert "site [b] was lost in step codes" in console.export_text()


def test_progress_is_silent_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    with shown(Console(stderr=True), "Labelling") as listen:
        listen({"event": "step", "step": "codes", "number": 0, "sites": ["a"]})
    assert capsys.readouterr().err == ""


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from colabel.cli import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)  # noqa: S603


def test_as_a_process(tmp_path: Path) -> None:
    done = run("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["verb"] == "doctor"
    bad = run("label", "nothing.csv", "--out", "o.csv", "--json", cwd=tmp_path)
    assert bad.returncode == 1
    assert "nothing.csv" in json.loads(bad.stdout)["error"]["problems"][0]["what"]
    assert "Traceback" not in bad.stderr
    assert list(tmp_path.iterdir()) == []
