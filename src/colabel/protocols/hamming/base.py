"""What every way to compare codes offers."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from colabel.conversation import Conversation
from colabel.graph.distances import Distances
from colabel.protocols.keys import Group


@dataclass(frozen=True)
class Cost:
    """What a protocol will cost, before it runs: exact bytes and steps, estimated seconds."""

    bytes_up: int
    bytes_down: int
    steps: int
    seconds: float


class SecureHamming(ABC):
    """A way in which the server gets all pairwise Hamming distances [XCLP Alg. 1, line 5]."""

    name: ClassVar[str]
    protects: ClassVar[str]

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
