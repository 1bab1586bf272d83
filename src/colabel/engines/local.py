"""The engine for one process: every site is an object here, every message still goes as bytes."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from colabel.conversation import Ask, Conversation, Message, Replies, Result, State
from colabel.crypto.identity import Identity
from colabel.data.site import Site
from colabel.engines.costs import Costs, Exchange
from colabel.engines.faults import Fault, moments_of
from colabel.federation.site import Role, SiteSession
from colabel.privacy.ledger import Ledger
from colabel.randomness import secret
from colabel.wire import SESSION_LENGTH, open_reply, pack, seal_in

Listener = Callable[[Mapping[str, Any]], None]


def _nobody(event: Mapping[str, Any]) -> None:
    """Nobody listens."""


class LocalEngine:
    """Runs conversations with sites in this process; keeps the ledger and the costs.

    `faults` are played where they say; `shuffle` lets messages arrive in a random order. Sites
    without given `identities` get new ones, and each trusts all the others'.
    """

    def __init__(
        self,
        sites: Sequence[Site],
        role: Role,
        *,
        faults: Sequence[Fault] = (),
        shuffle: bool = False,
        listen: Listener = _nobody,
        identities: Mapping[str, Identity] | None = None,
    ) -> None:
        self.identities = identities or {site.name: Identity.new() for site in sites}
        self.roster = {name: own.public for name, own in self.identities.items()}
        self.sessions = {
            site.name: SiteSession(site, role, self.identities[site.name], self.roster)
            for site in sites
        }
        self.role, self.faults, self.shuffle, self.listen = role, faults, shuffle, listen
        self.ledger, self.costs = Ledger(), Costs()
        self._session = secret(SESSION_LENGTH // 2).hex()
        self._gone: set[str] = set()
        self._last: dict[str, bytes] = {}
        self._bodies: dict[int, bytes] = {}

    def recollect(self, kind: type[State]) -> dict[str, State]:
        """What each site remembers of this kind, if anything."""
        return {
            name: session.recall(kind)
            for name, session in self.sessions.items()
            if session.knows(kind)
        }

    def remind(self, memories: Mapping[str, msgspec.Struct]) -> None:
        """Let sites remember what they knew at the end of an earlier session."""
        for name, memory in memories.items():
            self.sessions[name].remember(memory)

    def run(self, conversation: Conversation[Result]) -> Result:
        """Carry a conversation to its end."""
        replies: Replies | None = None
        while True:
            started = time.perf_counter()
            try:
                ask = next(conversation) if replies is None else conversation.send(replies)
            except StopIteration as end:
                self._note_server("end", started)
                result: Result = end.value
                return result
            self._note_server(ask.step, started)
            replies = self._carry(ask)

    def _note_server(self, step: str, started: float) -> None:
        seconds = time.perf_counter() - started
        self.costs.server.append((step, seconds))
        self.listen({"event": "server", "before": step, "seconds": seconds})

    def _carry(self, ask: Ask) -> Replies:
        number = self.costs.steps
        self.listen(
            {"event": "step", "step": ask.step, "number": number, "sites": list(ask.messages)}
        )
        names = list(ask.messages)
        if self.shuffle:
            random.SystemRandom().shuffle(names)
        came = {}
        # one message for many sites is packed once
        self._bodies = {id(message): pack(message) for message in ask.messages.values()}
        for name in names:
            reply = self._exchange(name, ask.step, number, ask.messages[name])
            if reply is not None:
                came[name] = reply
            else:
                self.listen({"event": "lost", "step": ask.step, "site": name})
        answered = tuple(name for name in ask.messages if name in came)
        for release in ask.releases if answered else ():
            self.ledger.record(ask.step, release.of or answered, release)
        return {name: came[name] for name in answered}

    def _exchange(self, name: str, step: str, number: int, message: Message) -> Message | None:
        fate = moments_of(self.faults, name, step, number)
        body = self._bodies.get(id(message))
        data = seal_in(self._session, number, "server", message, body)
        if name in self._gone or "before" in fate:
            self._gone.add(name)
            self.costs.exchanges.append(Exchange(step, number, name, 0, 0, 0.0))
            return None
        session = self.sessions[name]
        saved = session.save() if fate & {"during", "restart"} else b""
        if "restart" in fate:
            session = self.sessions[name] = self._load(session, saved)
        if "again" in fate and name in self._last:
            session.receive(self._last[name])
        started = time.perf_counter()
        reply = session.receive(data)
        seconds = time.perf_counter() - started
        if "twice" in fate:
            reply = session.receive(data)
        if self.faults:
            self._last[name] = data
        else:
            session.delivered()
        if "during" in fate:
            self.sessions[name] = self._load(session, saved)
        if fate & {"during", "after"}:
            self._gone.add(name)
        lost = bool(fate & {"during", "late"})
        sent = 0 if lost else len(reply)
        answer = None
        if not lost:
            answer = open_reply(reply, self._session, number, site=name, step=step)
        apart = message.apart(), {} if answer is None else answer.apart()
        self.costs.exchanges.append(Exchange(step, number, name, len(data), sent, seconds, *apart))
        return answer

    def _load(self, session: SiteSession, saved: bytes) -> SiteSession:
        own = self.identities[session.name]
        return SiteSession.load(session.site, self.role, own, self.roster, saved)
