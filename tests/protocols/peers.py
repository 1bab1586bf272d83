"""One site of a protocol without an engine: its state is written and read again in every step."""

import numpy as np

from colabel.errors import RemoteProtocolError
from colabel.protocols.channels import Channels
from colabel.protocols.keys import Group, Welcome
from colabel.wire import SESSION_LENGTH, pack, unpack

SESSION = "0" * SESSION_LENGTH


class Peer:
    """A site that has met the others already."""

    session = SESSION

    def __init__(self, handlers, name, bits, names, saved=None):
        self.handlers, self.name, self.bits, self.names = handlers, name, bits, names
        self.saved = dict(saved or {})
        if saved is None:
            secrets = {p: "".join(sorted((p, name))).encode() for p in names if p != name}
            self.remember(Channels(0, secrets, b"shared by all".ljust(32)))

    def codes(self):
        return np.packbits(self.bits, axis=1)

    def remember(self, state):
        self.saved[type(state).__name__] = pack(state)

    def recall(self, kind):
        if kind.__name__ not in self.saved:
            self.refuse("a step was skipped", kind.__name__, "none")
        return unpack(self.saved[kind.__name__], kind)

    def knows(self, kind):
        return kind.__name__ in self.saved

    def refuse(self, rule, expected, got):
        raise RemoteProtocolError(rule, site=self.name, step="test", expected=expected, got=got)

    def handle(self, message, handlers=None):
        as_sent = unpack(pack(message), type(message))
        reply = (handlers or self.handlers)[type(message)](self, as_sent)
        return unpack(pack(reply), type(reply))

    def copy(self):
        return Peer(self.handlers, self.name, self.bits, self.names, self.saved)


def group_of(codes):
    """Unpacked codes by site, as the group of these sites."""
    return Group({name: Welcome(len(bits), 0, 0) for name, bits in codes.items()})


def draw(sizes, n_bits, seed=0):
    """Random codes, unpacked."""
    rng = np.random.default_rng(seed)
    return {f"site-{i}": rng.integers(0, 2, (n, n_bits)) for i, n in enumerate(sizes)}


def slow(left, right):
    """Distances, one bit at a time."""
    return [[sum(a != b for a, b in zip(x, y, strict=True)) for y in right] for x in left]
