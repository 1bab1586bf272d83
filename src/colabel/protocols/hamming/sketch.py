"""Masked codes: the server compares them itself. For very many points.

All sites flip the same secret set of bits, which changes no distance, and send what comes out.
As the hyperplanes are Gaussian and secret too, what the server gets is, for each bit, a random
halving of the points that depends on nothing but their angles: it learns what the matrix H would
tell it, and no more (the halvings of more than L hyperplanes would tell the angles exactly).

step          message                bytes up per site   who learns what
sketch.send   SendSketch → Sketch    n · ⌈L/8⌉           server: the angles of all pairs of points

Server alone: the angles, as with H. One site: nothing. Server with one site: the codes of all
sites. For the site knows the hyperplanes and the mask, hence the direction of every point. If the
hyperplanes are public (`random_state`), the server alone finds the directions, up to a common sign.

A site lost in this step is as if it had never taken part [XCLP §3.3, Robustness].
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from colabel.conversation import Ask, Conversation, Message, Release, SiteSide
from colabel.errors import RemoteProtocolError
from colabel.graph.distances import CodeDistances, Distances
from colabel.protocols.channels import group_stream
from colabel.protocols.cost import Cost
from colabel.protocols.hamming.base import SERVER_AND_SITE, Handlers, SecureHamming
from colabel.protocols.hamming.pairs import check_length
from colabel.protocols.keys import Group
from colabel.protocols.replies import expect
from colabel.wire import blank_array, weigh

_SECONDS_PER_WORD = 3e-10  # one XOR and popcount of 64 bits, one core


class SendSketch(Message, frozen=True):
    """Send your codes, masked."""

    n_bits: int


class Sketch(Message, frozen=True):
    """Packed codes, each XOR the secret mask, one row per point."""

    codes: np.ndarray


SKETCH = Release("the angles of all pairs of points, as masked codes", "server", "masked")


def send_sketch(site: SiteSide, request: SendSketch) -> Sketch:
    """The site's side."""
    check_length(site, request.n_bits)
    codes = site.codes()
    return Sketch(codes ^ mask(site, codes.shape[1]))


def mask(site: SiteSide, n_bytes: int) -> np.ndarray:
    """The bits that all sites flip, those included that only pad the last byte: were they left
    out, a server that asks for shorter codes would get some bits as they are.
    """
    return np.frombuffer(group_stream(site, "sketch", n_bytes), dtype=np.uint8)


class SketchHamming(SecureHamming):
    """The server's side."""

    name: ClassVar[str] = "sketch"
    protects: ClassVar[str] = "masked codes: safe unless the server and a site work together"
    broken_by: ClassVar[str] = SERVER_AND_SITE
    releases: ClassVar[tuple[Release, ...]] = (SKETCH,)
    handlers: ClassVar[Handlers] = {SendSketch: send_sketch}
    gives_codes: ClassVar[bool] = True

    def conversation(
        self, group: Group, n_bits: int, newcomers: Sequence[str] = ()
    ) -> Conversation[tuple[Group, Distances]]:
        """One step; distances are made from the masked codes when they are asked for."""
        asked = dict.fromkeys(group.names, SendSketch(n_bits))
        replies = yield Ask("sketch.send", asked, (SKETCH,))
        stayed = group.only(tuple(replies))
        codes = {n: reply.codes for n, reply in expect(replies, "sketch.send", Sketch).items()}
        for name, held in codes.items():
            check(name, held, stayed.sizes[name].n_points, n_bits)
        return stayed, CodeDistances.between(codes, n_bits, newcomers)

    def cost(self, group: Group, n_bits: int) -> Cost:
        """Masked codes up; every pair of points compared once on the server."""
        n_bytes = -(-n_bits // 8)
        empty = Sketch(np.empty((0, 0), np.uint8))
        up = sum(
            weigh(name, empty, blank_array("|u1", size.n_points, n_bytes))
            for name, size in group.sizes.items()
        )
        down = len(group.sizes) * weigh("server", SendSketch(n_bits))
        n_points = sum(size.n_points for size in group.sizes.values())
        return Cost(up, down, 1, n_points**2 * -(-n_bits // 64) * _SECONDS_PER_WORD)


def check(name: str, codes: np.ndarray, n_points: int, n_bits: int) -> None:
    """Refuse codes of another shape than announced."""
    wanted = (n_points, -(-n_bits // 8))
    if codes.dtype != np.uint8 or codes.shape != wanted:
        raise RemoteProtocolError(
            "codes of another shape",
            site=name,
            step="codes",
            expected=f"{wanted[0]} × {wanted[1]} bytes",
            got=f"{codes.shape} of {codes.dtype}",
        )
