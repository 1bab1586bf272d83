"""The tables and figures that come along, by name; a recipe may also be any file."""

from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from colabel.errors import InputError, Problem, did_you_mean
from colabel.recipes.keys import as_struct
from colabel.recipes.reading import Source, read, words_of

INDEX = "index"


class Other(msgspec.Struct, frozen=True, kw_only=True):
    """A table or figure without a recipe, and why there is none."""

    name: str
    title: str
    why: str


def names() -> tuple[str, ...]:
    """All that can be run or say how, in order."""
    return tuple(sorted((p.stem for p in _paths() if p.stem != INDEX), key=_in_order))


def others() -> tuple[Other, ...]:
    """All other tables and figures of the papers."""
    path = next(p for p in _paths() if p.stem == INDEX)
    entries = words_of(path).get("other", [])
    found = (as_struct(entry, Other, "other.") for entry in entries)
    return tuple(sorted(found, key=lambda one: _in_order(one.name)))


def find(name: str) -> Source:
    """A file by its path, or what comes along by its name."""
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        return read(path)
    known = {p.stem: p for p in _paths() if p.stem != INDEX}
    if name in known:
        return read(known[name])
    for one in others():
        if one.name == name:
            raise InputError(Problem(f"{name} ({one.title}) cannot be run", one.why))
    hint = did_you_mean(name, (*known, *(one.name for one in others())))
    raise InputError(Problem(f"there is no recipe called {name!r}", hint))


def _paths() -> list[Path]:
    with as_file(files("colabel.recipes") / "tables") as folder:
        return sorted(folder.glob("*.toml"))


def _in_order(name: str) -> tuple[str, str, int]:
    """By paper, tables before figures, by number."""
    paper, _, thing = name.partition("-")
    word = thing.rstrip("0123456789")
    number = thing[len(word) :]
    return paper, "0" if word == "table" else word, int(number or 0)
