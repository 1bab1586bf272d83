"""The words that an algorithm and the sites exchange.

An algorithm is a *conversation*: a generator on the server's side that yields an `Ask` (what it
wants of which site) and receives the replies. It does no I/O, so it runs unchanged on any engine.
A site missing from the replies has dropped out; every conversation says what it does then.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")


class Message(msgspec.Struct, frozen=True):
    """What travels between the server and a site. Subclasses register by their name."""

    kinds: ClassVar[dict[str, type["Message"]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        other = Message.kinds.setdefault(cls.__name__, cls)
        if other.__module__ != cls.__module__:
            raise TypeError(f"two messages are called {cls.__name__}")

    def apart(self) -> Mapping[str, int]:
        """Bytes of parts that costs count under their own names."""
        return {}


class Done(Message, frozen=True):
    """The step is done and there is nothing to tell."""


@dataclass(frozen=True)
class Release:
    """What one step reveals: what, to whom, under which mechanism.

    `of`: whose data it is, where that is not just every site that answers.
    """

    what: str
    to: str
    mechanism: str
    of: tuple[str, ...] = ()


# the mechanism of what is released because the plan protects nothing
UNPROTECTED = "in clear, no protection"


@dataclass(frozen=True)
class Ask:
    """One step: a message for each site asked, and what the answers will reveal."""

    step: str
    messages: Mapping[str, Message]
    releases: tuple[Release, ...] = ()


Replies = Mapping[str, Message]
Conversation = Generator[Ask, Replies, Result]

State = TypeVar("State", bound=msgspec.Struct)


class Private(msgspec.Struct, frozen=True):
    """What a site must not show: nothing that prints it, a traceback say, shows its contents."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class SiteSide(Protocol):
    """What a protocol's site half may use of its site."""

    name: str

    @property
    def session(self) -> str:
        """The session that the site is in."""

    def codes(self) -> NDArray[np.uint8]:
        """The packed codes of the site's points."""

    def remember(self, state: msgspec.Struct) -> None:
        """Keep a state until the session ends; a later one of its type replaces it."""

    def recall(self, kind: type[State]) -> State:
        """The state remembered, or a `RemoteProtocolError`: the server skipped a step."""

    def knows(self, kind: type[msgspec.Struct]) -> bool:
        """Whether such a state is remembered."""

    def sign(self, statement: bytes) -> bytes:
        """Sign with the site's long-term identity."""

    def check_signature(self, name: str, statement: bytes, signature: bytes) -> None:
        """Refuse a statement that the site of this name, as the roster knows it, did not sign."""

    def refuse(self, rule: str, expected: str, got: str) -> NoReturn:
        """Blame the server for a message that does not belong here."""

    def answer(self, request: Message) -> Message:
        """Answer a request that came inside another one."""
