"""From a file to recipes: what is written there, at a scale, for a row and a column, as changed.

Later words win: the file, then its column, its row, their cell; then what each of these says for
the scale; then what the command line sets.
"""

import copy
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from colabel.errors import InputError, Problem, did_you_mean
from colabel.federation.plan import LabellingPlan
from colabel.recipes.format import About, Line, Recipe, Special
from colabel.recipes.keys import as_struct, problems_of, struct_of, unknown

Scale = Literal["full", "cpu"]
SCALES: tuple[str, ...] = get_args(Scale)
Words = Mapping[str, Any]
Mutable = dict[str, Any]
SECTIONS = Recipe.__struct_fields__
_KINDS = {field.name: struct_of(field.type) for field in msgspec.structs.fields(Recipe)}
_ABOUT = About.__struct_fields__
_OF_METHOD = ("n_classes", "seed")  # of the graph: not for a recipe to say


@dataclass(frozen=True)
class Cell:
    """One run of a table; `paper`: the mean in percent and, if known, its standard deviation."""

    row: str
    column: str
    paper: tuple[float, ...]
    words: Words

    @property
    def name(self) -> str:
        """What it is known by."""
        return " | ".join(part for part in (self.row, self.column) if part) or "run"


@dataclass(frozen=True)
class Source:
    """A file as it was read; its words are checked in the recipes that it makes."""

    name: str
    about: About
    words: Words
    rows: tuple[Words, ...]
    columns: tuple[Words, ...]
    specials: tuple[Words, ...] = ()

    @property
    def can_run(self) -> bool:
        """Whether the file says what to train."""
        return "method" in self.words or any("method" in row for row in self.rows)

    def cell(self, name: str | None, scale: str = "full", changes: Sequence[str] = ()) -> Cell:
        """One run: the only one, or the one of this name."""
        found = {cell.name: cell for cell in self.cells(scale, changes)}
        if name is None and len(found) == 1:
            return next(iter(found.values()))
        if name is None:
            fix = f"Give --cell, for instance --cell {next(iter(found))!r}."
            raise InputError(Problem(f"{self.name} has {len(found)} runs", fix))
        if name not in found:
            hint = did_you_mean(name, tuple(found))
            raise InputError(Problem(f"{self.name} has no cell {name!r}", hint))
        return found[name]

    def cells(self, scale: str = "full", changes: Sequence[str] = ()) -> tuple[Cell, ...]:
        """All runs: the rows times the columns; one, if there are none."""
        if scale not in SCALES:
            hint = did_you_mean(scale, SCALES)
            raise InputError(Problem(f"there is no scale called {scale!r}", hint))
        changed = [setting(text) for text in changes]
        found = []
        for row in self.rows or ({"name": ""},):
            figures = row.get("paper") or [()] * max(len(self.columns), 1)
            for column, figure in zip(self.columns or ({"name": ""},), figures, strict=True):
                meets = [
                    one
                    for one in self.specials
                    if (one["row"], one["column"]) == (row["name"], column["name"])
                ]
                if any(one.get("skip") for one in meets):
                    continue
                layers = (self.words, column, row, *meets)
                words: Mutable = {}
                for layer in (*layers, *(at.get("scale", {}).get(scale, {}) for at in layers)):
                    merge(words, {key: layer[key] for key in SECTIONS if key in layer})
                for change in changed:
                    merge(words, change)
                found.append(Cell(row["name"], column["name"], tuple(figure), words))
        return tuple(found)


def read(path: Path) -> Source:
    """A file; refuses unknown keys, and names all problems of its form."""
    return source(path.stem, words_of(path))


def words_of(path: Path) -> Mutable:
    """What is written in a file."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(Problem(f"{path} is no TOML file: {error}", "Correct it.")) from None
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}"
        raise InputError(Problem(what, "Name a recipe's file, or a table's name.")) from None


def source(name: str, words: Words) -> Source:
    """The same from what is in the file."""
    known = (*_ABOUT, *SECTIONS, "scale", "row", "column", "cell")
    found = problems_of(words, About, "", known)
    rows, columns, cells = (words.get(kind, []) for kind in ("row", "column", "cell"))
    for kind, lines in (("row", rows), ("column", columns)):
        for number, line in enumerate(lines, 1):
            where = f"{kind} {line.get('name', number)}: "
            found += problems_of(line, Line, where, (*SECTIONS, "scale"))
            found += _problems_of_layer(line, where)
            figures = line.get("paper")
            if kind == "row" and figures is not None and len(figures) != max(len(columns), 1):
                what = f"{where}paper has {len(figures)} figures for {len(columns)} columns"
                found.append(Problem(what, "Give one for each, [] where there is none."))
    for number, one in enumerate(cells, 1):
        where = f"cell {number}: "
        found += problems_of(one, Special, where, (*SECTIONS, "scale"))
        found += _problems_of_layer(one, where)
        for kind, lines in (("row", rows), ("column", columns)):
            names = [str(line.get("name")) for line in lines]
            if kind in one and one[kind] not in names:
                what = f"{where}there is no {kind} {one[kind]!r}"
                found.append(Problem(what, did_you_mean(str(one[kind]), names)))
    found += _problems_of_layer(words, "")
    if found:
        raise InputError(found)
    about = as_struct({key: words[key] for key in _ABOUT if key in words}, About)
    return Source(name, about, words, tuple(rows), tuple(columns), tuple(cells))


def recipe(cell: Cell) -> Recipe:
    """The checked recipe of a cell."""
    if found := problems_of_words(cell.words):
        raise InputError(found)
    return as_struct(cell.words, Recipe)


def problems_of_words(words: Words) -> list[Problem]:
    """Everything that is wrong with a recipe, as far as can be seen without loading a model."""
    return [*problems_of(words, Recipe), *_problems_of_graph(words, "")]


def setting(text: str) -> Mutable:
    """`a.b=c` as nested keys; what is no TOML value is taken as a word."""
    key, equals, value = text.partition("=")
    if not equals or not all(part.strip() for part in key.split(".")):
        raise InputError(Problem(f"{text!r} sets nothing", "Write it as a.b=value."))
    try:
        found = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        found = value
    for part in reversed(key.split(".")):
        found = {part.strip(): found}
    return found


def merge(into: Mutable, changes: Words) -> None:
    """Put changes into nested keys, in place; lists are replaced as a whole."""
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), Mapping):
            into[key] = dict(into[key])
            merge(into[key], value)
        else:
            into[key] = copy.deepcopy(value)


def _problems_of_layer(layer: Words, where: str) -> Iterable[Problem]:
    """Unknown keys anywhere, also in what a scale changes; values are checked when all is known."""
    scales = layer.get("scale", {})
    yield from unknown(scales, SCALES, f"{where}scale.")
    parts = [(layer, where), *((held, f"{where}scale.{name}.") for name, held in scales.items())]
    for part, place in parts:
        if part is not layer:
            yield from unknown(part, SECTIONS, place)
        for name in SECTIONS:
            held, kind = part.get(name), _KINDS[name]
            if kind is not None and isinstance(held, Mapping):
                yield from problems_of(held, kind, f"{place}{name}.", partly=True)
        yield from _problems_of_graph(part, place)


def _problems_of_graph(words: Words, where: str) -> list[Problem]:
    held = words.get("graph")
    if not isinstance(held, Mapping):
        return []
    return problems_of(held, LabellingPlan, f"{where}graph.", but=_OF_METHOD, partly=True)
