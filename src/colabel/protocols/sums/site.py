"""A site's side of the sums: hide what is sent, reveal what hid the total, read what comes back.

Two masks lie on everything that is sent (Bonawitz et al. 2017): one per pair of sites, which
cancel in the sum, and one of the site's own, whose seed is revealed only if the summand arrived
in time. A site's secrets are held by the others in shares, so that a site that is lost between
two steps does not spoil the sum; and as a site reveals for each peer either the shares of its
mask key or those of its own seed, a summand that arrives late stays hidden by the other.

In the rows that a peer will receive, the mask of that pair comes from the pair's channel, which
no share reveals: the peer itself takes it off [XCLP §3.2, SecureRowSums].
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np

from colabel.conversation import Message, Private, SiteSide
from colabel.crypto.agreement import agree
from colabel.crypto.prg import Stream
from colabel.errors import InputError, Problem
from colabel.machine import in_threads
from colabel.protocols.channels import EVERYBODY, shared_stream
from colabel.protocols.keys import OwnKeys
from colabel.protocols.meeting import joined, threshold
from colabel.protocols.sums.base import (
    Contribute,
    Deliver,
    Hidden,
    Summand,
    Summed,
    Terms,
    Total,
    spans,
)
from colabel.protocols.sums.fixed_point import (
    FORMATS,
    Floats,
    Format,
    Ring,
    decode,
    encode,
    fits,
)
from colabel.wire import digest, pack, read_message

_PIECE = 2**21  # bytes


class Unmask(Message, frozen=True):
    """Reveal your shares of the own seeds of those whose summand came, and of the mask keys of
    those who were lost.
    """

    terms: Terms
    contributors: tuple[str, ...]


class Revealed(Message, frozen=True):
    """The shares."""

    own_seeds: dict[str, bytes]
    mask_keys: dict[str, bytes]


class Sent(Private, frozen=True):
    """What a site remembers of what it contributed last: the terms, its own rows (of rows), and
    the shape of the total that it gets.
    """

    terms: Terms
    own: np.ndarray
    shape: tuple[int, ...]


class Used(msgspec.Struct, frozen=True):
    """What a site remembers: the masks it has used (epoch, slot), and what it revealed then."""

    slots: dict[str, str]


def contribute(site: SiteSide, request: Contribute) -> Hidden:
    """Compute the summand, hide it, send all rows but one's own."""
    terms, form = request.terms, _form(site, request.terms)
    inner = read_message(request.kind, request.request, site.refuse)
    if not isinstance(inner, Summed):
        site.refuse("not to be summed", "a request for a summand", request.kind)
    if terms.mode not in inner.modes:
        site.refuse("a total for others than agreed", " or ".join(inner.modes), terms.mode)
    summand = site.answer(inner)
    if not isinstance(summand, Summand):
        site.refuse("not to be summed", "a request for a summand", request.kind)
    matrix = np.atleast_2d(np.asarray(summand.matrix, dtype=np.float64))
    _check_terms(site, terms, len(matrix))
    if not all(in_threads(lambda at: fits(matrix[at], form, len(terms.members)), _pieces(matrix))):
        raise InputError(
            Problem(
                f"a number of {float(np.abs(matrix).max()):.3g} is too large to be summed safely",
                f"In the step {terms.name!r} sums must stay below {form.largest:.3g}.",
                site.name,
            )
        )
    own = encode(matrix[spans(terms.blocks).get(site.name, slice(0, 0))], form)
    shape = own.shape if terms.mode == "rows" else (len(matrix), own.shape[1])
    site.remember(Sent(terms, own, shape))
    if terms.slot >= 0:
        _use(site, terms, digest(pack(request)))
    return Hidden(hidden(site, terms, form, matrix))


def hidden(site: SiteSide, terms: Terms, form: Format, matrix: Floats) -> Ring:
    """The rows that are sent, in pieces that stay in the cache, each by one core."""
    runs, masks = _runs(terms, site.name, len(matrix)), masks_of(site, terms)
    n_sent = sum(run.stop - run.start for run in runs)
    ring: Ring = np.empty((n_sent, matrix.shape[1] * form.n_limbs), form.ring)

    def work(at: tuple[slice, int]) -> None:
        rows, first = at
        piece = ring[first : first + rows.stop - rows.start]
        encode(matrix[rows], form, piece)
        hide(site.name, terms, masks, piece, rows)

    pieces = [piece for run in runs for piece in _pieces(matrix, run)]
    starts = np.cumsum([0, *(piece.stop - piece.start for piece in pieces)])[:-1].tolist()
    in_threads(work, zip(pieces, starts, strict=True))
    return ring


def _runs(terms: Terms, name: str, n_rows: int) -> list[slice]:
    """Which rows a site sends, as few slices as possible."""
    if terms.mode != "rows":
        return [slice(0, n_rows)]
    runs: list[slice] = []
    for at in terms.kept(name).values():
        if runs and runs[-1].stop == at.start:
            runs[-1] = slice(runs[-1].start, at.stop)
        else:
            runs.append(at)
    return runs


def _pieces(matrix: Floats, run: slice | None = None) -> list[slice]:
    """Rows that make up about 2 MB."""
    step = 1 + _PIECE // (1 + matrix.itemsize * matrix.shape[1])
    first, end = (run.start, run.stop) if run else (0, len(matrix))
    return [slice(start, min(start + step, end)) for start in range(first, end, step)]


class Masks(NamedTuple):
    """What a site draws its masks from, for one sum; agreed on once, and not for every piece."""

    pairs: dict[str, Stream]
    channels: dict[str, Stream]
    own: tuple[Stream, ...]


def masks_of(site: SiteSide, terms: Terms) -> Masks:
    """None, if the sum has no masks."""
    if terms.slot < 0:
        return Masks({}, {}, ())
    keys, (met, _) = site.recall(OwnKeys), joined(site)
    own = [own_mask(met.own_seeds[terms.slot], terms)]
    if terms.mode == "shared":
        own.append(_group_mask(site, site.name, terms))
    return Masks(
        {
            peer: pair_mask(keys.masks[terms.slot], met.masks[peer][terms.slot], terms)
            for peer in terms.members
            if peer != site.name
        },
        {peer: _channel_mask(site, peer, terms) for peer in terms.kept(site.name)},
        tuple(own),
    )


def hide(name: str, terms: Terms, masks: Masks, ring: Ring, rows: slice) -> None:
    """Add all masks to these rows, in place [XCLP §3.2: Z̃ = Z + M]."""
    where = {owner: _within(at, rows) for owner, at in spans(terms.blocks).items()}
    row = ring[:1].nbytes
    start = rows.start * row
    for peer, drawn in masks.pairs.items():
        if where.get(peer) != slice(0, len(ring)):
            mask = drawn.like(ring, start)
            for owner in (peer, name):
                mask[where.get(owner, slice(0, 0))] = 0
            np.add(ring, mask, out=ring) if name < peer else np.subtract(ring, mask, out=ring)
    for peer, block in terms.kept(name).items():
        at = where[peer]
        if at.stop > at.start and peer in masks.channels:
            before = max(rows.start - block.start, 0) * row
            ring[at] += masks.channels[peer].like(ring[at], before)
    for drawn in masks.own:
        ring += drawn.like(ring, start)


def _within(at: slice, rows: slice) -> slice:
    """Where some rows stand among others; nowhere is an empty slice."""
    start, stop = max(at.start, rows.start), min(at.stop, rows.stop)
    return slice(start - rows.start, max(start, stop) - rows.start)


def pair_mask(secret_key: bytes, peer: bytes, terms: Terms) -> Stream:
    """The mask of a pair, from the mask key of one and the public mask key of the other."""
    return Stream(agree(secret_key, peer, b"mask"), terms.name)


def own_mask(seed: bytes, terms: Terms) -> Stream:
    """A site's own mask."""
    return Stream(seed, terms.name)


def _channel_mask(site: SiteSide, peer: str, terms: Terms) -> Stream:
    return shared_stream(site, peer, f"rows of {terms.name}/{terms.slot}")


def _group_mask(site: SiteSide, name: str, terms: Terms) -> Stream:
    return shared_stream(site, EVERYBODY, f"total of {terms.name}/{terms.slot}/{name}")


def unmask(site: SiteSide, request: Unmask) -> Revealed:
    """For each member one of two shares, never both."""
    terms, came = request.terms, set(request.contributors)
    if site.recall(Sent).terms != terms or terms.slot < 0:
        site.refuse("masks of another sum", repr(site.recall(Sent).terms.name), repr(terms.name))
    if not came <= set(terms.members) or site.name not in came:
        site.refuse("wrong contributors", "members, and me among them", ", ".join(sorted(came)))
    met, shares = joined(site)
    need = threshold(len(met.order))
    if len(came) < need or (terms.mode == "public" and len(came) < 2):
        site.refuse("too few to hide each other", f"{need} contributors", str(len(came)))
    revealed = ", ".join(sorted(came))
    _once(site, f"shares of {terms.slot}", revealed, "both shares of one site are asked")
    gifts = shares.gifts
    return Revealed(
        {name: gifts[name].own_seeds[terms.slot] for name in terms.members if name in came},
        {name: gifts[name].mask_keys[terms.slot] for name in terms.members if name not in came},
    )


def deliver(site: SiteSide, request: Deliver) -> Message:
    """Take off what only this site knows, add one's own part, and read the total."""
    terms, form, sent = request.terms, _form(site, request.terms), site.recall(Sent)
    kind = Message.kinds.get(request.kind)
    if kind is None or not issubclass(kind, Total):
        site.refuse("not a total", "a kind of total", request.kind)
    if sent.terms != terms or terms.mode == "public":
        site.refuse("the total of another sum", repr(sent.terms.name), repr(terms.name))
    if request.ring.dtype != form.ring or request.ring.shape != sent.shape:
        got = f"{request.ring.shape} of {request.ring.dtype.str}"
        site.refuse("malformed total", f"{sent.shape} of {form.ring}", got)
    came = request.contributors
    if len(set(came)) != len(came) or not set(came) <= set(terms.members):
        site.refuse("wrong contributors", "members, each once", ", ".join(came))
    ring = request.ring.copy()
    if terms.mode == "rows":
        ring += sent.own.astype(form.ring)
        for peer in _peers(site, request):
            ring -= _channel_mask(site, peer, terms).like(ring)
    elif terms.slot >= 0:
        for name in request.contributors:
            ring -= _group_mask(site, name, terms).like(ring)
    return site.answer(kind(decode(ring, form)))


def _peers(site: SiteSide, request: Deliver) -> Iterator[str]:
    masked = request.terms.slot >= 0 and request.terms.blocks.get(site.name, 0)
    return (name for name in request.contributors if masked and name != site.name)


def _form(site: SiteSide, terms: Terms) -> Format:
    if terms.form not in FORMATS:
        site.refuse("unknown format", ", ".join(FORMATS), terms.form)
    return FORMATS[terms.form]


def _check_terms(site: SiteSide, terms: Terms, n_rows: int) -> None:
    """Refuse terms under which a mask would be missing or be used for something else."""
    expected = sum(terms.blocks.values()) if terms.mode == "rows" else n_rows
    if terms.blocks and terms.mode != "rows":
        site.refuse("blocks of rows that nobody owns", "none", ", ".join(terms.blocks))
    if n_rows != expected or min(terms.blocks.values(), default=0) < 0:
        site.refuse("rows of other owners", f"blocks of {n_rows} rows", f"{expected} rows")
    if site.name not in terms.members or len(set(terms.members)) != len(terms.members):
        site.refuse("wrong members", "each once, and me among them", ", ".join(terms.members))
    if terms.slot < 0:
        if site.knows(OwnKeys):
            site.refuse("a sum without masks", "masks, as the plan says", "none")
        return
    if terms.slot >= len(site.recall(OwnKeys).masks):
        site.refuse("no such mask", f"below {len(site.recall(OwnKeys).masks)}", str(terms.slot))
    met, shares = joined(site)
    strangers = set(terms.members) - set(shares.gifts)
    if strangers:
        site.refuse("not a member of this session", "those who joined", ", ".join(strangers))
    if len(terms.members) < threshold(len(met.order)):
        site.refuse("too few to hide each other", "more than half", ", ".join(terms.members))


def _use(site: SiteSide, terms: Terms, request: str) -> None:
    """Each mask hides one summand only: two under the same mask would show their difference."""
    _once(site, f"mask {terms.slot}", request, "a mask is used twice")


def _once(site: SiteSide, what: str, how: str, rule: str) -> None:
    mine = f" of {digest(site.recall(OwnKeys).welcome)}"
    before = site.recall(Used).slots if site.knows(Used) else {}
    # masks of earlier keys went with those keys
    used = {place: done for place, done in before.items() if place.endswith(mine)}
    place = what + mine
    if used.get(place, how) != how:
        site.refuse(rule, f"{what} as before", "another way")
    site.remember(Used({**used, place: how}))
