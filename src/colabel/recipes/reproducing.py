"""A table of a paper, run by run: results are kept in a file as they come, a line each.

A run that is there already, with the same settings and seed, is not repeated; one that was broken
off goes on from its checkpoint beside the file.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import msgspec

from colabel.errors import Diverged, InputError, Problem
from colabel.jobs.checkpoint import Checkpoint, read_checkpoint
from colabel.recipes.building import Ready, problems_of_names, ready
from colabel.recipes.reading import Cell, Source, recipe
from colabel.recipes.running import Named, digest_of, train_on

Listener = Callable[[Mapping[str, Any]], None]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a cell. test: of the kept model; accuracy is none if the model diverged."""

    table: str
    cell: str
    scale: str
    seed: int
    digest: str
    accuracy: float | None
    balanced_accuracy: float | None
    validation: float | None
    last: float | None
    best_round: int | None
    seconds: float
    format: int = 1


class Task(NamedTuple):
    """A run that is wanted."""

    cell: Cell
    seed: int


class Compared(NamedTuple):
    """A cell: the paper's figure and ours, in percent; sd is none for fewer than two runs."""

    cell: Cell
    paper: tuple[float, ...]
    mean: float | None
    sd: float | None
    n_seeds: int
    n_diverged: int


def chosen_cells(
    source: Source, scale: str, changes: Sequence[str], patterns: Sequence[str]
) -> tuple[Cell, ...]:
    """The cells whose names contain all of these texts; all are checked before any is run."""
    cells = source.cells(scale, changes)
    found = tuple(c for c in cells if all(p.lower() in c.name.lower() for p in patterns))
    if not found:
        what = f"no cell of {source.name} has {' and '.join(map(repr, patterns))} in its name"
        raise InputError(Problem(what, f"Its cells are named like {cells[0].name!r}."))
    problems = {p: None for cell in found for p in problems_of_names(recipe(cell))}
    if problems:
        raise InputError(problems)
    return found


def outcomes_in(path: Path) -> list[Outcome]:
    """What is in the file already; a last line that was cut short is not there."""
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(msgspec.json.decode(line, type=Outcome))
        except msgspec.MsgspecError as error:
            if number == len(lines):
                break
            what = f"{path}, line {number} is no result: {error}"
            raise InputError(Problem(what, "Name another file with --out.")) from None
    return found


def run_cells(
    source: Source,
    tasks: Sequence[Task],
    scale: str,
    path: Path,
    *,
    data_dir: Path | None = None,
    starting: Callable[[Task, Ready], Listener],
) -> Iterator[Outcome]:
    """Run what is not there yet; every outcome is on file when it is given out.

    `starting` is told of each run and answers who listens to it.
    """
    there = {(one.digest, one.scale): one for one in outcomes_in(path)}
    checkpoint = path.with_suffix(".checkpoint.safetensors")
    for task in tasks:
        wanted = recipe(task.cell)
        key = digest_of(wanted, task.seed), scale
        if key in there:
            yield there[key]
            continue
        made = ready(wanted, task.seed, data_dir)
        listen = starting(task, made)
        start = _begun(checkpoint, key[0])
        named = Named(source.about.title, task.cell.name, scale)
        outcome = _run(source, task, made, named, checkpoint, start, listen)
        _append(path, outcome)
        checkpoint.unlink(missing_ok=True)
        yield outcome


def _run(
    source: Source,
    task: Task,
    made: Ready,
    named: Named,
    path: Path,
    start: Checkpoint | None,
    listen: Listener,
) -> Outcome:
    found: dict[str, Any] = dict.fromkeys(
        ("accuracy", "balanced_accuracy", "validation", "last", "best_round")
    )
    seconds = 0.0
    try:
        results = train_on(path, made, named, start, listen).results
    except Diverged:
        pass
    else:
        kept = next(iter(results.test.values()))
        found |= {name: round(kept[name], 6) for name in ("accuracy", "balanced_accuracy")}
        found["last"] = round(results.test["last model"]["accuracy"], 6)
        found |= {"validation": results.validation, "best_round": results.best_round}
        seconds = round(results.seconds, 2)
    return Outcome(
        table=source.name,
        cell=task.cell.name,
        scale=named.scale,
        seed=task.seed,
        digest=digest_of(made.recipe, made.seed),
        seconds=seconds,
        **found,
    )


def _begun(path: Path, digest: str) -> Checkpoint | None:
    """The checkpoint, if it is of this run."""
    try:
        return read_checkpoint(path, digest)
    except InputError:
        return None


def _append(path: Path, outcome: Outcome) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.read_bytes() if path.is_file() else b""
    lost = b"" if not old or old.endswith(b"\n") else b"\n"
    with path.open("ab") as stream:
        stream.write(lost + msgspec.json.encode(outcome) + b"\n")


def compare(
    source: Source, cells: Sequence[Cell], outcomes: Sequence[Outcome]
) -> tuple[Compared, ...]:
    """Each cell's figure beside ours."""
    found = []
    for cell in cells:
        own = [one for one in outcomes if one.cell == cell.name]
        values = [getattr(one, source.about.measure) for one in own]
        known = [100 * value for value in values if value is not None]
        sd = stdev(known) if len(known) > 1 else None
        average = mean(known) if known else None
        gone = len(values) - len(known)
        found.append(Compared(cell, cell.paper, average, sd, len(known), gone))
    return tuple(found)


def in_words(figure: Sequence[float]) -> str:
    """A figure with its standard deviation, if there is one."""
    if not figure:
        return "–"
    return " ± ".join(f"{value:.1f}" for value in figure[:2])


def file_name(name: str, scale: str) -> str:
    """Where results of a table go, under runs/."""
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}-{scale}.jsonl"
