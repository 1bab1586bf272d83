"""What all verbs share: --json, --debug, a screen to write on, and an answer."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from colabel.cli.screen import Screen


@dataclass(frozen=True)
class Answer:
    """The fields of a verb's JSON object, and its exit code."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    code: int = 0


data_dir_option = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    envvar="COLABEL_DATA",
    show_envvar=True,
    help="The folder with the public data sets.",
)


def verb(work: Callable[..., Answer]) -> Callable[..., int]:
    """Give a verb its two common options; it receives a `Screen` first and returns an `Answer`."""

    @click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
    @click.option("--debug", is_flag=True, help="Show where an error came from.")
    @functools.wraps(work)
    def run(as_json: bool, debug: bool, **options: Any) -> int:
        screen = Screen(json=as_json)
        answer = work(screen, **options)
        screen.answer(work.__name__, answer.fields)
        return answer.code

    return run
