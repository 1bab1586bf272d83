"""`colabel`: the verbs together, and what their endings mean."""

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from colabel.cli import (
    audit,
    completion,
    cost,
    cotrain,
    demo,
    doctor,
    label,
    report,
    reproduce,
    site,
    split,
    train,
)
from colabel.cli.exits import Ending, ending_of
from colabel.cli.screen import Screen

EXIT_CODES = """
\b
Exit codes:
    0  done
    1  problems were found, or the input cannot be used
    2  the command is not written correctly
    3  a site failed: too few are left, or one broke the protocol
    4  an internal error; --debug shows where
  130  interrupted
"""


class Colabel(click.Group):
    """The group, which turns every ending into an exit code and a tidy message."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run a verb and leave with its exit code."""
        words = list(sys.argv[1:] if args is None else args)
        screen = Screen(json="--json" in words)
        try:
            with warnings.catch_warnings():
                warnings.showwarning = screen.show_warning
                result = super().main(words, prog_name or "colabel", **extra | _NOT_ALONE)
            sys.stdout.flush()
        except BrokenPipeError:
            # the reader has seen enough; do not let the interpreter complain while it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except (Exception, KeyboardInterrupt) as error:
            if "--debug" in words:
                screen.show_traceback(error)
            sys.exit(self._fail(screen, ending_of(error), words))
        sys.exit(result if isinstance(result, int) else 0)

    def _fail(self, screen: Screen, ending: Ending, words: Sequence[str]) -> int:
        verb = next((word for word in words if word in self.commands), None)
        screen.show_problems(ending.headline, ending.problems)
        screen.answer_error(verb, ending)
        return ending.code


_NOT_ALONE = {"standalone_mode": False}


@click.group(
    cls=Colabel,
    epilog=EXIT_CODES,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="colabel", message="%(prog)s %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Label the data of several sites together, although they may not show each other any of it.

    Start with `colabel demo`. Every verb takes --json (one JSON object on stdout, all else on
    stderr) and --debug. Shell completion: `colabel completion bash` (or zsh, fish).
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _verb in (
    label.label,
    train.train,
    cotrain.cotrain,
    audit.audit,
    reproduce.reproduce,
    cost.cost,
    split.split,
    demo.demo,
    report.report,
    doctor.doctor,
):
    main.add_command(_verb)
main.add_command(completion.completion)
main.add_command(site.site)
