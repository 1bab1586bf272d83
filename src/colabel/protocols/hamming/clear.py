"""No protection: the sites send their codes to the server. For simulation, and as the oracle.

step     message              bytes up per site    who learns what
codes    ShareCodes → Codes   n · ⌈L/8⌉            server: all codes (with the seed, which it also
                                                   sees here, all directions of all points)

Server alone: all codes and the hyperplanes. One site: nothing. Server with one site: the codes of
all sites.

A site lost in this step is as if it had never taken part [XCLP §3.3, Robustness].
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from colabel.conversation import UNPROTECTED, Ask, Conversation, Message, Release, SiteSide
from colabel.graph.distances import CodeDistances, Distances
from colabel.protocols.cost import Cost
from colabel.protocols.hamming.base import Handlers, SecureHamming
from colabel.protocols.hamming.sketch import check
from colabel.protocols.keys import Group
from colabel.protocols.replies import expect
from colabel.wire import blank_array, weigh

_SECONDS_PER_WORD = 3e-10  # one XOR and popcount of 64 bits, one core


class ShareCodes(Message, frozen=True):
    """Send your codes."""


class Codes(Message, frozen=True):
    """Packed codes, one row per point."""

    codes: np.ndarray


CODES = Release(
    "the codes of all points, hence all distances and directions", "server", UNPROTECTED
)


def share_codes(site: SiteSide, request: ShareCodes) -> Codes:
    """The site's side."""
    return Codes(site.codes())


class ClearHamming(SecureHamming):
    """The server's side."""

    name: ClassVar[str] = "clear"
    protects: ClassVar[str] = "no protection: the server sees all codes"
    broken_by: ClassVar[str] = "the server alone"
    releases: ClassVar[tuple[Release, ...]] = (CODES,)
    handlers: ClassVar[Handlers] = {ShareCodes: share_codes}
    gives_codes: ClassVar[bool] = True

    def conversation(
        self, group: Group, n_bits: int, newcomers: Sequence[str] = ()
    ) -> Conversation[tuple[Group, Distances]]:
        """Collect all codes and compare them when asked."""
        replies = yield Ask("codes", dict.fromkeys(group.names, ShareCodes()), (CODES,))
        stayed = group.only(tuple(replies))
        codes = {name: reply.codes for name, reply in expect(replies, "codes", Codes).items()}
        for name, held in codes.items():
            check(name, held, stayed.sizes[name].n_points, n_bits)
        return stayed, CodeDistances.between(codes, n_bits, newcomers)

    def cost(self, group: Group, n_bits: int) -> Cost:
        """Codes up; every pair of points compared once on the server."""
        n_bytes, empty = -(-n_bits // 8), Codes(np.empty((0, 0), np.uint8))
        up = sum(
            weigh(name, empty, blank_array("|u1", size.n_points, n_bytes))
            for name, size in group.sizes.items()
        )
        down = len(group.sizes) * weigh("server", ShareCodes())
        n_points = sum(size.n_points for size in group.sizes.values())
        return Cost(up, down, 1, n_points**2 * -(-n_bits // 64) * _SECONDS_PER_WORD)
