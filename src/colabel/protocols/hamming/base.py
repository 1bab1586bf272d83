"""What every way to compare codes offers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from colabel.conversation import Conversation, Message, Release
from colabel.graph.distances import Distances
from colabel.protocols.cost import Cost
from colabel.protocols.keys import Group

Handlers = Mapping[type[Message], Callable[[Any, Any], Message]]

# what several ways have in common
NOBODY = "nobody; the server with a site knows the distances and that site's own points"
SERVER_AND_SITE = "the server with one site: together they see the codes of all sites"


class SecureHamming(ABC):
    """A way in which the server gets all pairwise Hamming distances [XCLP Alg. 1, line 5].

    `protects` and `broken_by` are what `colabel cost` says of it; `releases` is what a run between
    two sites or more writes into the ledger.
    """

    name: ClassVar[str]
    protects: ClassVar[str]
    broken_by: ClassVar[str]
    releases: ClassVar[tuple[Release, ...]]
    handlers: ClassVar[Handlers]
    gives_codes: ClassVar[bool] = False  # whether the server sees codes, masked or not

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
