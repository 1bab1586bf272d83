"""Run a protocol over the real engine, with the codes or the matrices that a test gives."""

from collections import defaultdict
from typing import ClassVar

import numpy as np

from colabel.data.site import Site
from colabel.engines.local import LocalEngine
from colabel.federation import roles
from colabel.federation.site import Role
from colabel.protocols import keys
from colabel.protocols.hamming import WAYS
from colabel.protocols.setup import agree
from colabel.protocols.sums import Summand, Summed, Total

SETUP_STEPS = ("hello", "meet", "join")


class GiveMatrix(Summed, frozen=True):
    """A test's request for a summand: the site's matrix of this number."""

    modes: ClassVar = ("rows", "shared", "public")

    number: int


class TakeTotal(Total, frozen=True):
    """A test's total."""


class Consortium:
    """Sites that hold codes and matrices instead of points."""

    def __init__(self, codes=None, matrices=None, engine=LocalEngine, **settings):
        self.codes = codes or {name: np.zeros((1, 1), np.uint8) for name in matrices}
        self.matrices = matrices or {}
        self.totals = defaultdict(list)
        sites = [
            Site(name, held.astype(float), np.full(len(held), -1))
            for name, held in self.codes.items()
        ]
        role = Role(
            {
                **roles.SETUP,
                **roles.SUMS,
                **{m: h for way in WAYS.values() for m, h in way.handlers.items()},
                keys.Hello: self._welcome,
                **({GiveMatrix: self._give, TakeTotal: self._take} if matrices else {}),
            },
            points=lambda site: site.site.points,
            codes=lambda site: self.codes[site.name],
        )
        self.engine = engine(sites, role, **settings)
        self.seen = []
        self.engine.listen = self._listen

    def _welcome(self, site, request):
        sizes = keys.Sizes(len(site.site), 0, 1)
        return keys.introduce(site, sizes, request.plan, request.n_masks)

    def _give(self, site, request):
        if not 0 <= request.number < len(self.matrices[site.name]):
            site.refuse("no such matrix", "one that is there", str(request.number))
        return Summand(self.matrices[site.name][request.number])

    def _take(self, site, total):
        from colabel.conversation import Done

        self.totals[site.name].append(total.matrix)
        return Done()

    def _listen(self, event):
        self.seen.append(event)

    @property
    def names(self):
        return list(self.codes)

    def distances(self, way, n_bits, newcomers=(), before=None):
        """Run a way to compare; the group that stayed and H."""

        def conversation():
            group, _ = yield from agree(self.names, b"plan", n_masks=0)
            if before is not None:
                before(self)
            way_of = WAYS[way]() if isinstance(way, str) else way
            return (yield from way_of.conversation(group, n_bits, newcomers))

        group, distances = self.engine.run(conversation())
        return group, distances.rows(0, distances.shape[0])

    def adding(self, conversation, n_masks=3):
        """Run a conversation that gets (group, sums)."""

        def whole():
            group, sums = yield from agree(self.names, b"plan", n_masks=n_masks)
            return (yield from conversation(group, sums))

        return self.engine.run(whole())

    def cost(self, way, n_bits):
        group = keys.Group(
            {name: keys.Welcome(len(held), 0, 1) for name, held in self.codes.items()}
        )
        return (WAYS[way]() if isinstance(way, str) else way).cost(group, n_bits)

    def measured(self):
        """Bytes up, bytes down and steps after the set-up."""
        found = [e for e in self.engine.costs.exchanges if e.step not in SETUP_STEPS]
        return (
            sum(e.bytes_up for e in found),
            sum(e.bytes_down for e in found),
            len({e.number for e in found}),
        )


def draw_codes(sizes, n_bits, seed=0):
    """Random codes, with equal and opposite points among them."""
    rng = np.random.default_rng(seed)
    bits = [rng.integers(0, 2, (n, n_bits)) for n in sizes]
    bits[-1][0] = bits[0][0]
    if len(bits[-1]) > 1:
        bits[-1][1] = 1 - bits[0][0]
    return {f"site-{i}": np.packbits(held.astype(np.uint8), axis=1) for i, held in enumerate(bits)}


def true_distances(codes, names, n_bits):
    """Popcount of the XOR, one pair of points at a time."""
    bits = np.concatenate([np.unpackbits(codes[name], axis=1, count=n_bits) for name in names])
    return np.array([[(a != b).sum() for b in bits] for a in bits])


class RecordingEngine(LocalEngine):
    """Keeps every message that goes up or down."""

    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self.messages = []

    def _exchange(self, name, step, number, message):
        reply = super()._exchange(name, step, number, message)
        self.messages.append((step, name, message, reply))
        return reply


class MeddlingEngine(LocalEngine):
    """A server that changes what it sends (or a site that does): `meddle(step, name, message)`."""

    meddle = staticmethod(lambda step, name, message: message)

    def _exchange(self, name, step, number, message):
        return super()._exchange(name, step, number, self.meddle(step, name, message))


__all__ = [
    "Consortium",
    "GiveMatrix",
    "MeddlingEngine",
    "RecordingEngine",
    "TakeTotal",
    "draw_codes",
    "true_distances",
]
