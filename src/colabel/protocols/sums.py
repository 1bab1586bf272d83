"""Sums over sites of a matrix that each site computes from a request.

This variant is `clear`: the server sees every summand. Three kinds, by who learns the total:

kind     who learns the total                          used for
rows     each site only its own rows [XCLP §3.2]       class scores
shared   every site all of it                          feature moments
public   the server                                    counts of correct labels

step     message                    bytes up per site            who learns what
<name>   Contribute → Summand       8 · size of the matrix       server: every summand
<name>.back  Deliver → Done         0                            sites: (their part of) the total

A site lost before its summand arrived contributes nothing and receives no rows; the others are
summed. A site lost on the way back does not learn its part; nobody else is affected
[XCLP §3.3, Robustness].
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Ask, Conversation, Message, Release, SiteSide
from colabel.errors import SitesLost
from colabel.wire import pack, read_message


class Contribute(Message, frozen=True):
    """Compute your summand for this request."""

    kind: str
    request: bytes


class Summand(Message, frozen=True):
    """A matrix to be summed over sites."""

    matrix: np.ndarray


class Deliver(Message, frozen=True):
    """Your part of the total, for the request that `kind` names."""

    kind: str
    total: bytes


class Total(Message, frozen=True):
    """A total, or a part of one. A site's code subclasses it for every kind of request."""

    matrix: np.ndarray


def contribute(site: SiteSide, request: Contribute) -> Summand:
    """The site's side of the way in."""
    summand = site.answer(read_message(request.kind, request.request, site.refuse))
    if not isinstance(summand, Summand):
        site.refuse("not to be summed", "a request for a summand", request.kind)
    return summand


def deliver(site: SiteSide, request: Deliver) -> Message:
    """The site's side of the way back."""
    return site.answer(read_message(request.kind, request.total, site.refuse))


class ClearSums:
    """The server's side."""

    name: ClassVar[str] = "clear"

    def _collect(
        self, step: str, what: str, requests: Mapping[str, Message]
    ) -> Conversation[dict[str, NDArray[np.float64]]]:
        asked = {
            name: Contribute(type(request).__name__, pack(request))
            for name, request in requests.items()
        }
        replies = yield Ask(step, asked, (Release(what, "server", "in clear"),))
        if not replies:
            raise SitesLost(f"no site is left: none answered in the step {step!r}")
        return {name: cast("Summand", replies[name]).matrix for name in requests if name in replies}

    def _back(self, step: str, what: str, totals: Mapping[str, Total]) -> Conversation[list[str]]:
        told = {name: Deliver(type(total).__name__, pack(total)) for name, total in totals.items()}
        release = Release(what, "each site", "in clear")
        replies = yield Ask(f"{step}.back", told, (release,) if what else ())
        return list(replies)

    def rows(
        self,
        step: str,
        what: str,
        requests: Mapping[str, Message],
        owners: Mapping[str, int],
        total: type[Total],
    ) -> Conversation[list[str]]:
        """Sum matrices whose rows belong to sites; each gets the sum of its own rows only.

        `owners` gives every owner's number of rows, in order. Returns who received theirs.
        """
        summands = yield from self._collect(step, f"each site's {what}", requests)
        matrix = np.sum(list(summands.values()), axis=0)
        ends = np.cumsum(list(owners.values()))
        parts = dict(zip(owners, np.split(matrix, ends[:-1]), strict=True))
        told = {name: total(part) for name, part in parts.items() if name in summands}
        return (yield from self._back(step, f"the sum of all sites' {what}, own rows only", told))

    def shared(
        self,
        step: str,
        what: str,
        requests: Mapping[str, Message],
        members: Sequence[str],
        total: type[Total],
    ) -> Conversation[list[str]]:
        """Sum matrices; every member gets the whole sum. Returns who received it."""
        summands = yield from self._collect(step, f"each site's {what}", requests)
        matrix = np.sum(list(summands.values()), axis=0)
        told = dict.fromkeys(members, total(matrix))
        return (yield from self._back(step, f"the sum of all sites' {what}", told))

    def public(
        self, step: str, what: str, requests: Mapping[str, Message]
    ) -> Conversation[NDArray[np.float64]]:
        """Sum matrices; the server gets the sum."""
        summands = yield from self._collect(step, f"each site's {what}", requests)
        return cast("NDArray[np.float64]", np.sum(list(summands.values()), axis=0))
