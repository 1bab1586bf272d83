"""What a protocol will cost, before it runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Exact bytes and steps, estimated seconds.

    Bytes are those of all sites together; `seconds` those of all parties, one after the other.
    """

    bytes_up: int
    bytes_down: int
    steps: int
    seconds: float

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.bytes_up + other.bytes_up,
            self.bytes_down + other.bytes_down,
            self.steps + other.steps,
            self.seconds + other.seconds,
        )


NOTHING = Cost(0, 0, 0, 0.0)
