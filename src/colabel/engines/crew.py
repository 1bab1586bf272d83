"""Several processes that answer for the sites of a step at the same time.

They are forked when a conversation begins, so each has all sites' data without a copy of them, and
end with it. A site's session is where it was last needed; to share out a step evenly it moves, as
the bytes that it saves. What a site answers does not depend on the process, so nothing changes but
the time. If a site fails, its session comes home and fails again there, as it would have without
processes. Orders and answers are msgpack, as messages are.
"""

import multiprocessing
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from typing import Protocol

import msgspec

from colabel.conversation import State
from colabel.errors import InputError, Problem
from colabel.federation.site import SiteSession
from colabel.wire import pack, unpack

Load = Callable[[str, bytes], SiteSession]


class Notes(Protocol):
    """What a role notes beside its answers, in this process only, like a count for a progress
    bar: `take` gives and forgets it, `add` adds what another process noted.
    """

    def take(self) -> bytes:
        """What was noted since the last call."""

    def add(self, noted: bytes) -> None:
        """Note this too."""


class Answer(msgspec.Struct, frozen=True):
    """What a site answered, how long it took and what was noted; or that it failed."""

    reply: bytes = b""
    seconds: float = 0.0
    noted: bytes = b""
    failed: bool = False


class _Receive(msgspec.Struct, frozen=True, tag=True):
    """Let this site answer; without `data`, what was sent last."""

    site: str
    data: bytes | None


class _Give(msgspec.Struct, frozen=True, tag=True):
    """Save the session of this site."""

    site: str


class _Take(msgspec.Struct, frozen=True, tag=True):
    """Go on with the session of this site."""

    site: str
    session: bytes


class _Recall(msgspec.Struct, frozen=True, tag=True):
    """What these sites remember under this name."""

    sites: list[str]
    kind: str


_Order = _Receive | _Give | _Take | _Recall


class _Worker:
    """One process, in itself."""

    def __init__(self, sessions: dict[str, SiteSession], load: Load, notes: Notes | None) -> None:
        self.sessions, self.load, self.notes = sessions, load, notes
        self.data = b""

    def serve(self, link: Connection) -> None:
        """Until the other end is closed."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever forked us ends us
        try:
            while True:
                link.send_bytes(self.obey(unpack(link.recv_bytes(), _Order)))  # type: ignore[arg-type]
        except (EOFError, OSError):
            return

    def obey(self, order: _Order) -> bytes:
        """One order; the answer as bytes."""
        match order:
            case _Receive(site, data):
                self.data = self.data if data is None else data
                return pack(self.receive(self.sessions[site]))
            case _Give(site):
                return self.sessions[site].save()
            case _Take(site, saved):
                self.sessions[site] = self.load(site, saved)
                return b""
            case _Recall(sites, kind):
                return pack({name: self.sessions[name].remembered(kind) for name in sites})

    def receive(self, session: SiteSession) -> Answer:
        """What the site answers."""
        started = time.perf_counter()
        try:
            reply = session.receive(self.data)
        except Exception:  # it fails again at home, where it is raised
            return Answer(failed=True)
        seconds = time.perf_counter() - started
        session.delivered()
        return Answer(reply, seconds, self.notes.take() if self.notes else b"")


class Crew:
    """The processes, from outside. `prepare` is called once in each."""

    def __init__(
        self,
        n: int,
        sessions: dict[str, SiteSession],
        load: Load,
        notes: Notes | None,
        prepare: Callable[[], None],
    ) -> None:
        if "fork" not in multiprocessing.get_all_start_methods():
            raise InputError(Problem("processes cannot be forked here", "Give workers = 1."))
        fork = multiprocessing.get_context("fork")
        self.links: list[Connection] = []
        self._processes = []
        self._sent: list[bytes] = [b""] * n
        self._home, self._load = sessions, load
        self._where: dict[str, int] = {}  # a site that was never asked is everywhere
        for _ in range(n):
            here, there = fork.Pipe()

            def work(link: Connection = there) -> None:
                prepare()
                _Worker(sessions, load, notes).serve(link)

            process = fork.Process(target=work, daemon=True)
            process.start()
            there.close()
            self.links.append(here)
            self._processes.append(process)

    def ask(self, requests: Mapping[str, bytes]) -> Iterator[tuple[str, Answer]]:
        """Let these sites answer, as many at a time as there are processes."""
        turns = self._share_out(list(requests))
        busy: dict[int, str] = {}

        def next_of(number: int) -> None:
            if turns[number]:
                site = turns[number].pop(0)
                self._send(number, site, requests[site])
                busy[number] = site

        for number in range(len(self.links)):
            next_of(number)
        while busy:
            for number in self._ready(busy):
                site, data = busy.pop(number), self.links[number].recv_bytes()
                next_of(number)
                yield site, unpack(data, Answer)

    def _ready(self, busy: Collection[int]) -> list[int]:
        links = wait([self.links[number] for number in busy])
        return [number for number in busy if self.links[number] in links]

    def recollect(self, kind: type[State]) -> dict[str, State]:
        """What the sites that were asked remember of this kind, if anything."""
        found: dict[str, State] = {}
        for number in range(len(self.links)):
            own = [site for site, where in self._where.items() if where == number]
            kept = unpack(self._order(number, _Recall(own, kind.__name__)), dict[str, bytes])
            found |= {site: unpack(state, kind) for site, state in kept.items() if state}
        return found

    def come_home(self, sites: Sequence[str]) -> None:
        """Bring sessions back."""
        for site in sites:
            if site in self._where:
                self._home[site] = self._load(site, self._leave(site))

    def end(self, *, sessions: bool) -> None:
        """End the processes; with their sessions, if wanted."""
        try:
            if sessions:
                self.come_home(list(self._where))
        finally:
            for link in self.links:
                link.close()
            for process in self._processes:
                process.terminate()
                process.join()

    def _share_out(self, sites: Sequence[str]) -> list[list[str]]:
        """As many for each; whoever has a site keeps it, if that is not too many."""
        most = -(-len(sites) // len(self.links))
        turns: list[list[str]] = [[] for _ in self.links]
        movers = []
        for site in sites:
            where = self._where.get(site)
            if where is None or len(turns[where]) >= most:
                movers.append(site)
            else:
                turns[where].append(site)
        for site in movers:
            number = min(range(len(turns)), key=lambda n: len(turns[n]))
            if site in self._where:
                self._order(number, _Take(site, self._leave(site)))
            self._where[site] = number
            turns[number].append(site)
        return turns

    def _leave(self, site: str) -> bytes:
        return self._order(self._where.pop(site), _Give(site))

    def _send(self, number: int, site: str, data: bytes) -> None:
        """The same request for many sites is sent to each process once."""
        known = data is self._sent[number]
        self._sent[number] = data
        self.links[number].send_bytes(pack(_Receive(site, None if known else data)))

    def _order(self, number: int, order: _Order) -> bytes:
        self.links[number].send_bytes(pack(order))
        return self.links[number].recv_bytes()
