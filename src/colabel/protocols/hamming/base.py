"""What every way to compare codes offers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from colabel.conversation import Conversation, Message
from colabel.graph.distances import Distances
from colabel.protocols.keys import Group

Handlers = Mapping[type[Message], Callable[[Any, Any], Message]]


@dataclass(frozen=True)
class Cost:
    """What a protocol will cost, before it runs: exact bytes and steps, estimated seconds.

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


class SecureHamming(ABC):
    """A way in which the server gets all pairwise Hamming distances [XCLP Alg. 1, line 5]."""

    name: ClassVar[str]
    protects: ClassVar[str]
    handlers: ClassVar[Handlers]

    @abstractmethod
    def conversation(
        self, group: Group, n_bits: int, newcomers: Sequence[str] = ()
    ) -> Conversation[tuple[Group, Distances]]:
        """The sites that stayed, and the distances of all pairs of their points.

        With `newcomers`, only the distances from the newcomers' points (rows) to those of all
        other sites (columns).
        """

    @abstractmethod
    def cost(self, group: Group, n_bits: int) -> Cost:
        """What `conversation` costs for sites of these sizes."""
