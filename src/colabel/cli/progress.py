"""Progress on stderr, from the events of the engine; silent if nobody looks."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

Listener = Callable[[Mapping[str, Any]], None]


@contextmanager
def shown(console: Console, what: str) -> Iterator[Listener]:
    """A listener that shows the step that is under way."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as progress:
        task = progress.add_task(what, total=None)

        def listen(event: Mapping[str, Any]) -> None:
            if (text := _in_words(event)) is None:
                return
            if event["event"] == "lost":
                progress.console.print(f"note: {text}", style="yellow", markup=False)
            else:
                progress.update(task, description=f"{what}: {text}")

        yield listen


def _in_words(event: Mapping[str, Any]) -> str | None:
    match event["event"]:
        case "step":
            return f"step {event['number'] + 1}, {event['step']} ({len(event['sites'])} sites)"
        case "server":
            return f"the server is done before {event['before']}"
        case "lost":
            return f"site {event['site']} was lost in step {event['step']}"
    return None
