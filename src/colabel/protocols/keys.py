"""Setting up a session: who takes part, and a random seed that the sites share.

This variant is `clear`: the seed travels through the server in plain sight.

step     message                bytes up per site   who learns what
hello    Hello → Welcome        ~20                 server: points, labelled points, features
draw     DrawSeed → Seed        32 (one site)       server: the seed
share    ShareSeed → Done       0                   every site: the seed

A site lost in `hello` or `share` is as if it had never taken part. Is the drawing site lost in
`draw`, the next one draws.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import msgspec

from colabel.conversation import Ask, Conversation, Done, Message, Release, SiteSide
from colabel.crypto.prg import SEED_BYTES
from colabel.errors import SitesLost
from colabel.randomness import secret


class Hello(Message, frozen=True):
    """What the session is about; sent as the plan that every site must agree with."""

    plan: bytes


class Welcome(Message, frozen=True):
    """The sizes a site makes public."""

    n_points: int
    n_labelled: int
    n_features: int


class DrawSeed(Message, frozen=True):
    """Draw the seed for all."""


class Seed(Message, frozen=True):
    """The seed, in clear."""

    seed: bytes


class ShareSeed(Message, frozen=True):
    """Use this seed."""

    seed: bytes


class SharedSeed(msgspec.Struct, frozen=True):
    """What a site remembers."""

    seed: bytes


@dataclass(frozen=True)
class Group:
    """The sites of a session, in order, with their public sizes."""

    sizes: Mapping[str, Welcome]

    @property
    def names(self) -> tuple[str, ...]:
        """The sites, in the order of the rows of every matrix."""
        return tuple(self.sizes)

    def only(self, names: Sequence[str]) -> "Group":
        """The group without those that are lost."""
        return Group({name: self.sizes[name] for name in self.sizes if name in names})


def draw(site: SiteSide, request: DrawSeed) -> Seed:
    """The site that draws."""
    seed = secret(SEED_BYTES)
    site.remember(SharedSeed(seed))
    return Seed(seed)


def share(site: SiteSide, request: ShareSeed) -> Done:
    """Every other site."""
    site.remember(SharedSeed(request.seed))
    return Done()


SIZES = Release("number of points, of labelled points and of features", "server", "in clear")
PUBLIC_SEED = Release("the seed of the hyperplanes, fixed in the plan", "everyone", "in clear")
SEED = Release("the seed of the hyperplanes", "server", "in clear")


def agree(
    names: Sequence[str], plan: bytes, *, seed_is_public: bool = False
) -> Conversation[Group]:
    """Find who is there and share a seed [XCLP Alg. 1, line 1].

    `seed_is_public`: the plan holds the seed, for experiments that must be repeatable.
    """
    releases = (SIZES, PUBLIC_SEED) if seed_is_public else (SIZES,)
    welcomes = yield Ask("hello", dict.fromkeys(names, Hello(plan)), releases)
    group = Group({name: cast("Welcome", welcomes[name]) for name in names if name in welcomes})
    if seed_is_public and group.names:
        return group
    for drawer in group.names:
        drawn = yield Ask("draw", {drawer: DrawSeed()}, (SEED,))
        if drawer in drawn:
            seed = cast("Seed", drawn[drawer]).seed
            others = [name for name in group.names if name != drawer]
            shared = yield Ask("share", dict.fromkeys(others, ShareSeed(seed)))
            return group.only([drawer, *shared])
        group = group.only([name for name in group.names if name != drawer])
    raise SitesLost("no site is left: none answered while the session was set up")
