"""`colabel reproduce`: the tables of the papers, their figures and ours."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colabel.cli.screen import Screen
from colabel.cli.verb import Answer, data_dir_option, verb

if TYPE_CHECKING:
    from colabel.recipes.reading import Cell, Source
    from colabel.recipes.reproducing import Compared, Outcome


@click.command()
@click.argument("table", required=False, metavar="[TABLE]")
@click.option("--list", "list_all", is_flag=True, help="Name every table and figure.")
@click.option(
    "--scale", type=click.Choice(["full", "cpu"]), default="cpu", show_default=True,
    help="The paper's size, or one for minutes on a CPU.",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(1), default=3, show_default=True, metavar="N",
    help="How many runs of each cell.",
)  # fmt: skip
@click.option(
    "--cells", "patterns", multiple=True, metavar="TEXT",
    help="Only cells with TEXT in their names; may be given several times.",
)  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="A.B=C", help="Change a key of all cells.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where results are kept and looked for. [runs/reproduce/<table>-<scale>.jsonl]",
)
@data_dir_option
@verb
def reproduce(
    screen: Screen,
    table: str | None,
    list_all: bool,
    scale: str,
    seeds: int,
    patterns: tuple[str, ...],
    changes: tuple[str, ...],
    out: Path | None,
    data_dir: Path | None,
) -> Answer:
    """Run the cells of TABLE and show the paper's figures beside ours.

    TABLE is a name of --list, or a file of the same form. Results are kept as they come: started
    again, the command goes on where it stopped.
    """
    from colabel.errors import InputError, Problem
    from colabel.recipes.reproducing import chosen_cells, compare, file_name
    from colabel.recipes.shipped import find

    if list_all or table is None:
        if not list_all:
            raise InputError(Problem("no table is named", "Name one, or see --list."))
        return _list(screen)
    source = find(table)
    if not source.can_run:
        return _show_command(screen, source)
    cells = chosen_cells(source, scale, changes, patterns)
    path = out or Path("runs") / "reproduce" / file_name(source.name, scale)
    if scale == "cpu" and source.about.stand_in:
        screen.say(f"At this scale: {source.about.stand_in}.")
    outcomes = list(_run(screen, source, cells, scale, seeds, path, data_dir))
    found = compare(source, cells, outcomes)
    _show(screen, source, found)
    screen.say(f"Results: {path}")
    return Answer(
        {
            "table": source.name,
            "title": source.about.title,
            "scale": scale,
            "measure": source.about.measure,
            "cells": [_as_data(one) for one in found],
            "seconds": sum(one.seconds for one in outcomes),
            "out": str(path),
        }
    )


def _run(
    screen: Screen,
    source: "Source",
    cells: "Sequence[Cell]",
    scale: str,
    seeds: int,
    path: Path,
    data_dir: Path | None,
) -> "Iterable[Outcome]":
    """Every run, with a bar over all of them."""
    from colabel.cli.rounds import shown_runs
    from colabel.recipes.reading import recipe
    from colabel.recipes.reproducing import Task, run_cells

    def seed(cell: "Cell", number: int) -> int:
        own = recipe(cell).run.seeds
        return own[number] if number < len(own) else max(own) + 1 + number - len(own)

    # one seed of all cells first, so that the whole table is there early
    tasks = [Task(cell, seed(cell, number)) for number in range(seeds) for cell in cells]
    with shown_runs(screen.errors, source.name, len(tasks)) as bar:
        for outcome in run_cells(
            source, tasks, scale, path, data_dir=data_dir,
            starting=lambda task, made: bar.listener(task.cell.name, made.plan.rounds),
        ):  # fmt: skip
            bar.done()
            yield outcome


def _show(screen: Screen, source: "Source", found: "Sequence[Compared]") -> None:
    from colabel.recipes.reproducing import in_words

    rows = []
    for one in found:
        own = () if one.mean is None else (one.mean,) if one.sd is None else (one.mean, one.sd)
        said = in_words(own) + (f" ({one.n_diverged} diverged)" if one.n_diverged else "")
        row = [one.cell.row or one.cell.name, one.cell.column, in_words(one.paper), said]
        rows.append([*row, str(one.n_seeds)])
    measure = source.about.measure.replace("_", " ")
    title = f"{source.about.paper or source.about.title}: {measure} on test points, percent"
    screen.table(title, ["", "setting", "paper", "ours", "seeds"], rows)


def _as_data(one: "Compared") -> dict[str, Any]:
    return {
        "row": one.cell.row,
        "column": one.cell.column,
        "paper": list(one.paper),
        "mean": one.mean,
        "sd": one.sd,
        "seeds": one.n_seeds,
        "diverged": one.n_diverged,
    }


def _show_command(screen: Screen, source: "Source") -> Answer:
    """A table that another command makes: its figures, and which command."""
    from colabel.recipes.reproducing import in_words

    about, cells = source.about, source.cells()
    rows = [[cell.row, cell.column, in_words(cell.paper)] for cell in cells if cell.paper]
    if rows:
        screen.table(f"{about.paper}: {about.title}", ["", "setting", "paper"], rows)
    note = " ".join(about.note.split())
    screen.say(note)
    if about.command:
        screen.say(f"Run in a checkout of colabel: {about.command}")
    return Answer(
        {
            "table": source.name,
            "title": about.title,
            "command": about.command or None,
            "note": note,
            "cells": [
                {"row": c.row, "column": c.column, "paper": list(c.paper)} for c in cells if c.paper
            ],
        }
    )


def _list(screen: Screen) -> Answer:
    from colabel.recipes.shipped import find, names, others

    entries: list[dict[str, Any]] = []
    for name in names():
        source = find(name)
        about = source.about
        status = "recipe" if source.can_run else "command" if about.command else "none"
        entries.append(
            {
                "name": name,
                "title": about.title,
                "status": status,
                "cells": len(source.cells()) if source.can_run else 0,
                "minutes": dict(about.minutes),
                "needs": about.needs,
                "stand_in": about.stand_in,
                "command": about.command or None,
                "why": "" if status != "none" else " ".join(about.note.split()),
            }
        )
    for other in others():
        plain: Mapping[str, Any] = {"cells": 0, "minutes": {}, "needs": "", "stand_in": ""}
        status = "not available yet" if other.why.startswith("Not available yet") else "none"
        entries.append(
            {
                "name": other.name, "title": other.title, "status": status, **plain,
                "command": None, "why": other.why,
            }
        )  # fmt: skip
    _show_list(screen, entries)
    return Answer({"tables": entries})


def _show_list(screen: Screen, entries: Sequence[Mapping[str, Any]]) -> None:
    from colabel.report import words

    def minutes(entry: Mapping[str, Any], scale: str) -> str:
        value = entry["minutes"].get(scale)
        return words.NOTHING if value is None else words.seconds(60 * value)

    rows = [
        [one["name"], one["title"], one["status"], minutes(one, "cpu"), minutes(one, "full")]
        for one in entries
    ]
    columns = ["name", "what", "status", "cpu", "full"]
    screen.table("Tables and figures; times for one seed of all cells", columns, rows, False)
