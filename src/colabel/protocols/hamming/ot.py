"""Distances by oblivious transfer: each pair of sites ends with shares that only the server adds.

In every pair, for each point of `right` (the paper's client k) and each bit, `left` (client j)
offers r + b and r + 1 − b for all its points at once, and right receives the one for its own bit,
r + (b ⊕ b'). Right's sums T and left's sums R are each uniform modulo t; H = T − R. The modulus is
the smallest power of two above L: modulo L, as in the paper, distances 0 and L would be equal.
Base transfers are made once per pair; all others come from them by symmetric ciphers. There, r is
not drawn but is the pad of choice 0 minus b, so that one correction is sent and not two values.

step        message               bytes per pair                who learns what
ot.0        StartOt → OtParcels   right ~110                    left: a random point
ot.1        CarryOt → OtParcels   left ~4,400                   right: 128 random points
ot.2 …      CarryOt → OtParcels   right 16 per transfer         left: random bits
ot.3 …      CarryOt → OtParcels   left n_left · log₂ t / 8      right: random values, for each point
                                  per transfer                  and bit the ones that it chose
ot.<last>   EndOt → OtSums        2 · n_left · n_right each,    server: R and T, hence H; and the
                                  n (n − 1) per site            distances within each site

There are n_right · L transfers, cut into chunks whose parcels have about `chunk_bytes` at most.
Chunk c goes from right to left in step 2 + c and back in step 3 + c, while its neighbours are on
their way. So there are 4 steps and one for each chunk of the largest pair, however many sites
there are: all pairs go at once. A message holds one parcel for each pair of the site; a site holds
about 8 times `chunk_bytes` for each of its pairs, and 2 · n_left · n_right bytes of sums.

Parcels are sealed; the server relays them.

Server alone: H. One site: nothing. Server with one site: H and that site's own data. This holds
against peers that follow the protocol. Of one that does not, points outside the group and parcels
of a wrong size are refused; others may show it bits of its peer, or spoil the distances.

A site lost in any step is as if it had never taken part [XCLP §3.3, Robustness].
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

import msgspec
import numpy as np

from colabel.conversation import Ask, Conversation, Message, Private, Release, Replies, SiteSide
from colabel.crypto.base_ot import POINT_BYTES
from colabel.crypto.ot_extension import KAPPA
from colabel.graph.distances import Distances
from colabel.protocols import channels
from colabel.protocols.cost import Cost
from colabel.protocols.hamming import ot_halves, pairs
from colabel.protocols.hamming.base import NOBODY, Handlers, SecureHamming
from colabel.protocols.hamming.ot_halves import Half, OtChoices, OtOffer, Turn
from colabel.protocols.hamming.ot_values import Schedule
from colabel.protocols.hamming.pairs import Matrix, Pair
from colabel.protocols.hamming.replies import check_own, distances_between, matrix, shape_of
from colabel.protocols.keys import Group
from colabel.protocols.replies import expect
from colabel.wire import blank_array, pack, weigh

CHUNK_BYTES = 31 << 20  # blocks from 32 MB on are mapped anew each time, which takes longer
MOST_CHUNK_BYTES = 1 << 29
MOST_BITS = 65535
_SECONDS_PER_VALUE = 1.2e-8  # both sites and the server, one core
_SECONDS_PER_PAIR = 0.1


class StartOt(Message, frozen=True):
    """With whom to compare: the points of the sites left and right of you."""

    n_bits: int
    chunk_bytes: int
    lefts: dict[str, int]
    rights: dict[str, int]


class CarryOt(Message, frozen=True):
    """The parcels for you of the step before; make yours."""

    number: int
    parcels: dict[str, bytes]


class EndOt(Message, frozen=True):
    """The last parcels; send your sums, and if `own` your own points' distances."""

    number: int
    parcels: dict[str, bytes]
    own: bool


class OtParcels(Message, frozen=True):
    """A sealed parcel for each peer that waits for one."""

    parcels: dict[str, bytes]


class OtSums(Message, frozen=True):
    """R for each pair in which the site is left, T where it is right; own distances."""

    own: np.ndarray
    lefts: dict[str, np.ndarray]
    rights: dict[str, np.ndarray]


class OtRun(Private, frozen=True):
    """What a site remembers between steps."""

    number: int
    n_bits: int
    chunk_bytes: int
    halves: dict[str, Half]


# --- the site's side


def start(site: SiteSide, request: StartOt) -> OtParcels:
    """Step 0: check what is asked; as right, offer a point to each left."""
    _check_start(site, request)
    run = OtRun(0, request.n_bits, request.chunk_bytes, {})
    parcels = {}
    for peer, n_peer in request.rights.items():
        run.halves[peer] = ot_halves.new_left(n_peer)
    for peer, n_peer in request.lefts.items():
        half = run.halves[peer] = ot_halves.new_right(n_peer)
        parcels[peer] = ot_halves.offer(site, peer, _schedule(site, run, half), half)
    site.remember(run)
    return OtParcels(parcels)


def carry(site: SiteSide, request: CarryOt) -> OtParcels:
    """Every later step but the last: take in the parcels, and make the next ones."""
    after = _step(site, request.number, request.parcels)
    site.remember(after.run)
    return OtParcels(after.parcels)


def end(site: SiteSide, request: EndOt) -> OtSums:
    """The last step: the sums of all pairs that are complete [XCLP §3.2, OT step 3]."""
    run = _step(site, request.number, request.parcels).run
    for peer, half in run.halves.items():
        due = _last_step(_schedule(site, run, half))
        # sums over some of the bits would tell the server more than H
        if request.number < due:
            site.refuse("ended too early", f"step {due} with {peer}", f"step {request.number}")
    mask = np.uint16(pairs.modulus(run.n_bits) - 1)
    sums = {peer: half.sums & mask for peer, half in run.halves.items()}
    own = pairs.own_distances(site) if request.own else np.empty(0, dtype=np.uint16)
    site.remember(msgspec.structs.replace(run, halves={}))
    return OtSums(
        own,
        {peer: sums[peer] for peer, half in run.halves.items() if half.is_left},
        {peer: sums[peer] for peer, half in run.halves.items() if not half.is_left},
    )


def _check_start(site: SiteSide, request: StartOt) -> None:
    n_bits, n_bytes = request.n_bits, site.codes().shape[1]
    if not 1 <= n_bits <= MOST_BITS or n_bytes != -(-n_bits // 8):
        site.refuse("other length of codes", f"{n_bytes} bytes per code", f"{n_bits} bits")
    if not 1 <= request.chunk_bytes <= MOST_CHUNK_BYTES:
        site.refuse("no size for chunks", f"1 to {MOST_CHUNK_BYTES}", f"{request.chunk_bytes}")
    sizes = request.lefts | request.rights
    if len(sizes) < len(request.lefts) + len(request.rights) or site.name in sizes:
        site.refuse("not pairs of sites", "each other site once at most", ", ".join(sizes))
    if min(sizes.values(), default=1) < 1:
        site.refuse("a site without points", "at least one point each", str(sizes))


def _schedule(site: SiteSide, run: OtRun, half: Half) -> Schedule:
    n_own = len(site.codes())
    sizes = (n_own, half.n_peer) if half.is_left else (half.n_peer, n_own)
    return Schedule(*sizes, run.n_bits, run.chunk_bytes)


def _last_step(schedule: Schedule) -> int:
    return 3 + schedule.n_chunks


class _After(NamedTuple):
    """A site's new state, and its parcels."""

    run: OtRun
    parcels: dict[str, bytes]


def _step(site: SiteSide, number: int, parcels: Mapping[str, bytes]) -> _After:
    """Take one parcel from each peer that owes one; a peer whose parcel is missing is gone."""
    run = site.recall(OtRun)
    if number != run.number + 1:
        site.refuse("a step was skipped or repeated", f"step {run.number + 1}", f"step {number}")
    halves, made, awaited = {}, {}, set()
    for peer, half in run.halves.items():
        turn = Turn(peer, _schedule(site, run, half), number, parcels.get(peer))
        if ot_halves.owes(half, turn):
            awaited.add(peer)
            if peer not in parcels:
                continue
        halves[peer], parcel = ot_halves.step(site, half, turn)
        if parcel is not None:
            made[peer] = parcel
    if not awaited.issuperset(parcels):
        expected = ", ".join(sorted(awaited)) or "nobody"
        site.refuse("a parcel of a site that owes none", expected, ", ".join(parcels))
    return _After(msgspec.structs.replace(run, number=number, halves=halves), made)


# --- the server's side


class OtHamming(SecureHamming):
    """The server's side; `chunk_bytes` bounds a parcel."""

    name: ClassVar[str] = "ot"
    protects: ClassVar[str] = "oblivious transfer: the server sees distances only"
    broken_by: ClassVar[str] = NOBODY
    releases: ClassVar[tuple[Release, ...]] = (pairs.DISTANCES, pairs.OWN)
    handlers: ClassVar[Handlers] = {StartOt: start, CarryOt: carry, EndOt: end}

    def __init__(self, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.chunk_bytes = chunk_bytes

    def conversation(
        self, group: Group, n_bits: int, newcomers: Sequence[str] = ()
    ) -> Conversation[tuple[Group, Distances]]:
        """Carry parcels until the longest pair is through, and add up R and T."""
        wanted = pairs.orient(group, newcomers)
        last = self._last_step(group, n_bits, wanted)
        replies = yield Ask("ot.0", dict(self._starts(group, n_bits, wanted)))
        for number in range(1, last + 1):
            held = _relay(replies, number)
            if not held:
                break
            releases = (pairs.distances_of(wanted), *(() if newcomers else (pairs.OWN,)))
            replies = yield self._next(number, last, held, releases)
        sums = expect(replies, f"ot.{last}", OtSums)
        blocks = dict(_blocks(group, n_bits, wanted, sums, f"ot.{last}"))
        own = {name: reply.own for name, reply in sums.items()}
        check_own(group, own, not newcomers, n_bits, f"ot.{last}")
        return pairs.collect(group, n_bits, newcomers, blocks, own)

    def _next(
        self,
        number: int,
        last: int,
        held: Mapping[str, dict[str, bytes]],
        releases: tuple[Release, ...],
    ) -> Ask:
        if number < last:
            return Ask(f"ot.{number}", {n: CarryOt(number, p) for n, p in held.items()})
        own = pairs.OWN in releases
        return Ask(f"ot.{last}", {n: EndOt(last, p, own) for n, p in held.items()}, releases)

    def cost(self, group: Group, n_bits: int) -> Cost:
        """Every parcel goes up once and down once."""
        wanted = pairs.orient(group)
        last = self._last_step(group, n_bits, wanted)
        starts = dict(self._starts(group, n_bits, wanted))
        up, down = 0, sum(weigh("server", message) for message in starts.values())
        for first, after in pairwise(self._changes(group, n_bits, wanted, last)):
            more = self._step_cost(group, n_bits, wanted, first, last)
            up, down = up + more[0] * (after - first), down + more[1] * (after - first)
        up += sum(_weigh_sums(group, wanted, name) for name in group.names)
        values = sum(
            group.sizes[left].n_points * group.sizes[right].n_points for left, right in wanted
        )
        seconds = values * n_bits * _SECONDS_PER_VALUE + len(wanted) * _SECONDS_PER_PAIR
        return Cost(up, down, last + 1, seconds)

    def _changes(self, group: Group, n_bits: int, wanted: Sequence[Pair], last: int) -> list[int]:
        """The steps from 1 on that may weigh something else than the one before, and the end."""
        found = {1, 2, 3, 4, last, last + 1, 2**7, 2**8, 2**16}
        for n_chunks in {self._schedule(group, n_bits, pair).n_chunks for pair in wanted}:
            found.update(range(n_chunks + 1, n_chunks + 5))
        return sorted(step for step in found if 1 <= step <= last + 1)

    def _step_cost(
        self, group: Group, n_bits: int, wanted: Sequence[Pair], number: int, last: int
    ) -> tuple[int, int]:
        """Bytes up in the step before, which this one carries on, and bytes down in this one."""
        made = self._parcel_sizes(group, n_bits, wanted, number - 1)
        up = down = 0
        for name in group.names:
            own = {peer: n for (sender, peer), n in made.items() if sender == name}
            come = {sender: n for (sender, peer), n in made.items() if peer == name}
            up += _weigh(name, OtParcels(dict.fromkeys(own, b"")), own.values())
            none = dict.fromkeys(come, b"")
            asked = EndOt(last, none, True) if number == last else CarryOt(number, none)
            down += _weigh("server", asked, come.values())
        return up, down

    def _schedule(self, group: Group, n_bits: int, pair: Pair) -> Schedule:
        n_left, n_right = (group.sizes[name].n_points for name in pair)
        return Schedule(n_left, n_right, n_bits, self.chunk_bytes)

    def _last_step(self, group: Group, n_bits: int, wanted: Sequence[Pair]) -> int:
        schedules = [self._schedule(group, n_bits, pair) for pair in wanted]
        return max((_last_step(schedule) for schedule in schedules), default=1)

    def _starts(
        self, group: Group, n_bits: int, wanted: Sequence[Pair]
    ) -> Iterator[tuple[str, Message]]:
        for name in group.names:
            lefts = {n: group.sizes[n].n_points for n in pairs.lefts(wanted, name)}
            rights = {n: group.sizes[n].n_points for n in pairs.rights(wanted, name)}
            yield name, StartOt(n_bits, self.chunk_bytes, lefts, rights)

    def _parcel_sizes(
        self, group: Group, n_bits: int, wanted: Sequence[Pair], number: int
    ) -> dict[tuple[str, str], int]:
        """Bytes of the parcel that each site makes in a step for each other."""
        sizes = {}
        for left, right in wanted:
            schedule = self._schedule(group, n_bits, Pair(left, right))
            if number == 0:
                sizes[right, left] = len(pack(OtOffer(schedule, bytes(POINT_BYTES))))
            if number == 1:
                sizes[left, right] = len(pack(OtChoices((bytes(POINT_BYTES),) * KAPPA)))
            if 0 <= number - 2 < schedule.n_chunks:
                sizes[right, left] = schedule.column_bytes(number - 2)
            if 0 <= number - 3 < schedule.n_chunks:
                sizes[left, right] = schedule.value_bytes(number - 3)
        return {pair: n + channels.OVERHEAD for pair, n in sizes.items()}


def _relay(replies: Replies, number: int) -> dict[str, dict[str, bytes]]:
    """For each site that is still there, the parcels that the others made for it."""
    found = expect(replies, f"ot.{number - 1}", OtParcels)
    made = {name: reply.parcels for name, reply in found.items()}
    return {
        name: {sender: parcels[name] for sender, parcels in made.items() if name in parcels}
        for name in made
    }


def _blocks(
    group: Group, n_bits: int, wanted: Sequence[Pair], sums: Mapping[str, OtSums], step: str
) -> Iterator[tuple[Pair, Matrix]]:
    """H = T − R for each pair of which both sums came [XCLP §3.2, OT step 4]."""
    mask = np.uint16(pairs.modulus(n_bits) - 1)
    for pair in pairs.between(wanted, sums):
        R, T = sums[pair.left].lefts.get(pair.right), sums[pair.right].rights.get(pair.left)
        if R is None or T is None:
            continue
        n_left, n_right = shape_of(group, pair)
        matrix(R, (n_right, n_left), pair.left, step)
        matrix(T, (n_right, n_left), pair.right, step)
        yield pair, distances_between(pair, ((T - R) & mask).T, n_bits, step)


# --- bytes


def _weigh(sender: str, message: Message, sizes: Iterable[int]) -> int:
    """Bytes of a message whose empty parcels are replaced by parcels of these sizes."""
    blank = len(pack(message))
    body = blank + sum(n + _header(n) - _header(0) for n in sizes)
    return weigh(sender, message) - blank - _header(blank) + body + _header(body)


def _header(n: int) -> int:
    """Bytes before n bytes in msgpack."""
    return 2 if n < 1 << 8 else 3 if n < 1 << 16 else 5


def _weigh_sums(group: Group, wanted: Sequence[Pair], name: str) -> int:
    n = group.sizes[name].n_points
    lefts = {k: group.sizes[k].n_points for k in pairs.rights(wanted, name)}
    rights = {j: group.sizes[j].n_points for j in pairs.lefts(wanted, name)}
    none = np.empty((0, 0), np.uint16)
    empty = OtSums(np.empty(0, np.uint16), dict.fromkeys(lefts, none), dict.fromkeys(rights, none))
    more = blank_array("<u2", pairs.n_own(n))
    more += sum(blank_array("<u2", size, n) for size in lefts.values())
    more += sum(blank_array("<u2", n, size) for size in rights.values())
    return weigh(name, empty, more)
