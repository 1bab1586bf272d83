"""One pair of sites under a way to compare: what the benches of single ways share.

Channels are set up beforehand, codes are random, and the result is compared with the distances of
the codes in clear. The sites are in this process, or each in one of its own.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from colabel.crypto.identity import Identity
from colabel.data.site import Site
from colabel.engines.costs import Costs
from colabel.engines.local import LocalEngine
from colabel.federation.site import Role, SiteSession
from colabel.graph.distances import hamming
from colabel.protocols.channels import Channels
from colabel.protocols.hamming import by_name
from colabel.protocols.hamming.base import SecureHamming
from colabel.protocols.keys import Group, Welcome
from colabel.randomness import data, secret

N_BITS = 4096
NAMES = ("left", "right")

Bits = NDArray[np.uint8]


def draw(n_points: int, seed: int) -> Bits:
    """Codes of both sites, one byte per bit."""
    return data(seed, "bench pair").integers(0, 2, (2, n_points, N_BITS), dtype=np.uint8)


def group_of(n_points: int) -> Group:
    """What the server knows of the two."""
    return Group({name: Welcome(n_points, 0, N_BITS) for name in NAMES})


class Run(NamedTuple):
    """What a comparison took: what the engine counted, wall time, and time on all cores."""

    costs: Costs
    wall: float
    cores: float

    @property
    def parties(self) -> float:
        """Seconds of all parties, one after the other."""
        return self.costs.seconds() + self.costs.server_seconds


def compare(way: SecureHamming, bits: Bits, engine: LocalEngine) -> Run:
    """Distances of the pair by this way, checked, as are the bytes that it said it would take."""
    group = group_of(bits.shape[1])
    said = way.cost(group, N_BITS)
    started, on_cores = time.perf_counter(), time.process_time()
    _, distances = engine.run(way.conversation(group, N_BITS))
    wall, cores = time.perf_counter() - started, time.process_time() - on_cores
    packed, costs = np.packbits(bits.reshape(-1, N_BITS), axis=1), engine.costs
    assert np.array_equal(distances.rows(0, len(packed)), hamming(packed, packed))
    assert (said.bytes_up, said.bytes_down) == (costs.bytes_up(), costs.bytes_down())
    return Run(costs, wall, cores)


def here(way: SecureHamming, bits: Bits) -> LocalEngine:
    """Both sites in this process."""
    sites = [_empty(name) for name in NAMES]
    codes = dict(zip(NAMES, np.packbits(bits, axis=2), strict=True))
    engine = LocalEngine(sites, _role(way, lambda session: codes[session.name]))
    shared, everybody = secret(32), secret(32)
    for name, peer in (NAMES, NAMES[::-1]):
        engine.sessions[name].remember(Channels(0, {peer: shared}, everybody))
    return engine


@contextmanager
def apart(way: SecureHamming, bits: Bits, memory: dict[str, Any]) -> Iterator[LocalEngine]:
    """Each site in a process of its own; `memory` gets their peaks in MB, and before the start."""
    engine = here(way, bits)
    spawned = get_context("spawn")
    for name, own in zip(NAMES, bits, strict=True):
        pipe, theirs = spawned.Pipe()
        secrets = engine.sessions[name].recall(Channels)
        told = (theirs, way.name, name, np.packbits(own, axis=1), secrets)
        spawned.Process(target=_serve, args=told, daemon=True).start()
        engine.sessions[name] = cast("SiteSession", _Away(pipe))
    yield engine
    for name in NAMES:
        memory[name] = cast("_Away", engine.sessions[name]).end()


def memory(way: SecureHamming, n_points: int) -> dict[str, float]:
    """Peaks of the two sites, each in a process of its own."""
    bits, peaks = draw(n_points, 0), dict[str, Any]()
    with apart(way, bits, peaks) as engine:
        compare(way, bits, engine)
    return {f"{name} {what}": mb for name, peak in peaks.items() for what, mb in peak.items()}


class _Away:
    """Stands for a session in another process."""

    def __init__(self, pipe: Any) -> None:
        self.pipe = pipe

    def receive(self, request: bytes) -> bytes:
        self.pipe.send_bytes(request)
        return cast("bytes", self.pipe.recv_bytes())

    def delivered(self) -> None:
        """The session itself was told so."""

    def end(self) -> Any:
        self.pipe.send_bytes(b"")
        return self.pipe.recv()


def _serve(pipe: Any, way: str, name: str, codes: Bits, secrets: Channels) -> None:
    """The other process: answers until an empty request."""
    identity, role = Identity.new(), _role(by_name(way), lambda session: codes)
    session = SiteSession(_empty(name), role, identity, {name: identity.public})
    session.remember(secrets)
    before = peak_mb()
    while request := pipe.recv_bytes():
        pipe.send_bytes(session.receive(request))
        session.delivered()
    pipe.send({"peak MB": peak_mb(), "MB before": before})


def peak_mb() -> float:
    """The most memory that this process has ever had (a child's `ru_maxrss` has its parent's)."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def _role(way: SecureHamming, codes: Callable[[SiteSession], Bits]) -> Role:
    return Role(way.handlers, lambda session: np.empty((0, 0)), codes)


def _empty(name: str) -> Site:
    """Codes are all that is asked for."""
    return Site(name, np.empty((0, 1)), np.empty(0, np.int64))
