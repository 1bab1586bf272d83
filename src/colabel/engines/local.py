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
from colabel.engines.crew import Answer, Crew, Notes
from colabel.engines.faults import Fault, moments_of
from colabel.errors import InputError, Problem
from colabel.federation.site import Role, SiteSession
from colabel.privacy.ledger import Ledger
from colabel.randomness import secret
from colabel.wire import SESSION_LENGTH, open_reply, seal_in

Listener = Callable[[Mapping[str, Any]], None]


def _nobody(event: Mapping[str, Any]) -> None:
    """Nobody listens."""


class LocalEngine:
    """Runs conversations with sites in this process; keeps the ledger and the costs.

    `faults` are played where they say; `shuffle` lets messages arrive in a random order. Sites
    without given `identities` get new ones, and each trusts all the others'.

    With several `workers` the sites of a step work at the same time, in as many processes, each of
    which calls `prepare` first; what the role notes in them comes back through `notes`. Answers are
    the same to the bit, as long as the sites' own code does not depend on how many threads it gets.
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
        workers: int = 1,
        prepare: Callable[[], None] = lambda: None,
        notes: Notes | None = None,
    ) -> None:
        if workers < 1:
            raise InputError(Problem(f"workers is {workers}", "Give 1 or more."))
        if faults and workers > 1:
            raise InputError(Problem("faults are played in one process", "Give workers = 1."))
        self.workers, self.prepare, self.notes = workers, prepare, notes
        self._crew: Crew | None = None
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
        self._sealed: dict[int, bytes] = {}

    def recollect(self, kind: type[State]) -> dict[str, State]:
        """What each site remembers of this kind, if anything."""
        if self._crew is not None:
            return self._crew.recollect(kind)
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
        if self.workers == 1 or len(self.sessions) == 1:
            return self._run(conversation)
        n = min(self.workers, len(self.sessions))
        self._crew = Crew(n, self.sessions, self._load, self.notes, self.prepare)
        done = False
        try:
            result = self._run(conversation)
            done = True
            return result
        finally:
            crew, self._crew = self._crew, None
            crew.end(sessions=done)

    def _run(self, conversation: Conversation[Result]) -> Result:
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
        # one message for many sites is sealed once
        self._sealed = {
            id(message): seal_in(self._session, number, "server", message)
            for message in ask.messages.values()
        }
        found = {} if self._crew is None else self._ask_crew(self._crew, ask, names)
        for name in names:
            answer = found.pop(name, None)
            if answer is not None:
                came[name] = self._note(ask, number, name, *answer)
                continue
            reply = self._exchange(name, ask.step, number, ask.messages[name])
            if reply is not None:
                came[name] = reply
            else:
                self.listen({"event": "lost", "step": ask.step, "site": name})
        answered = tuple(name for name in ask.messages if name in came)
        for release in ask.releases if answered else ():
            self.ledger.record(ask.step, release.of or answered, release)
        self._sealed = {}
        return {name: came[name] for name in answered}

    def _ask_crew(
        self, crew: Crew, ask: Ask, names: Sequence[str]
    ) -> dict[str, tuple[Answer, Message]]:
        """What all sites answer; one that fails is left out, to fail again in this process."""
        found, number = {}, self.costs.steps
        requests = {name: self._sealed[id(ask.messages[name])] for name in names}
        for name, answer in crew.ask(requests):
            if answer.failed:
                continue
            reply = open_reply(answer.reply, self._session, number, site=name, step=ask.step)
            found[name] = answer, reply
        crew.come_home([name for name in names if name not in found])
        return found

    def _note(self, ask: Ask, number: int, name: str, answer: Answer, reply: Message) -> Message:
        """In the order of the sites, whoever was first."""
        if self.notes is not None:
            self.notes.add(answer.noted)
        message = ask.messages[name]
        sizes = len(self._sealed[id(message)]), len(answer.reply)
        apart = message.apart(), reply.apart()
        self.costs.exchanges.append(
            Exchange(ask.step, number, name, *sizes, answer.seconds, *apart)
        )
        return reply

    def _exchange(self, name: str, step: str, number: int, message: Message) -> Message | None:
        fate = moments_of(self.faults, name, step, number)
        data = self._sealed[id(message)]
        if name in self._gone or "before" in fate:
            self._gone.add(name)
            self.costs.exchanges.append(Exchange(step, number, name, 0, 0, 0.0))
            return None
        session = self.sessions[name]
        saved = session.save() if fate & {"during", "restart"} else b""
        if "restart" in fate:
            session = self.sessions[name] = self._load(name, saved)
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
            self.sessions[name] = self._load(name, saved)
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

    def _load(self, name: str, saved: bytes) -> SiteSession:
        own, site = self.identities[name], self.sessions[name].site
        return SiteSession.load(site, self.role, own, self.roster, saved)
