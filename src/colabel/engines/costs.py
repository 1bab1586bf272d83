"""What a run cost: bytes and seconds, by step and site."""

import msgspec


class Exchange(msgspec.Struct, frozen=True):
    """One request and its reply (`bytes_up` is 0 where none came)."""

    step: str
    number: int
    site: str
    bytes_down: int
    bytes_up: int
    seconds: float


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
