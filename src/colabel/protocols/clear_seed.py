"""No protection: the seed of the hyperplanes travels through the server in plain sight.

step     message                bytes up per site   who learns what
draw     DrawSeed → Seed        32 (one site)       server: the seed
share    ShareSeed → Done       0                   every site: the seed

Is the drawing site lost in `draw`, the next one draws. A site lost in `share` is as if it had
never taken part.
"""

from collections.abc import Sequence

from colabel.conversation import (
    UNPROTECTED,
    Ask,
    Conversation,
    Done,
    Message,
    Release,
    SiteSide,
)
from colabel.crypto.prg import SEED_BYTES
from colabel.errors import SitesLost
from colabel.protocols.keys import OwnKeys, SharedSeed
from colabel.protocols.replies import expect, refuse
from colabel.randomness import secret


class DrawSeed(Message, frozen=True):
    """Draw the seed for all."""


class Seed(Message, frozen=True):
    """The seed, in clear."""

    seed: bytes


class ShareSeed(Message, frozen=True):
    """Use this seed."""

    seed: bytes


def draw(site: SiteSide, request: DrawSeed) -> Seed:
    """The site that draws."""
    _only_unprotected(site)
    seed = secret(SEED_BYTES)
    site.remember(SharedSeed(seed))
    return Seed(seed)


def share(site: SiteSide, request: ShareSeed) -> Done:
    """Every other site."""
    _only_unprotected(site)
    if len(request.seed) != SEED_BYTES:
        site.refuse("not a seed", f"{SEED_BYTES} bytes", f"{len(request.seed)} bytes")
    site.remember(SharedSeed(request.seed))
    return Done()


def _only_unprotected(site: SiteSide) -> None:
    """The server may neither choose nor see the seed that it must not know, nor change one."""
    if site.knows(OwnKeys):
        site.refuse("a seed in clear", "a seed from the meeting, as the plan says", "another")
    if site.knows(SharedSeed):
        site.refuse("the seed is there already", "one seed", "another")


SEED = Release("the seed of the hyperplanes", "server", UNPROTECTED)


def share_seed(names: Sequence[str]) -> Conversation[list[str]]:
    """Let one site draw for all; those that know the seed."""
    left = list(names)
    while left:
        drawer = left.pop(0)
        drawn = yield Ask("draw", {drawer: DrawSeed()}, (SEED,))
        if drawer in drawn:
            seed = expect(drawn, "draw", Seed)[drawer].seed
            if len(seed) != SEED_BYTES:
                got = f"{len(seed)} bytes"
                refuse(drawer, "draw", f"{SEED_BYTES} bytes", got, "not a seed")
            shared = yield Ask("share", dict.fromkeys(left, ShareSeed(seed)))
            return [drawer, *expect(shared, "share", Done)]
    raise SitesLost("no site is left: none answered while the session was set up")
