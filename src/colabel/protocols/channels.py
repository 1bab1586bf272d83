"""What two sites, or all of them, say to each other through a server that cannot read it.

A label names session, epoch, purpose, sender and receiver. It enters the key and is bound as
associated data, so a message that is replayed, moved to another step, turned round, cut or
changed does not open.
"""

from typing import TypeVar

import msgspec

from colabel.conversation import Private, SiteSide
from colabel.crypto import sealing
from colabel.crypto.prg import Stream
from colabel.wire import pack, unpack

EVERYBODY = "*"
OVERHEAD = sealing.OVERHEAD

Content = TypeVar("Content", bound=msgspec.Struct)


class Channels(Private, frozen=True):
    """What a site remembers: a secret with each peer, and one that all sites share."""

    epoch: int
    pairs: dict[str, bytes]
    group: bytes = b""


def seal(site: SiteSide, to: str, purpose: str, message: msgspec.Struct) -> bytes:
    """For one peer's eyes only."""
    return seal_bytes(site, to, purpose, pack(message))


def unseal(site: SiteSide, sender: str, purpose: str, data: bytes, kind: type[Content]) -> Content:
    """What a peer sealed for this site, or a refusal."""
    return _read(site, kind, purpose, unseal_bytes(site, sender, purpose, data))


def seal_for_all(site: SiteSide, purpose: str, message: msgspec.Struct) -> bytes:
    """For all sites, and not for the server."""
    return seal_bytes(site, EVERYBODY, purpose, pack(message))


def unseal_for_all(
    site: SiteSide, sender: str, purpose: str, data: bytes, kind: type[Content]
) -> Content:
    """What a site sealed for all, or a refusal."""
    return _read(site, kind, purpose, unseal_bytes(site, sender, purpose, data, receiver=EVERYBODY))


def seal_bytes(site: SiteSide, to: str, purpose: str, content: bytes | bytearray) -> bytes:
    """Bytes for one peer, or for everybody."""
    return sealing.seal(_secret(site, to), _label(site, purpose, site.name, to), content)


def unseal_bytes(
    site: SiteSide, sender: str, purpose: str, data: bytes, *, receiver: str | None = None
) -> bytes:
    """Bytes from a peer; `receiver` is this site, or everybody."""
    to = site.name if receiver is None else receiver
    shared = _secret(site, EVERYBODY if to == EVERYBODY else sender)
    try:
        return sealing.unseal(shared, _label(site, purpose, sender, to), data)
    except sealing.NotAuthentic:
        site.refuse(
            "not sealed by that site for this place",
            f"what {sender} sealed for {purpose}",
            f"{len(data)} other, changed, cut or replayed bytes",
        )


def pair_stream(site: SiteSide, peer: str, purpose: str, n_bytes: int) -> bytes:
    """Pseudo-random bytes that both sites of a pair get, and nobody else."""
    return shared_stream(site, peer, purpose).take(n_bytes)


def group_stream(site: SiteSide, purpose: str, n_bytes: int) -> bytes:
    """Pseudo-random bytes that all sites get, and the server does not."""
    return shared_stream(site, EVERYBODY, purpose).take(n_bytes)


def shared_stream(site: SiteSide, peer: str, purpose: str) -> Stream:
    """The bytes of `pair_stream` (of `group_stream`, if the peer is everybody), from any place."""
    return Stream(_secret(site, peer), f"{site.session}/{purpose}")


def _secret(site: SiteSide, peer: str) -> bytes:
    channels = site.recall(Channels)
    if peer == EVERYBODY:
        if not channels.group:
            site.refuse("a step was skipped", "Join", "nothing that all sites share")
        return channels.group
    if peer not in channels.pairs:
        site.refuse("not a member of this session", ", ".join(channels.pairs) or "nobody", peer)
    return channels.pairs[peer]


def _label(site: SiteSide, purpose: str, sender: str, receiver: str) -> bytes:
    return pack((site.session, site.recall(Channels).epoch, purpose, sender, receiver))


def _read(site: SiteSide, kind: type[Content], purpose: str, content: bytes) -> Content:
    try:
        return unpack(content, kind)
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        site.refuse("malformed content", f"{kind.__name__} for {purpose}", str(error))
