"""What a run cost: bytes and seconds, by step and site, and bytes by what they carry."""

from collections.abc import Iterable, Mapping

import msgspec

# what a step carries, by the first part of its name: down, up
_MODEL, _CODES, _KEYS = ("model", "model"), ("codes", "codes"), ("keys", "keys")
_CARRIED: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("hold", "once", "train"), _MODEL),
    **dict.fromkeys(("codes", "sketch", "lattice", "dealer", "ot", "paillier"), _CODES),
    **dict.fromkeys(("hello", "meet", "join", "renew", "draw", "share"), _KEYS),
    "influence": ("columns", "sums"),
}
_SUMS = ("sums", "sums")
_ENDINGS = {"unmask": _KEYS, "back": _SUMS}


class Exchange(msgspec.Struct, frozen=True):
    """One request and its reply (`bytes_up` is 0 where none came).

    apart_down, apart_up: of these, the bytes of parts that are counted under their own names.
    """

    step: str
    number: int
    site: str
    bytes_down: int
    bytes_up: int
    seconds: float
    apart_down: Mapping[str, int] = {}
    apart_up: Mapping[str, int] = {}


class Traffic(msgspec.Struct, frozen=True):
    """Bytes by what they carry: model, codes, columns, sums, keys (and plans), and what terms
    share, each under its name.
    """

    down: dict[str, int]
    up: dict[str, int]


def by_kind(exchanges: Iterable[Exchange]) -> Traffic:
    """The bytes of some exchanges. What is summed under masks cannot be told apart."""
    found = Traffic({}, {})
    for exchange in exchanges:
        first, _, last = exchange.step.partition(".")
        down, up = _ENDINGS.get(last) or _CARRIED.get(first, _SUMS)
        _add(found.down, down, exchange.bytes_down, exchange.apart_down)
        _add(found.up, up, exchange.bytes_up, exchange.apart_up)
    return found


def _add(found: dict[str, int], kind: str, whole: int, apart: Mapping[str, int]) -> None:
    rest = {kind: whole - sum(apart.values())}
    for name, size in (*apart.items(), *rest.items()):
        if size:
            found[name] = found.get(name, 0) + size


class Costs(msgspec.Struct):
    """All exchanges of a run, and the server's own seconds before each step and after the last."""

    exchanges: list[Exchange] = msgspec.field(default_factory=list)
    server: list[tuple[str, float]] = msgspec.field(default_factory=list)

    @property
    def steps(self) -> int:
        """How many requests and replies followed one another."""
        return max((exchange.number for exchange in self.exchanges), default=-1) + 1

    def bytes_up(self, site: str | None = None) -> int:
        """Bytes that one site (or all) sent to the server."""
        return sum(e.bytes_up for e in self.exchanges if site in (None, e.site))

    def bytes_down(self, site: str | None = None) -> int:
        """Bytes that one site (or all) received."""
        return sum(e.bytes_down for e in self.exchanges if site in (None, e.site))

    def seconds(self, site: str | None = None) -> float:
        """Seconds that one site (or all, one after the other) worked."""
        return sum(e.seconds for e in self.exchanges if site in (None, e.site))

    @property
    def server_seconds(self) -> float:
        """Seconds that the server worked."""
        return sum(seconds for _, seconds in self.server)
