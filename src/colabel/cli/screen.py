"""What a command shows: tables to people on stdout, or one JSON object and all else on stderr."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TextIO

import click
import msgspec
from rich.console import Console
from rich.table import Table

from colabel.cli.exits import Ending
from colabel.errors import Problem

FORMAT = 1


class Screen:
    """Where a verb writes. With `json`, stdout holds the answer and nothing else."""

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        # names of sites and columns are shown as they are: no markup, no emoji
        plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
        self.errors = Console(stderr=True, **plain)
        self.out = self.errors if json else Console(**plain)

    def say(self, text: str = "", style: str | None = None) -> None:
        """A line of text."""
        self.out.print(text, style=style, soft_wrap=True)

    def table(
        self,
        title: str,
        columns: Iterable[str],
        rows: Iterable[Iterable[str]],
        numbers: bool = True,
    ) -> None:
        """A table; all columns but the first are numbers, aligned to the right."""
        look: dict[str, Any] = {"title_justify": "left", "title_style": "bold"}
        table = Table(title=title, box=None, pad_edge=False, **look)
        for place, name in enumerate(columns):
            to_right = numbers and place > 0
            table.add_column(name, justify="right" if to_right else "left", header_style="dim")
        for row in rows:
            table.add_row(*row)
        self.out.print(table)
        self.out.print()

    def show_problems(self, headline: str, problems: Iterable[Problem]) -> None:
        """A tidy list on stderr."""
        self.errors.print(headline, style="bold red")
        for problem in problems:
            self.errors.print(f"  - {tidy(problem)}", soft_wrap=True)

    def show_notes(self, notes: Iterable[Problem]) -> None:
        """What is worth knowing, on stderr."""
        for note in notes:
            self.errors.print(f"note: {tidy(note)}", style="yellow", soft_wrap=True)

    def show_warning(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        """Instead of Python's own way, which shows lines of code."""
        self.errors.print(f"note: {message}", style="yellow", soft_wrap=True)

    def show_traceback(self, error: BaseException) -> None:
        """Where an error came from, for --debug."""
        import traceback

        self.errors.print("".join(traceback.format_exception(error)), soft_wrap=True)

    def answer(self, verb: str, fields: Mapping[str, Any]) -> None:
        """The one JSON object, if it was asked for."""
        if self.json:
            click.echo(msgspec.json.encode({"format": FORMAT, "verb": verb, **fields}))

    def answer_error(self, verb: str | None, ending: Ending) -> None:
        """The same for a command that failed."""
        if self.json:
            found = {
                "kind": ending.kind,
                "exit_code": ending.code,
                "problems": [as_data(problem) for problem in ending.problems],
            }
            click.echo(msgspec.json.encode({"format": FORMAT, "verb": verb, "error": found}))


def tidy(problem: Problem) -> str:
    """A problem as a sentence."""
    what, fix = _as_options(problem.what), _as_options(problem.fix)
    return str(replace(problem, what=what, fix=fix)).strip()


_OPTIONS = {
    "site_column": "--site-column",
    "label_column": "--label-column",
    "id_column": "--id-column",
    "n_labels": "--labels",
    "fraction": "--label-fraction",
    "labels_per_site": "--labels-per-site",
    "n_sites_with_labels": "--sites-with-labels",
}
# but not in quotes, where names of the user's columns stand
_PARAMETER = re.compile(rf"(?<![\w'\"-])({'|'.join(_OPTIONS)})(?![\w'\"])")


def _as_options(text: str) -> str:
    """The library names parameters; here they are options."""
    if text.startswith("Known: "):  # names of the user's columns, too
        return text
    return _PARAMETER.sub(lambda found: _OPTIONS[found[1]], text)


def as_data(problem: Problem) -> dict[str, Any]:
    """A problem as JSON knows it."""
    return {
        "what": _as_options(problem.what),
        "fix": _as_options(problem.fix),
        "site": problem.site,
        "row": problem.row,
        "column": problem.column,
    }
