"""Who takes part in a session: each site introduces itself, with its sizes and fresh keys.

step     message            bytes up per site    who learns what
hello    Hello → Welcome    ~150 + 34 per mask   server: points, labelled points, features of each
                                                 site, and its public keys
renew    Renew → Welcome    the same             server: new public keys

Keys are fresh in every session (X25519) and signed with the site's long-term identity (Ed25519),
together with the session, the plan and the sizes, so a server cannot put itself between two sites,
nor tell them different things: the others check each introduction against their roster.

A site lost in these steps is as if it had never taken part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from colabel.conversation import (
    Ask,
    Conversation,
    Message,
    Private,
    Release,
    SiteSide,
)
from colabel.crypto import agreement
from colabel.errors import SitesLost
from colabel.protocols.replies import expect, refuse
from colabel.randomness import secret
from colabel.wire import digest, pack, unpack

SIGNATURE_BYTES = 64
MOST = 2**40  # of points or features
MOST_MASKS = 1024  # more would only keep a site busy


class Hello(Message, frozen=True):
    """What the session is about: the plan that every site must agree with, and how many masks
    will be needed, one for each protected sum (−1: nothing is protected, no keys are needed).
    """

    plan: bytes
    n_masks: int


class Renew(Message, frozen=True):
    """Draw fresh keys, because too few sites were left to finish a sum."""

    epoch: int
    n_masks: int


class Sizes(msgspec.Struct, frozen=True):
    """The sizes a site makes public."""

    n_points: int
    n_labelled: int
    n_features: int


class Welcome(Message, frozen=True):
    """A site introduces itself. All of it is signed, with the session, the name and the plan."""

    n_points: int
    n_labelled: int
    n_features: int
    epoch: int = 0
    channel: bytes = b""
    masks: tuple[bytes, ...] = ()
    signature: bytes = b""


class SharedSeed(Private, frozen=True):
    """What a site remembers: the seed of the hyperplanes [XCLP Alg. 1, line 1]."""

    seed: bytes


class PlanAgreed(msgspec.Struct, frozen=True):
    """What a site remembers: which plan the session is about."""

    plan: str


class OwnKeys(Private, frozen=True):
    """What a site remembers: its secrets of this epoch, and its introduction."""

    channel: bytes
    masks: tuple[bytes, ...]
    plan: str
    welcome: bytes


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


def introduce(site: SiteSide, sizes: Sizes, plan: bytes, n_masks: int) -> Welcome:
    """The site's answer to `Hello`."""
    agreed = PlanAgreed(digest(plan))
    if site.knows(PlanAgreed) and site.recall(PlanAgreed) != agreed:
        site.refuse("another plan", "the plan that this session began with", "another")
    site.remember(agreed)
    plain = Welcome(sizes.n_points, sizes.n_labelled, sizes.n_features)
    return plain if n_masks < 0 else _with_keys(site, plain, digest(plan), 0, n_masks)


def renew(site: SiteSide, request: Renew) -> Welcome:
    """The site's answer to `Renew`: the same sizes, fresh keys."""
    old = site.recall(OwnKeys)
    before = unpack(old.welcome, Welcome)
    if request.epoch != before.epoch + 1:
        site.refuse("keys out of order", f"epoch {before.epoch + 1}", f"epoch {request.epoch}")
    return _with_keys(site, before, old.plan, request.epoch, request.n_masks)


def _with_keys(site: SiteSide, sizes: Welcome, plan: str, epoch: int, n_masks: int) -> Welcome:
    if not 0 <= n_masks <= MOST_MASKS:
        site.refuse("impossible number of masks", f"0 to {MOST_MASKS}", str(n_masks))
    channel = secret(agreement.KEY_BYTES)
    masks = tuple(secret(agreement.KEY_BYTES) for _ in range(n_masks))
    shown = msgspec.structs.replace(
        sizes,
        epoch=epoch,
        channel=agreement.public_of(channel),
        masks=tuple(agreement.public_of(mask) for mask in masks),
        signature=b"",
    )
    signed = msgspec.structs.replace(
        shown, signature=site.sign(statement(site.session, site.name, plan, shown))
    )
    site.remember(OwnKeys(channel, masks, plan, pack(signed)))
    return signed


def statement(session: str, name: str, plan: str, welcome: Welcome) -> bytes:
    """The bytes that an introduction signs."""
    unsigned = msgspec.structs.replace(welcome, signature=b"")
    return b"colabel introduction\0" + pack((session, name, plan, unsigned))


SIZES = Release("number of points, of labelled points and of features", "server", "in clear")


def hello(
    names: Sequence[str], plan: bytes, n_masks: int, releases: tuple[Release, ...] = ()
) -> Conversation[dict[str, Welcome]]:
    """Find who is there."""
    asked = dict.fromkeys(names, Hello(plan, n_masks))
    replies = yield Ask("hello", asked, (SIZES, *releases))
    if not replies:
        raise SitesLost("no site is left: none answered while the session was set up")
    welcomes = expect(replies, "hello", Welcome)
    for name, welcome in welcomes.items():
        check_welcome(name, "hello", welcome, 0, n_masks)
    return {name: welcomes[name] for name in names if name in welcomes}


def check_welcome(name: str, step: str, welcome: Welcome, epoch: int, n_masks: int) -> None:
    """The server's part of the checks: sizes and keys that are possible."""
    sizes = (welcome.n_points, welcome.n_labelled, welcome.n_features)
    possible = 0 <= welcome.n_labelled <= welcome.n_points <= MOST
    if not possible or not 0 <= welcome.n_features <= MOST:
        refuse(name, step, "labelled points among points", str(sizes), "impossible sizes")
    lengths = [len(welcome.channel), *map(len, welcome.masks), len(welcome.signature)]
    expected = [agreement.KEY_BYTES] * (n_masks + 1) + [SIGNATURE_BYTES] if n_masks >= 0 else [0, 0]
    usable = all(map(agreement.usable, (welcome.channel, *welcome.masks))) or n_masks < 0
    if lengths != expected or welcome.epoch != epoch or not usable:
        got = f"{lengths} bytes of epoch {welcome.epoch}"
        refuse(name, step, f"{expected} bytes of epoch {epoch}", got, "not the keys")
