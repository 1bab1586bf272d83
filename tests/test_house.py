"""Rules of the house that no linter knows."""

import re
from pathlib import Path

import pytest

import colabel

SOURCE = Path(colabel.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def name_of(path):
    return str(path.relative_to(SOURCE))


def test_rooms_are_small():
    lines = sorted(len(path.read_text().splitlines()) for path in FILES)
    assert lines[-1] <= 500
    assert lines[len(lines) // 2] <= 120


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_pickle_and_no_drawers_full_of_everything(path):
    text = path.read_text()
    assert not re.search(r"^\s*(import|from) pickle|allow_pickle=True", text, re.MULTILINE)
    assert path.stem not in {"utils", "helpers", "common", "misc"}


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.parent.name in {"protocols", "hamming", "crypto"}],
    ids=name_of,
)
def test_protected_rooms_use_the_secret_door_only(path):
    text = path.read_text()
    assert not re.search(r"np\.random|numpy\.random|default_rng|^import random", text, re.MULTILINE)
    assert "logging" not in text


def test_every_protocol_says_who_learns_what():
    for path in (SOURCE / "protocols").rglob("*.py"):
        if "yield Ask" in path.read_text():
            assert "who learns what" in path.read_text().split('"""')[1], name_of(path)
