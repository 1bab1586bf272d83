"""No protection: the server sees every summand. For simulation, and as the oracle.

step         message                   bytes up per site       who learns what
<name>       Contribute → Hidden       8 · size of the matrix  server: every summand
<name>.back  Deliver → Done            0                       sites: (their part of) the total

A site lost before its summand arrived contributes nothing and receives no rows; the others are
summed. A site lost on the way back does not learn its part; nobody else is affected
[XCLP §3.3, Robustness].
"""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import UNPROTECTED, Ask, Conversation, Done, Message, Release
from colabel.errors import SitesLost
from colabel.protocols.replies import expect, refuse
from colabel.protocols.sums.base import (
    Contribute,
    Deliver,
    Hidden,
    Mode,
    Summed,
    Sums,
    Terms,
    Total,
    spans,
)
from colabel.protocols.sums.fixed_point import FORMATS, Ring, decode
from colabel.wire import pack


class Collected(NamedTuple):
    """A sum in the ring, on its terms; nobody has the rows of those who were lost."""

    terms: Terms
    contributors: tuple[str, ...]
    ring: Ring


class ClearSums(Sums):
    """The server's side, which the masked sums share."""

    protects: ClassVar[str] = UNPROTECTED

    def rows(
        self,
        step: str,
        what: str,
        requests: Mapping[str, Message],
        owners: Mapping[str, int],
        total: type[Total],
    ) -> Conversation[list[str]]:
        """Each site gets the sum of its own rows."""
        found = yield from self._collect(step, what, requests, "rows", "scores", owners)
        parts = {
            name: found.ring[at] for name, at in spans(owners).items() if name in found.contributors
        }
        return (yield from self._back(step, f"{what}, own rows only", parts, found, total))

    def shared(
        self,
        step: str,
        what: str,
        requests: Mapping[str, Message],
        total: type[Total],
    ) -> Conversation[list[str]]:
        """Every site asked gets the sum."""
        found = yield from self._collect(step, what, requests, "shared", "wide", {})
        parts = dict.fromkeys(found.terms.members, found.ring)
        return (yield from self._back(step, what, parts, found, total))

    def public(
        self, step: str, what: str, requests: Mapping[str, Message], form: str = "wide"
    ) -> Conversation[NDArray[np.float64]]:
        """The server gets the sum."""
        found = yield from self._collect(step, what, requests, "public", form, {})
        return decode(found.ring, FORMATS[form])

    def _collect(
        self,
        step: str,
        what: str,
        requests: Mapping[str, Message],
        mode: Mode,
        form: str,
        owners: Mapping[str, int],
    ) -> Conversation[Collected]:
        terms = Terms(step, mode, form, -1, tuple(requests), dict(owners))
        release = Release(f"each site's {what}", "server", UNPROTECTED)
        hidden = yield from ask_all(step, terms, requests, release)
        return Collected(terms, tuple(hidden), add_up(terms, hidden))

    def _back(
        self,
        step: str,
        what: str,
        parts: Mapping[str, Ring],
        found: Collected,
        total: type[Total],
    ) -> Conversation[list[str]]:
        told = {
            name: Deliver(total.__name__, found.terms, found.contributors, part)
            for name, part in parts.items()
        }
        release = Release(f"the sum of all sites' {what}", "each site", self.protects)
        replies = yield Ask(f"{step}.back", told, (release,))
        return list(expect(replies, f"{step}.back", Done))


def ask_all(
    step: str, terms: Terms, requests: Mapping[str, Message], release: Release
) -> Conversation[dict[str, Ring]]:
    """Ask all members for their summands; those that came, checked."""
    asked = {
        name: Contribute(type(requests[name]).__name__, pack(requests[name]), terms)
        for name in terms.members
    }
    kinds = dict.fromkeys(type(request) for request in requests.values())
    told = tuple(told for kind in kinds if issubclass(kind, Summed) for told in kind.reveals)
    replies = yield Ask(step, asked, (*told, release))
    if not replies:
        raise SitesLost(f"no site is left: none answered in the step {step!r}")
    came = expect(replies, step, Hidden)
    hidden = {name: came[name].ring for name in terms.members if name in came}
    _check(terms, hidden)
    return hidden


def _check(terms: Terms, hidden: Mapping[str, Ring]) -> None:
    """What is added up must be of one kind and shape."""
    form = FORMATS[terms.form]
    n_rows, n_columns = _usual_shape(hidden)
    for name, held in hidden.items():
        wanted = (_n_sent(terms, name) if terms.mode == "rows" else n_rows, n_columns)
        if held.dtype != form.ring or held.shape != wanted or n_columns % form.n_limbs:
            got = f"{held.shape} of {held.dtype.str}"
            rule = "a summand of another kind"
            refuse(name, terms.name, f"{wanted} of {form.ring}", got, rule)


def _usual_shape(hidden: Mapping[str, Ring]) -> tuple[int, int]:
    """The rows and columns that most have."""
    shapes = [held.shape for held in hidden.values() if held.ndim == 2] or [(0, 0)]
    rows, columns = (Counter(sizes) for sizes in zip(*shapes, strict=True))
    return rows.most_common(1)[0][0], columns.most_common(1)[0][0]


def _n_sent(terms: Terms, name: str) -> int:
    return sum(at.stop - at.start for at in terms.kept(name).values())


def add_up(terms: Terms, hidden: Mapping[str, Ring]) -> Ring:
    """The sum, every site's rows where they belong [XCLP §3.2: Ẑ = Σ Ẑ^(j)]."""
    form = FORMATS[terms.form]
    first = next(iter(hidden.values()))
    n_rows = sum(terms.blocks.values()) if terms.mode == "rows" else len(first)
    total: Ring = np.zeros((n_rows, first.shape[1]), dtype=form.ring)
    for name, ring in hidden.items():
        if terms.mode != "rows":
            total += ring
            continue
        start = 0
        for at in terms.kept(name).values():
            total[at] += ring[start : start + at.stop - at.start]
            start += at.stop - at.start
    return total
