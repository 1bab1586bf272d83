"""Progress of training on stderr: round, accuracy, and when it will be done."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Listener = Callable[[Mapping[str, Any]], None]


@contextmanager
def shown_rounds(console: Console, what: str, total: int, done: int = 0) -> Iterator[Listener]:
    """A listener that moves a bar on with every round; silent if nobody looks."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rounds", markup=False),
        TimeElapsedColumn(),
        TextColumn("left:", markup=False),
        TimeRemainingColumn(),
        TextColumn("{task.fields[said]}", markup=False),
    )
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as progress:
        task = progress.add_task(what, total=total, completed=done, said="")

        def listen(event: Mapping[str, Any]) -> None:
            if event["event"] != "round":
                return
            progress.update(task, completed=event["round"] + 1)
            if "scores" in event:
                progress.update(task, said=f"validation {100 * event['scores']['accuracy']:.1f} %")

        yield listen


class Bar:
    """Runs and, within the one that is under way, rounds."""

    def __init__(self, progress: Progress, runs: TaskID, rounds: TaskID) -> None:
        self._progress, self._runs, self._rounds = progress, runs, rounds

    def listener(self, name: str, total: int) -> Listener:
        """Who listens to the next run."""
        self._progress.reset(self._rounds, total=total, description=f"  {name}")

        def listen(event: Mapping[str, Any]) -> None:
            if event["event"] == "round":
                self._progress.update(self._rounds, completed=event["round"] + 1)

        return listen

    def done(self) -> None:
        """A run is done."""
        self._progress.advance(self._runs)


@contextmanager
def shown_runs(console: Console, what: str, total: int) -> Iterator[Bar]:
    """A bar over many runs."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:", markup=False),
        TimeRemainingColumn(),
    )
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as progress:
        runs = progress.add_task(f"{what}, runs", total=total)
        yield Bar(progress, runs, progress.add_task("  rounds", total=1))
