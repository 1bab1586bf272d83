"""Sites meet through a server that they need not trust with a secret.

step     message          bytes up per site             who learns what
meet     Meet → Boxes     (m − 1) · (~90 + 68 · masks)  server: nothing; peers: shares (see below),
                                                        everybody's sizes and public keys
join     Join → Done      0                             every site: a secret that all sites share

In `meet` each site checks the signature of every introduction, computes a secret with every peer,
and sends each peer a sealed box: a proposal for the secret of the group, and Shamir shares of
what hides its summands (`sums.masked`). In `join` the boxes are handed out; the group's secret is
the proposal of the site that the server names.

Server alone: nothing. One site: nothing about another's masks. Server with a site: the group's
secret, and with it the hyperplanes. Server with more than half of the sites: everybody's masks.

A site lost in `meet` or `join` is as if it had never taken part.
"""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from colabel.conversation import (
    Ask,
    Conversation,
    Done,
    Message,
    Private,
    Release,
    SiteSide,
)
from colabel.crypto import agreement, shamir
from colabel.crypto.prg import SEED_BYTES, stream
from colabel.errors import SitesLost
from colabel.protocols.channels import Channels, seal, unseal
from colabel.protocols.keys import OwnKeys, SharedSeed, Welcome, statement
from colabel.protocols.replies import expect, refuse
from colabel.randomness import secret
from colabel.wire import digest, pack, unpack


class Meet(Message, frozen=True):
    """Who has introduced itself."""

    welcomes: dict[str, Welcome]


class Boxes(Message, frozen=True):
    """A sealed box for each peer."""

    boxes: dict[str, bytes]


class Join(Message, frozen=True):
    """The boxes for you, and whose proposal is the group's secret."""

    boxes: dict[str, bytes]
    drawer: str


class Gift(Private, frozen=True):
    """What a box holds: the sender's proposal, and per mask two shares of the sender's secrets:
    of its mask key, and of its own seed.
    """

    proposal: bytes
    mask_keys: tuple[bytes, ...]
    own_seeds: tuple[bytes, ...]


class Met(Private, frozen=True):
    """What a site remembers of `meet`. Holders of shares are numbered as in `order`, from 1."""

    order: tuple[str, ...]
    masks: dict[str, tuple[bytes, ...]]
    own_seeds: tuple[bytes, ...]
    own_gift: Gift
    keys: str


class Shares(Private, frozen=True):
    """What a site remembers of `join`: the shares of each member's secrets, its own included."""

    gifts: dict[str, Gift]
    keys: str


def threshold(n_met: int) -> int:
    """How many shares give a secret: more than half, so that no two sums can be told apart."""
    return n_met // 2 + 1


def meet(site: SiteSide, request: Meet) -> Boxes:
    """Check everybody's introduction, and send everybody a box."""
    own = site.recall(OwnKeys)
    mine = unpack(own.welcome, Welcome)
    if site.knows(Met) and site.recall(Met).keys == digest(own.welcome):
        site.refuse("met already", "fresh keys, or the next step", "Meet again")
    _check(site, request.welcomes, own, mine)
    context = f"{site.session}/{mine.epoch}".encode()
    pairs = {
        name: agreement.agree(own.channel, welcome.channel, context)
        for name, welcome in request.welcomes.items()
        if name != site.name
    }
    site.remember(Channels(mine.epoch, pairs))
    order = tuple(sorted(request.welcomes))
    seeds = tuple(secret(SEED_BYTES) for _ in own.masks)
    gifts = _gifts(order, own.masks, seeds)
    masks = {name: welcome.masks for name, welcome in request.welcomes.items()}
    site.remember(Met(order, masks, seeds, gifts[site.name], digest(own.welcome)))
    return Boxes({name: seal(site, name, "meet", gifts[name]) for name in pairs})


def _gifts(
    order: tuple[str, ...], masks: tuple[bytes, ...], seeds: tuple[bytes, ...]
) -> dict[str, Gift]:
    need, proposal = threshold(len(order)), secret(SEED_BYTES)
    of_masks = [shamir.split(key, need, len(order)) for key in masks]
    of_seeds = [shamir.split(seed, need, len(order)) for seed in seeds]
    return {
        name: Gift(
            proposal,
            tuple(shares[number] for shares in of_masks),
            tuple(shares[number] for shares in of_seeds),
        )
        for number, name in enumerate(order)
    }


def _check(site: SiteSide, welcomes: Mapping[str, Welcome], own: OwnKeys, mine: Welcome) -> None:
    if welcomes.get(site.name) != mine:
        site.refuse("my own introduction is missing or changed", "it, as I sent it", "another")
    for name, welcome in welcomes.items():
        if len(welcome.masks) != len(mine.masks):
            site.refuse(
                "other number of mask keys", f"{len(mine.masks)} of {name}", str(len(welcome.masks))
            )
        if welcome.epoch != mine.epoch:
            site.refuse(
                "keys of another epoch", f"epoch {mine.epoch} of {name}", f"epoch {welcome.epoch}"
            )
        if not all(map(agreement.usable, (welcome.channel, *welcome.masks))):
            site.refuse("not a key to agree with", f"X25519 keys of {name}", "another")
        said = statement(site.session, name, own.plan, welcome)
        site.check_signature(name, said, welcome.signature)


def join(site: SiteSide, request: Join) -> Done:
    """Open the boxes."""
    met, channels = site.recall(Met), site.recall(Channels)
    if channels.group:
        site.refuse("joined already", "fresh keys, or the next step", "Join again")
    gifts = {name: unseal(site, name, "meet", box, Gift) for name, box in request.boxes.items()}
    gifts[site.name] = met.own_gift
    for name, gift in gifts.items():
        lengths = [[len(share) for share in held] for held in (gift.mask_keys, gift.own_seeds)]
        expected = [[shamir.SHARE_BYTES] * len(met.own_seeds)] * 2
        if lengths != expected:
            site.refuse("not the shares", f"{expected} bytes of {name}", f"{lengths} bytes")
    if request.drawer not in gifts:
        site.refuse("the group's secret comes from nobody", "a member", request.drawer)
    group = gifts[request.drawer].proposal
    if len(group) != SEED_BYTES:
        site.refuse("not a proposal", f"{SEED_BYTES} bytes", f"{len(group)} bytes")
    site.remember(msgspec.structs.replace(channels, group=group))
    site.remember(Shares(gifts, met.keys))
    if not site.knows(SharedSeed):
        site.remember(SharedSeed(stream(group, "seed of the hyperplanes", SEED_BYTES)))
    return Done()


def joined(site: SiteSide) -> tuple[Met, Shares]:
    """Both states, if they are those of the keys in use: shares of other keys hide nothing."""
    keys, met, shares = digest(site.recall(OwnKeys).welcome), site.recall(Met), site.recall(Shares)
    if not met.keys == shares.keys == keys:
        site.refuse("a step was skipped", "Meet and Join with the keys in use", "older ones")
    return met, shares


class Register(NamedTuple):
    """What the server keeps: who met (in the order of the shares), who joined, their mask keys."""

    epoch: int
    met: tuple[str, ...]
    joined: tuple[str, ...]
    masks: Mapping[str, tuple[bytes, ...]]

    @property
    def threshold(self) -> int:
        """How many shares the server needs of a secret."""
        return threshold(len(self.met))


INTRODUCTIONS = Release(
    "number of points, of labelled points and of features, and public keys", "sites", "in clear"
)
MEETING = Release("shares of its masks and a proposal for the shared secret", "sites", "encrypted")


def meeting(welcomes: Mapping[str, Welcome]) -> Conversation[Register]:
    """Let the sites meet; those that stayed share a secret that the server does not know."""
    releases = (INTRODUCTIONS, MEETING)
    met = yield Ask("meet", dict.fromkeys(welcomes, Meet(dict(welcomes))), releases)
    replies = expect(met, "meet", Boxes)
    boxes = {name: replies[name].boxes for name in welcomes if name in replies}
    for name in boxes:
        _check_boxes(name, boxes[name], set(welcomes) - {name})
    if not boxes:
        raise SitesLost("no site is left: none answered while the session was set up")
    drawer = next(iter(boxes))
    done = yield Ask("join", {name: _for(name, boxes, drawer) for name in boxes})
    expect(done, "join", Done)
    names = tuple(name for name in boxes if name in done)
    if not names:
        raise SitesLost("no site is left: none answered while the session was set up")
    masks = {name: welcomes[name].masks for name in welcomes}
    epoch = welcomes[drawer].epoch
    return Register(epoch, tuple(sorted(welcomes)), names, masks)


def _check_boxes(name: str, boxes: Mapping[str, bytes], peers: set[str]) -> None:
    lengths = {len(box) for box in boxes.values()}
    if set(boxes) != peers or len(lengths) > 1:
        expected = f"one for each of {', '.join(sorted(peers))}, equally long"
        got = f"for {', '.join(sorted(boxes))}, {sorted(lengths)} bytes"
        refuse(name, "meet", expected, got, "not the boxes")


def _for(name: str, boxes: Mapping[str, Mapping[str, bytes]], drawer: str) -> Join:
    own = {sender: held[name] for sender, held in boxes.items() if name in held}
    return Join(own, drawer)


def size_of_boxes(n_met: int, n_masks: int) -> int:
    """Bytes of one box, for costs."""
    share = bytes(shamir.SHARE_BYTES)
    return len(pack(Gift(bytes(SEED_BYTES), (share,) * n_masks, (share,) * n_masks)))
