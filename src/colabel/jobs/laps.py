"""What a round took: bytes by what they carry, and seconds by phase."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from colabel.engines.costs import Costs, Exchange, by_kind
from colabel.federation.training import Judge
from colabel.learning.parameters import Parameters
from colabel.learning.terms.base import Shared, Term

PHASES = ("training", "labelling", "keys", "judging", "server")
_TRAINING, _KEYS = ("train",), ("hello", "meet", "join", "renew", "draw", "share")
_SENT = ("hold", "once")  # the server has done no labelling before these


class Clock:
    """Looks at the costs of a run from round to round."""

    def __init__(self, costs: Costs) -> None:
        self._costs = costs
        self._exchanges = self._server = 0
        self._began, self._judged = time.perf_counter(), 0.0

    def timed(self, judge: Judge) -> Judge:
        """The same judge, whose seconds are counted."""

        def call(model: Parameters, kept: Shared, terms: Sequence[Term]) -> Mapping[str, float]:
            started = time.perf_counter()
            found = judge(model, kept, terms)
            self._judged += time.perf_counter() - started
            return found

        return call

    def lap(self) -> dict[str, Any]:
        """What there was since the last lap: bytes of all sites and of each, and seconds.

        "labelling" has the server's share in it; "server" is all the rest, mostly averaging.
        """
        exchanges = self._costs.exchanges[self._exchanges :]
        steps = self._costs.server[self._server :]
        self._exchanges += len(exchanges)
        self._server += len(steps)
        now = time.perf_counter()
        whole, judged = now - self._began, self._judged
        self._began, self._judged = now, 0.0
        seconds = dict.fromkeys(PHASES, 0.0) | {"judging": judged}
        for exchange in exchanges:
            seconds[phase_of(exchange.step)] += exchange.seconds
        for step, took in steps:
            if phase_of(step) == "labelling" and _first(step) not in _SENT:
                seconds["labelling"] += took
        seconds["server"] = max(whole - sum(seconds.values()), 0.0)
        return {**_bytes(exchanges), "seconds": {k: round(v, 6) for k, v in seconds.items()}}


def phase_of(step: str) -> str:
    """Whether a step belongs to training, to labelling, or to the keys of both."""
    first = _first(step)
    return "training" if first in _TRAINING else "keys" if first in _KEYS else "labelling"


def _first(step: str) -> str:
    return step.partition(".")[0]


def _bytes(exchanges: Iterable[Exchange]) -> dict[str, Any]:
    listed = list(exchanges)
    names = dict.fromkeys(exchange.site for exchange in listed)
    sites = {name: by_kind(e for e in listed if e.site == name) for name in names}
    return {
        "bytes": asdict(by_kind(listed)),
        "site_bytes": {name: asdict(traffic) for name, traffic in sites.items()},
    }
