"""What every way to add up offers, and the messages of all.

Each site computes a matrix from a request; nobody is to see more than the total. Three kinds, by
who learns the total:

kind     who learns the total                          used for
rows     each site only its own rows [XCLP §3.2]       class scores
shared   every site all of it                          feature moments
public   the server                                    counts of correct labels, votes

A site never sends the rows that are its own (R_j in the paper): it adds them when the others'
sum comes back.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Conversation, Message, Release

Mode = Literal["rows", "shared", "public"]


class Terms(msgspec.Struct, frozen=True):
    """The terms of one sum, the same for all who contribute.

    `slot`: which of the masks of this epoch hide it (−1: none do). `members`: who contributes.
    `blocks`: how many rows each owner has, in order; empty unless rows belong to owners.
    """

    name: str
    mode: Mode
    form: str
    slot: int
    members: tuple[str, ...]
    blocks: dict[str, int]

    def kept(self, name: str) -> dict[str, slice]:
        """Where the rows of each member's block stand that this site sends: all but its own."""
        return {owner: at for owner, at in spans(self.blocks).items() if self.sends(name, owner)}

    def sends(self, name: str, owner: str) -> bool:
        """Whether a site sends an owner's rows: all but its own, and those of who is lost."""
        return owner != name and owner in self.members


class Summed(Message, frozen=True):
    """A request for a summand. A site answers it only inside `Contribute`, and only where the
    total goes to whom the request's kind allows.
    """

    modes: ClassVar[tuple[Mode, ...]] = ()
    reveals: ClassVar[tuple[Release, ...]] = ()  # what the request itself tells the site


class Contribute(Message, frozen=True):
    """Compute your summand for this request, and send it on these terms."""

    kind: str
    request: bytes
    terms: Terms


class Summand(Message, frozen=True):
    """A matrix to be summed over sites: what a site answers to itself. It is never sent."""

    matrix: np.ndarray


class Hidden(Message, frozen=True):
    """A summand as it is sent: ring elements, masked if anything is protected."""

    ring: np.ndarray


class Deliver(Message, frozen=True):
    """The total (your rows of it, without your own part) for the request that `kind` names."""

    kind: str
    terms: Terms
    contributors: tuple[str, ...]
    ring: np.ndarray


class Total(Message, frozen=True):
    """A total, or a part of one. A site's code subclasses it for every kind of request."""

    matrix: np.ndarray


class Sums(ABC):
    """The server's side."""

    protects: ClassVar[str]

    @abstractmethod
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

    @abstractmethod
    def shared(
        self,
        step: str,
        what: str,
        requests: Mapping[str, Message],
        total: type[Total],
    ) -> Conversation[list[str]]:
        """Sum matrices; every site asked gets the whole sum. Returns who did."""

    @abstractmethod
    def public(
        self, step: str, what: str, requests: Mapping[str, Message], form: str = "wide"
    ) -> Conversation[NDArray[np.float64]]:
        """Sum matrices; the server gets the sum."""


def spans(blocks: Mapping[str, int]) -> dict[str, slice]:
    """Where each owner's rows stand."""
    found, start = {}, 0
    for owner, n_rows in blocks.items():
        found[owner] = slice(start, start + n_rows)
        start += n_rows
    return found
