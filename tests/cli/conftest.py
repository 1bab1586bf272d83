import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from colabel.cli import main


class Shell:
    """Runs colabel in this process, in a folder of its own."""

    def __call__(self, *words: object) -> Result:
        return CliRunner().invoke(main, [str(word) for word in words], prog_name="colabel")

    def json(self, *words: object) -> dict[str, object]:
        result = self(*words, "--json")
        assert result.stdout.count("\n") == 1, result.stdout
        answer: dict[str, object] = json.loads(result.stdout)
        assert answer["format"] == 1
        return answer


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell()


def write_site(path: Path, rows: list[list[object]], header: list[str]) -> None:
    with path.open("w", newline="") as stream:
        written = csv.writer(stream)
        written.writerow(header)
        written.writerows(rows)


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    """Three sites with two well separated classes, four labels each, and the truth."""
    folder = tmp_path / "sites"
    folder.mkdir()
    rng = np.random.default_rng(5)
    for s in range(3):
        rows = []
        for i in range(30):
            kind = (i + s) % 2
            x = rng.normal(size=4) + (8 if kind else -8) * np.array([1, 0, 1, 0])
            name = ("cat", "dog")[kind]
            rows.append([*x.round(6), name if i < 4 else "", name, f"{s}-{i}"])
        header = ["a", "b", "c", "d", "label", "truth", "id"]
        write_site(folder / f"clinic-{s}.csv", rows, header)
    return folder
