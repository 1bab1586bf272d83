"""What can go wrong, and who is to blame.

Bad input is an `InputError`: it lists every problem at once, each with its place and its fix.
A broken message is a `RemoteProtocolError` (the peer's fault) or a `LocalProtocolError` (ours).
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class ColabelError(Exception):
    """Anything that colabel raises on purpose."""


class ColabelWarning(UserWarning):
    """Something was decided for the user that they may want to know."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with the input: what, where, and what to do about it."""

    what: str
    fix: str
    site: str | None = None
    row: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        places = [
            f"{word} {value}"
            for word, value in (("site", self.site), ("row", self.row), ("column", self.column))
            if value is not None
        ]
        where = f"{', '.join(places)}: " if places else ""
        stop = "" if self.what.endswith(("?", "!", ".")) else "."
        return f"{where}{self.what}{stop} {self.fix}"


class InputError(ColabelError, ValueError):
    """The input cannot be used. `problems` holds every reason found, not only the first."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        found = (problems,) if isinstance(problems, Problem) else tuple(problems)
        self.problems: tuple[Problem, ...] = found
        if len(found) == 1:
            super().__init__(str(found[0]))
        else:
            lines = "\n".join(f"  - {problem}" for problem in found)
            super().__init__(f"{len(found)} problems:\n{lines}")


class SitesLost(ColabelError):
    """Too few sites are left for the conversation to mean anything."""


class Diverged(ColabelError):
    """A model that is trained has left the finite numbers."""


class ProtocolError(ColabelError):
    """A message that the protocol does not allow here."""

    def __init__(self, rule: str, *, site: str, step: str, expected: str, got: str) -> None:
        self.rule, self.site, self.step = rule, site, step
        self.expected, self.got = expected, got
        super().__init__(f"{rule} (site {site}, step {step}): expected {expected}, got {got}")


class LocalProtocolError(ProtocolError):
    """This side broke the protocol: a bug of ours."""


class RemoteProtocolError(ProtocolError):
    """The other side broke the protocol: its message is refused."""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Name the nearest known word, else all of them."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(sorted(known))}."
