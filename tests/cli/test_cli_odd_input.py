"""Small things that users meet: few points, options by their own names, folders that are locked."""

import os
from pathlib import Path

import pytest

from cli.conftest import Shell


def test_few_points_are_noted(shell: Shell, sites: Path) -> None:
    answer = shell.json("label", sites, "--truth-column", "truth", "--out", "o.csv",
                        "--n-neighbors", 500, "--hamming", "clear")  # fmt: skip
    assert answer["notes"][-1]["what"] == "n_neighbors is 500, but there are 90 points"


def test_every_wrong_setting_is_named_at_once(shell: Shell, sites: Path) -> None:
    result = shell("label", sites, "--truth-column", "truth", "--out", "o.csv", "--alpha", 7,
                   "--preset", "papr", "--features", "scald")  # fmt: skip
    assert result.exit_code == 1
    assert "3 problems" in result.stderr
    for words in ("alpha is 7.0", "Did you mean 'scaled'?", "Did you mean 'paper'?"):
        assert words in result.stderr


def test_a_question_mark_is_not_followed_by_a_full_stop(shell: Shell) -> None:
    assert "Did you mean 'label'? See colabel --help." in shell("lable").stderr


def test_problems_speak_of_options_and_leave_columns_alone(shell: Shell) -> None:
    common = ("split", "digits", "--sites", 2, "--partition", "iid", "--out", "s.json")
    assert (
        "exactly one of --labels, --label-fraction and --labels-per-site." in shell(*common).stderr
    )
    assert "--label-fraction is 2.0" in shell(*common, "--label-fraction", 2).stderr
    Path("a.csv").write_text("fraction,n_labels,label\n1,1,a\n2,3,b\n")
    Path("b.csv").write_text("fraction,label\n1,a\n2,b\n")
    assert "lacks column 'n_labels'" in shell("doctor", "a.csv", "b.csv").stderr
    unknown = shell("doctor", "a.csv", "--site-column", "hospital").stderr
    assert "Known: fraction, label, n_labels." in unknown


def test_a_row_without_a_site_is_named_with_its_file(shell: Shell) -> None:
    Path("a.csv").write_text("x,town,label\n1,A,a\n2,,b\n")
    result = shell("doctor", "a.csv", "--site-column", "town")
    assert "row 1, column town: the site is missing in a.csv" in result.stderr


def test_a_locked_folder_is_refused_before_anything_runs(
    shell: Shell, sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    result = shell("label", sites, "--truth-column", "truth", "--out", "o.csv")
    assert result.exit_code == 1
    assert "may not be written to" in result.stderr
    assert not Path("runs").exists()
