"""A site's part in one session: it answers requests, and its whole state can be saved.

A request that was answered already gets the same answer again (a reply may get lost); an older
one, or one of another session, is refused. So a site may be killed and restored from `save()`
between any two steps, and messages may come twice or out of order.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Message, State
from colabel.crypto.identity import Identity, Roster
from colabel.data.site import Site
from colabel.errors import InputError, LocalProtocolError, Problem, RemoteProtocolError
from colabel.protocols.sums import Summand, Total
from colabel.wire import digest, open_envelope, pack, seal_in, unpack

Handler = Callable[["SiteSession", Any], Message]


def no_sources(session: "SiteSession") -> NDArray[np.float64]:
    """Nothing flows from a site that is not there to label."""
    session.refuse("not a labelling session", "a role that knows labels", "none")


def stored_points(session: "SiteSession") -> NDArray[np.generic]:
    """The usual `rows`: the site's points as they are."""
    return session.site.points


class Role(NamedTuple):
    """What a site can do in a session: which function answers which message, and how the
    points that it compares and their codes are made. `rows`: of what the points are made;
    `sources`: what flows along the graph from the site's points, a row of class shares each.
    """

    handlers: Mapping[type[Message], Handler]
    points: Callable[["SiteSession"], NDArray[np.floating]]
    codes: Callable[["SiteSession"], NDArray[np.uint8]]
    sources: Callable[["SiteSession"], NDArray[np.float64]] = no_sources
    rows: Callable[["SiteSession"], NDArray[np.generic]] = stored_points


class _Saved(msgspec.Struct):
    """What `save()` writes."""

    data: str
    session: str
    step: int
    asked: str
    reply: bytes
    memory: dict[str, bytes]


class SiteSession:
    """One site in one session, in the given role.

    It signs with its `identity`, and trusts the identities on the `roster` and no others.
    """

    def __init__(self, site: Site, role: Role, identity: Identity, roster: Roster) -> None:
        self.site, self.name = site, site.name
        self.role = role
        self._identity, self._roster = identity, roster
        self._memory: dict[str, msgspec.Struct | msgspec.Raw] = {}
        self._session, self._step, self._reply = "", -1, b""
        self._asked: bytes | str = ""  # the last request, or its digest
        self._points: NDArray[np.floating] | None = None
        self._codes: NDArray[np.uint8] | None = None

    def receive(self, data: bytes) -> bytes:
        """An envelope in, an envelope out."""
        envelope, message = open_envelope(data, site=self.name, step=str(self._step + 1))
        if self._session and envelope.session != self._session:
            self.refuse("another session", self._session, envelope.session)
        if self._was_asked(data):
            return self._reply
        if envelope.step <= self._step:
            self.refuse("stale message", f"step {self._step + 1} or later", str(envelope.step))
        before = self._session, dict(self._memory)
        self._session = envelope.session
        try:
            answer = self.answer(message)
            if isinstance(message, Total) or isinstance(answer, Summand):  # it is never sent
                self.refuse("only within a sum", "Contribute, Deliver", type(message).__name__)
            reply = seal_in(envelope.session, envelope.step, self.name, answer)
        except BaseException:
            self._session, self._memory = before  # a message that is refused changes nothing
            self._points = self._codes = None
            raise
        self._step = envelope.step
        self._asked, self._reply = data, reply
        return reply

    def _was_asked(self, data: bytes) -> bool:
        """Hashed only where it must be: a model's digest takes as long as a step of training."""
        known = self._asked
        return data == known if isinstance(known, bytes) else bool(known) and digest(data) == known

    def delivered(self) -> None:
        """The last answer arrived and will not be asked for again: let go of it."""
        self._asked, self._reply = "", b""

    @property
    def session(self) -> str:
        """The session that the site is in."""
        return self._session

    def answer(self, request: Message) -> Message:
        """Answer one request."""
        handler = self.role.handlers.get(type(request))
        if handler is None:
            self.refuse("not a request", "a request", type(request).__name__)
        return handler(self, request)

    def remember(self, state: msgspec.Struct) -> None:
        """Keep a state until the session ends; a later one of its type replaces it."""
        self._memory[type(state).__name__] = state

    def recall(self, kind: type[State]) -> State:
        """The state remembered, or a `RemoteProtocolError`: the server skipped a step."""
        state = self._memory.get(kind.__name__)
        if state is None:
            self.refuse("a step was skipped", f"the step that leads to {kind.__name__}", "none")
        if isinstance(state, msgspec.Raw):
            state = self._memory[kind.__name__] = unpack(bytes(state), kind)
        if not isinstance(state, kind):
            raise LocalProtocolError(
                "two states share a name",
                site=self.name,
                step=str(self._step),
                expected=kind.__qualname__,
                got=type(state).__qualname__,
            )
        return state

    def knows(self, kind: type[State]) -> bool:
        """Whether there is such a state."""
        return kind.__name__ in self._memory

    def remembered(self, kind: str) -> bytes:
        """The state of this name as bytes; none, if there is no such state."""
        state = self._memory.get(kind)
        if state is None:
            return b""
        return bytes(state) if isinstance(state, msgspec.Raw) else pack(state)

    def forget(self, *kinds: type[msgspec.Struct]) -> None:
        """Drop states that are no longer needed, remembered or not."""
        for kind in kinds:
            self._memory.pop(kind.__name__, None)

    def sign(self, statement: bytes) -> bytes:
        """Sign with the site's long-term identity."""
        return self._identity.sign(statement)

    def check_signature(self, name: str, statement: bytes, signature: bytes) -> None:
        """Refuse a statement that the site of this name, as the roster knows it, did not sign."""
        if name not in self._roster:
            self.refuse("not on the roster", ", ".join(sorted(self._roster)), name)
        if not self._roster[name].signed(statement, signature):
            self.refuse(
                "not signed by that site",
                f"a signature of {self._roster[name]} ({name})",
                "a statement that was changed, replaced or comes from another session",
            )

    def save(self) -> bytes:
        """Everything but the data and the identity: what `load` needs to go on from here.

        It holds secrets: keep it where the data may be kept.
        """
        memory = {name: self.remembered(name) for name in self._memory}
        asked = digest(self._asked) if isinstance(self._asked, bytes) else self._asked
        return pack(
            _Saved(fingerprint(self.site), self._session, self._step, asked, self._reply, memory)
        )

    @classmethod
    def load(
        cls, site: Site, role: Role, identity: Identity, roster: Roster, saved: bytes
    ) -> "SiteSession":
        """Go on where `save` was called, with the same data."""
        held = unpack(saved, _Saved)
        if held.data != fingerprint(site):
            raise InputError(
                Problem(
                    "the data changed since the session was saved",
                    "Restore the data of that time, or start a new session.",
                    site=site.name,
                )
            )
        session = cls(site, role, identity, roster)
        session._session, session._step = held.session, held.step
        session._asked, session._reply = held.asked, held.reply
        session._memory = {name: msgspec.Raw(state) for name, state in held.memory.items()}
        return session

    def rows(self) -> NDArray[np.generic]:
        """What the points that the site compares are made of: its data, or what a model sees."""
        return self.role.rows(self)

    def start_afresh(self) -> None:
        """Make points and codes again when they are needed: what they are made of has changed."""
        self._points = self._codes = None

    def points(self) -> NDArray[np.floating]:
        """The points that the site compares, made once."""
        if self._points is None:
            self._points = self.role.points(self)
        return self._points

    def codes(self) -> NDArray[np.uint8]:
        """Their packed codes, made once."""
        if self._codes is None:
            self._codes = self.role.codes(self)
        return self._codes

    def refuse(self, rule: str, expected: str, got: str) -> NoReturn:
        """Blame the server for a message that does not belong here."""
        raise RemoteProtocolError(
            rule, site=self.name, step=str(self._step), expected=expected, got=got
        )


def fingerprint(site: Site) -> str:
    """A hash of a site's points and labels."""
    points = np.ascontiguousarray(site.points)
    labels = np.ascontiguousarray(site.labels, dtype="<i8")
    return digest(
        repr((points.dtype.str, points.shape)).encode() + points.tobytes() + labels.tobytes()
    )
