"""One pair of the `ot` protocol, as each of its two sites works on it, step by step.

A half is one site's state; `step_left` and `step_right` take in one parcel of the peer (if one is
due), and make the parcel that goes up. The table of steps is in `ot`.
"""

from typing import NamedTuple, NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Message, Private, SiteSide
from colabel.crypto import base_ot
from colabel.crypto import ot_extension as extension
from colabel.protocols import channels
from colabel.protocols.hamming import ot_values, pairs
from colabel.protocols.hamming.ot_values import Schedule
from colabel.randomness import secret
from colabel.wire import digest, pack

_NOTHING = np.empty(0, dtype=np.uint8)


class Half(Private, frozen=True):
    """What a site keeps of a pair: left its 128 secret bits, right the seed of its point (until
    the keys are there); the keys of the base transfers, the name of the run, the sums so far.
    """

    is_left: bool
    n_peer: int
    own_secret: bytes
    run: str = ""
    keys: np.ndarray = _NOTHING
    sums: np.ndarray = _NOTHING


class OtOffer(Message, frozen=True):
    """What right's first parcel holds: what it takes for agreed, and its point."""

    terms: Schedule
    point: bytes


class OtChoices(Message, frozen=True):
    """What left's first parcel holds: its points."""

    points: tuple[bytes, ...]


class Turn(NamedTuple):
    """What a step is made from: the pair's schedule, the step's number, the peer's parcel."""

    peer: str
    schedule: Schedule
    number: int
    parcel: bytes | None

    def chunk(self, step: int) -> int | None:
        """The chunk that is at work now if chunk 0 is in that step."""
        found = self.number - step
        return found if 0 <= found < self.schedule.n_chunks else None


def new_left(n_peer: int) -> Half:
    """The half of the paper's client j."""
    return Half(True, n_peer, secret(extension.KAPPA // 8))


def new_right(n_peer: int) -> Half:
    """The half of the paper's client k."""
    return Half(False, n_peer, secret(base_ot.KEY_BYTES))


def offer(site: SiteSide, peer: str, schedule: Schedule, half: Half) -> bytes:
    """Right's first parcel; it is the sender of the base transfers."""
    content = OtOffer(schedule, base_ot.offer(half.own_secret))
    return channels.seal(site, peer, "ot offer", content)


def owes(half: Half, turn: Turn) -> bool:
    """Whether the peer owes a parcel in this step."""
    if half.is_left:
        return turn.number == 1 or turn.chunk(3) is not None
    return turn.number == 2 or turn.chunk(4) is not None


def step(site: SiteSide, half: Half, turn: Turn) -> tuple[Half, bytes | None]:
    """The half after this step, and the parcel for the peer if one is due."""
    return (_step_left if half.is_left else _step_right)(site, half, turn)


def _step_left(site: SiteSide, half: Half, turn: Turn) -> tuple[Half, bytes | None]:
    if turn.number == 1:
        return _choose(site, half, turn)
    chunk = turn.chunk(3)
    if chunk is None:
        return half, None
    sent = _bytes_from(
        site, turn, f"ot columns {half.run} {chunk}", turn.schedule.column_bytes(chunk)
    )
    first, count = turn.schedule.chunk(chunk)
    bits, columns = _secret_bits(half), sent.reshape(extension.KAPPA, -1)
    rows = extension.sender_rows(half.keys, bits, columns, first)[:count]
    others = rows ^ extension.as_row(bits)
    offered = np.ascontiguousarray(pairs.bits_of(site, turn.schedule.n_bits).T)
    sums = _copied_sums(half, turn.schedule)
    # [XCLP §3.2, OT step 1], and R of step 3
    values = ot_values.correct(_hash(half), (rows, others), offered, first, sums)
    sealed = channels.seal_bytes(site, turn.peer, f"ot values {half.run} {chunk}", values.tobytes())
    return msgspec.structs.replace(half, sums=sums), sealed


def _choose(site: SiteSide, half: Half, turn: Turn) -> tuple[Half, bytes]:
    """Left is the receiver of the base transfers, and its secret bits are the choices."""
    peer = turn.peer
    offered = channels.unseal(site, peer, "ot offer", turn.parcel or b"", OtOffer)
    if offered.terms != turn.schedule:
        site.refuse("other terms than its peer", str(turn.schedule), str(offered.terms))
    tag, choices = pack((site.session, site.name, peer)), _secret_bits(half).tolist()
    try:
        points, keys = base_ot.choose(tag, offered.point, choices, secret(base_ot.KEY_BYTES))
    except ValueError as error:
        _refuse_point(site, peer, error)
    sealed = channels.seal(site, peer, "ot choices", OtChoices(points))
    run = digest(pack((tag, offered.point, points)))
    return msgspec.structs.replace(half, run=run, keys=keys), sealed


def _step_right(site: SiteSide, half: Half, turn: Turn) -> tuple[Half, bytes | None]:
    if turn.number == 2:
        half = _both_keys(site, half, turn)
    received = turn.chunk(4)
    if received is not None:
        half = _receive(site, half, turn, received)
    chunk = turn.chunk(2)
    if chunk is None:
        return half, None
    # right chooses by its own bits [XCLP §3.2, OT step 2]
    first, _ = turn.schedule.chunk(chunk)
    columns = extension.corrections(half.keys, _choices(site, turn.schedule, chunk), first)
    purpose = f"ot columns {half.run} {chunk}"
    return half, channels.seal_bytes(site, turn.peer, purpose, columns.tobytes())


def _both_keys(site: SiteSide, half: Half, turn: Turn) -> Half:
    points = channels.unseal(site, turn.peer, "ot choices", turn.parcel or b"", OtChoices).points
    if len(points) != extension.KAPPA:
        site.refuse("other number of points", f"{extension.KAPPA} of {turn.peer}", f"{len(points)}")
    tag = pack((site.session, turn.peer, site.name))
    try:
        keys = base_ot.both_keys(tag, half.own_secret, points)
    except ValueError as error:
        _refuse_point(site, turn.peer, error)
    run = digest(pack((tag, base_ot.offer(half.own_secret), points)))
    return msgspec.structs.replace(half, run=run, keys=keys, own_secret=b"")


def _receive(site: SiteSide, half: Half, turn: Turn, chunk: int) -> Half:
    """Add up what was received: T [XCLP §3.2, OT step 3]."""
    schedule = turn.schedule
    packed = _bytes_from(site, turn, f"ot values {half.run} {chunk}", schedule.value_bytes(chunk))
    first, count = schedule.chunk(chunk)
    rows, choices = (
        extension.receiver_rows(half.keys, first, count),
        _choices(site, schedule, chunk),
    )
    sums = _copied_sums(half, schedule)
    ot_values.take_in(_hash(half), rows, choices, packed, first, schedule.n_bits, sums)
    return msgspec.structs.replace(half, sums=sums)


def _choices(site: SiteSide, schedule: Schedule, chunk: int) -> NDArray[np.uint8]:
    first, count = schedule.chunk(chunk)
    return pairs.bits_of(site, schedule.n_bits).reshape(-1)[first : first + count]


def _secret_bits(half: Half) -> NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(half.own_secret, dtype=np.uint8))


def _copied_sums(half: Half, schedule: Schedule) -> NDArray[np.uint16]:
    # a copy, so that a message that is refused changes nothing
    if half.sums.size:
        return half.sums.copy()
    return np.zeros((schedule.n_right, schedule.n_left), dtype=np.uint16)


def _hash(half: Half) -> extension.Hash:
    # a public key of its own for each run, from its transcript
    return extension.Hash(bytes.fromhex(half.run)[: extension.HASH_KEY_BYTES])


def _bytes_from(site: SiteSide, turn: Turn, purpose: str, n_bytes: int) -> NDArray[np.uint8]:
    content = channels.unseal_bytes(site, turn.peer, purpose, turn.parcel or b"")
    if len(content) != n_bytes:
        site.refuse("parcel of another size", f"{n_bytes} bytes of {turn.peer}", f"{len(content)}")
    return np.frombuffer(content, dtype=np.uint8)


def _refuse_point(site: SiteSide, peer: str, error: ValueError) -> NoReturn:
    site.refuse("a point that is none", f"points of the group from {peer}", str(error))
