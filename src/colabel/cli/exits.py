"""How a command can end badly: which exit code, and what is said."""

from dataclasses import dataclass

import click

from colabel.errors import ColabelError, Diverged, InputError, Problem, ProtocolError, SitesLost

PROBLEMS, USAGE, SITE_FAILED, INTERNAL, INTERRUPTED = 1, 2, 3, 4, 130


@dataclass(frozen=True)
class Ending:
    """An exit code, its name for programs, and the problems to show."""

    code: int
    kind: str
    headline: str
    problems: tuple[Problem, ...]


def ending_of(error: BaseException) -> Ending:
    """What to say about an error, and which exit code it has."""
    match error:
        case KeyboardInterrupt() | click.Abort():
            return Ending(INTERRUPTED, "interrupted", "Interrupted.", ())
        case click.ClickException():
            return Ending(USAGE, "usage", "The command is not written correctly.", (_usage(error),))
        case InputError():
            return Ending(PROBLEMS, "input", _found(len(error.problems)), error.problems)
        case SitesLost() | ProtocolError() | Diverged():
            fix = "See events.jsonl in the run folder for what happened before."
            return Ending(SITE_FAILED, "site", "A site failed.", (_sentence(str(error), fix),))
        case ColabelError():
            return Ending(PROBLEMS, "input", _found(1), (_sentence(str(error), ""),))
        case OSError():
            return Ending(PROBLEMS, "input", _found(1), (_of_system(error),))
        case _:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            fix = "This is a mistake in colabel: please report it with the output of --debug."
            return Ending(INTERNAL, "internal", "Internal error.", (_sentence(what, fix),))


def _found(number: int) -> str:
    return "1 problem:" if number == 1 else f"{number} problems:"


def _usage(error: click.ClickException) -> Problem:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "colabel"
    return _sentence(error.format_message(), f"See {command} --help.")


def _of_system(error: OSError) -> Problem:
    where = f"{error.filename}: " if error.filename else ""
    what = f"{where}{error.strerror or error}"
    return _sentence(what, "Check the path, its permissions and the free space.")


def _sentence(what: str, fix: str) -> Problem:
    return Problem(what.strip().removesuffix("."), fix)
