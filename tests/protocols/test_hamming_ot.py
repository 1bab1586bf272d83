"""Distances by oblivious transfer: exact, uniform on the way, and nothing but clean refusals."""

from itertools import combinations, pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from colabel.conversation import Done
from colabel.crypto import ot_extension
from colabel.data.site import Site
from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import RemoteProtocolError
from colabel.federation.site import Role
from colabel.protocols import channels
from colabel.protocols.channels import Channels
from colabel.protocols.hamming import ot, ot_halves, ot_values, pairs
from colabel.protocols.hamming.ot import CarryOt, EndOt, OtHamming, OtParcels, OtSums, StartOt
from colabel.protocols.keys import Group, Welcome
from colabel.wire import SESSION_LENGTH, pack, unpack

SMALL = 600


class Peer:
    """A site whose state is written and read again in every step."""

    session = "0" * SESSION_LENGTH

    def __init__(self, name, bits, names, saved=None):
        self.name, self.bits, self.names = name, bits, names
        self.saved = dict(saved or {})
        if saved is None:
            secrets = {p: "".join(sorted((p, name))).encode() for p in names if p != name}
            self.remember(Channels(0, secrets))

    def codes(self):
        return np.packbits(self.bits, axis=1)

    def remember(self, state):
        self.saved[type(state).__name__] = pack(state)

    def recall(self, kind):
        if kind.__name__ not in self.saved:
            self.refuse("a step was skipped", kind.__name__, "none")
        return unpack(self.saved[kind.__name__], kind)

    def refuse(self, rule, expected, got):
        raise RemoteProtocolError(rule, site=self.name, step="test", expected=expected, got=got)

    def handle(self, message):
        as_sent = unpack(pack(message), type(message))
        reply = OtHamming.handlers[type(message)](self, as_sent)
        return unpack(pack(reply), type(reply))

    def copy(self):
        return Peer(self.name, self.bits, self.names, self.saved)


def group_of(codes):
    return Group({name: Welcome(len(bits), 0, 0) for name, bits in codes.items()})


def draw(sizes, n_bits, seed=0):
    rng = np.random.default_rng(seed)
    return {f"site-{i}": rng.integers(0, 2, (n, n_bits)) for i, n in enumerate(sizes)}


def run(codes, *, chunk_bytes=SMALL, newcomers=(), lost=(), meddle=None, watch=None):
    """A whole conversation; `lost` holds (site, step number, whether it worked before)."""
    peers = {name: Peer(name, bits, codes) for name, bits in codes.items()}
    n_bits = next(iter(codes.values())).shape[1]
    talk = OtHamming(chunk_bytes).conversation(group_of(codes), n_bits, newcomers)
    replies, gone, number = None, set(), 0
    while True:
        try:
            ask = talk.send(replies)
        except StopIteration as end:
            return end.value
        assert ask.step == f"ot.{number}"
        replies = {}
        for name, message in ask.messages.items():
            fates = [worked for site, when, worked in lost if (site, when) == (name, number)]
            if watch:
                watch(peers[name].copy(), message)
            if name not in gone and False not in fates:
                reply = peers[name].handle(message)
                replies[name] = meddle(name, number, reply) if meddle else reply
            if fates:
                gone.add(name)
                replies.pop(name, None)
        number += 1


def slow(left, right):
    return [[sum(a != b for a, b in zip(x, y, strict=True)) for y in right] for x in left]


def check(codes, names=None, **options):
    group, distances = run(codes, **options)
    assert group.names == tuple(names or codes)
    everything = np.concatenate([codes[name] for name in group.names])
    got = distances.rows(0, len(everything))
    assert got.dtype == np.uint16
    np.testing.assert_array_equal(got, slow(everything.tolist(), everything.tolist()))


# --- exact


@pytest.mark.parametrize(
    ("sizes", "n_bits", "chunk_bytes"),
    [
        ((1, 1), 1, SMALL),
        ((1, 1), 1, 1),
        ((1, 1), 4096, ot.CHUNK_BYTES),
        ((3, 2), 13, 1),
        ((2, 3), 13, SMALL),
        ((1, 40), 9, SMALL),
        ((40, 1), 9, SMALL),
        ((3, 1, 4, 2), 100, SMALL),
        ((5, 6), 255, SMALL),
        ((5, 6), 256, 5000),
        ((4,), 16, SMALL),
    ],
)
def test_distances_are_exact(sizes, n_bits, chunk_bytes):
    check(draw(sizes, n_bits), chunk_bytes=chunk_bytes)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(1, 7), min_size=2, max_size=3),
    st.integers(1, 40),
    st.integers(100, 2000),
    st.integers(0, 2**32),
)
def test_distances_of_any_sizes_are_exact(sizes, n_bits, chunk_bytes, seed):
    check(draw(sizes, n_bits, seed), chunk_bytes=chunk_bytes)


@pytest.mark.parametrize("n_bits", [1, 8, 31, 4096])
def test_equal_and_opposite_points(n_bits):
    """Distances 0 and L are different numbers, also when L is a power of two."""
    zeros, ones = np.zeros((2, n_bits), int), np.ones((3, n_bits), int)
    check(
        {"a": np.concatenate([zeros, ones]), "b": np.concatenate([ones, zeros])}, chunk_bytes=40_000
    )


def test_the_longest_codes():
    codes = draw((2, 1), 65_535)
    codes["site-1"][0] = 1 - codes["site-0"][0]
    check(codes, chunk_bytes=ot.CHUNK_BYTES)


def test_blocks_and_chunks_may_end_anywhere(monkeypatch):
    monkeypatch.setattr(ot_values, "_BLOCK_VALUES", 50)
    for chunk_bytes in (64, 100, 333, 4096):
        check(draw((7, 5), 23), chunk_bytes=chunk_bytes)


def test_newcomers_against_all_others():
    codes = draw((3, 2, 4), 24)
    group, distances = run(codes, newcomers=("site-1",))
    assert group.names == tuple(codes)
    others = np.concatenate([codes["site-0"], codes["site-2"]])
    np.testing.assert_array_equal(distances.rows(0, 2), slow(codes["site-1"], others))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 16), st.integers(1, 100), st.integers(0, 2**32))
def test_packing_keeps_every_value(width, count, seed):
    values = np.random.default_rng(seed).integers(0, 1 << width, (count, 3), dtype=np.uint16)
    blank, lanes = ot_values._blank(count, 3)
    blank[:] = values
    n_bytes = ot_values.n_packed_bytes(count, 3, width)
    packed = np.empty(n_bytes, np.uint8)
    assert ot_values._pack_into(packed, 0, lanes, width) == n_bytes
    # slow: lane after lane, value after value, each column of words a little-endian number
    words = packed.view(np.uint16).reshape(width, -1)
    for column, numbers in enumerate(lanes.T.tolist()):
        whole = sum(number << (width * lane) for lane, number in enumerate(numbers))
        assert whole == sum(int(w) << (16 * i) for i, w in enumerate(words[:, column]))
    again = np.empty_like(lanes)
    ot_values._unpack(words, width, again)
    np.testing.assert_array_equal(again, lanes)


# --- costs, drop-outs and restarts, on the engine


def engine_of(codes, faults=()):
    role = Role(
        OtHamming.handlers,
        lambda session: session.site.points,
        lambda session: np.packbits(session.site.points.astype(np.uint8), axis=1),
    )
    sites = [Site(n, b.astype(np.float32), np.full(len(b), -1)) for n, b in codes.items()]
    engine = LocalEngine(sites, role, faults=faults)
    secrets = {frozenset(pair): repr(pair).encode() for pair in combinations(codes, 2)}
    for name, session in engine.sessions.items():
        shared = {peer: secrets[frozenset((name, peer))] for peer in codes if peer != name}
        session.remember(Channels(0, shared))
    return engine


def on_engine(codes, way, faults=()):
    engine = engine_of(codes, faults)
    n_bits = next(iter(codes.values())).shape[1]
    group, distances = engine.run(way.conversation(group_of(codes), n_bits))
    everything = np.concatenate([codes[name] for name in group.names])
    np.testing.assert_array_equal(
        distances.rows(0, len(everything)), slow(everything.tolist(), everything.tolist())
    )
    return engine, group


@pytest.mark.parametrize(
    ("sizes", "n_bits", "chunk_bytes"),
    [
        ((1, 1), 1, SMALL),
        ((3,), 16, SMALL),
        ((3, 2), 13, 50),
        ((5, 4, 3, 2), 100, 1000),
        ((130, 2), 600, ot.CHUNK_BYTES),
    ],
)
def test_the_cost_is_known_to_the_byte(sizes, n_bits, chunk_bytes):
    codes, way = draw(sizes, n_bits), OtHamming(chunk_bytes)
    costs = on_engine(codes, way)[0].costs
    said = way.cost(group_of(codes), n_bits)
    assert (said.bytes_up, said.bytes_down) == (costs.bytes_up(), costs.bytes_down())
    assert said.steps == costs.steps


def test_steps_depend_on_the_largest_pair_only():
    way = OtHamming(SMALL)
    steps = [way.cost(group_of(draw((6,) * n, 40)), 40).steps for n in (2, 3, 5)]
    assert len(set(steps)) == 1
    assert way.cost(group_of(draw((12, 12), 40)), 40).steps > steps[0]


def test_messages_are_bounded():
    schedule = ot_values.Schedule(500, 500, 4096, ot.CHUNK_BYTES)
    sizes = [
        size(number)
        for number in range(schedule.n_chunks)
        for size in (schedule.value_bytes, schedule.column_bytes)
    ]
    assert max(sizes) <= ot.CHUNK_BYTES + 1000
    assert sum(schedule.chunk(number)[1] for number in range(schedule.n_chunks)) == 500 * 4096


def steps_of(codes):
    n_bits = next(iter(codes.values())).shape[1]
    return OtHamming(SMALL).cost(group_of(codes), n_bits).steps


CODES = draw((4, 3, 2), 20)


@pytest.mark.parametrize("worked", [False, True])
@pytest.mark.parametrize("number", range(steps_of(CODES)))
@pytest.mark.parametrize("site", ["site-0", "site-2"])
def test_a_lost_site_is_as_if_it_had_never_taken_part(site, number, worked):
    names = [name for name in CODES if name != site]
    check(CODES, names, lost=[(site, number, worked)])


def test_sites_lost_one_after_the_other():
    codes = draw((4, 3, 2, 3), 20)
    check(codes, ["site-1", "site-3"], lost=[("site-0", 1, True), ("site-2", 4, False)])


def test_all_lost_leaves_nobody():
    group, distances = run(CODES, lost=[(name, 3, False) for name in CODES])
    assert group.names == ()
    assert distances.shape == (0, 0)


@pytest.mark.parametrize("moment", ["before", "during", "after", "late"])
@pytest.mark.parametrize("step", ["ot.0", "ot.1", "ot.2", "ot.4"])
def test_losses_on_the_engine(step, moment):
    _, group = on_engine(CODES, OtHamming(SMALL), [Fault("site-1", step, moment)])
    assert group.names == ("site-0", "site-2")


@pytest.mark.parametrize("moment", ["restart", "twice"])
def test_every_site_restarts_at_every_step(moment):
    steps = [f"ot.{number}" for number in range(steps_of(CODES))]
    faults = [Fault(name, step, moment) for name in CODES for step in steps]
    assert on_engine(CODES, OtHamming(SMALL), faults)[1].names == tuple(CODES)


def test_what_is_released_is_said():
    entries = engine_of(CODES), OtHamming(SMALL)
    entries[0].run(entries[1].conversation(group_of(CODES), 20))
    assert {entry.what for entry in entries[0].ledger} == {
        pairs.OWN.what,
        pairs.distances_of(pairs.orient(group_of(CODES))).what,
    }


# --- uniform


def uniform(values, width):
    """Whether the top 4 bits and the low 4 bits of values of `width` bits are."""
    values = np.asarray(values).reshape(-1)
    parts = (values >> (width - 4), values & 15)
    return all(chisquare(np.bincount(part, minlength=16)).pvalue > 1e-9 for part in parts)


def transcript(codes, monkeypatch):
    """R, T, what left sends and what right sends: all that is not a key of the base transfers."""
    said, n_bits = {"columns": [], "values": []}, next(iter(codes.values())).shape[1]
    seal = channels.seal_bytes

    def listen(site, to, purpose, content):
        for kind, held in said.items():
            if purpose.startswith(f"ot {kind}"):
                held.append(np.frombuffer(content, np.uint8))
        return seal(site, to, purpose, content)

    sums = []

    def keep(name, number, reply):
        if isinstance(reply, OtSums):
            sums.extend([*reply.lefts.values(), *reply.rights.values()])
        return reply

    monkeypatch.setattr(channels, "seal_bytes", listen)
    run(codes, chunk_bytes=30_000, meddle=keep)
    return {
        "columns": (np.concatenate(said["columns"]), 8),
        "values": (np.concatenate(said["values"]), 8),
        "R": (sums[0], n_bits.bit_length()),
        "T": (sums[1], n_bits.bit_length()),
    }


def points(kind, n, n_bits):
    if kind == "random":
        return draw((n,), n_bits)["site-0"]
    return np.full((n, n_bits), int(kind == "ones"))


N_BITS = 63  # 64 values of 6 bits: 16 of them fill 6 words, with no padding to be seen


@pytest.mark.parametrize("right", ["zeros", "ones", "random"])
@pytest.mark.parametrize("left", ["zeros", "ones", "random"])
def test_messages_are_uniform_whatever_the_codes(left, right, monkeypatch):
    codes = {"site-0": points(left, 48, N_BITS), "site-1": points(right, 64, N_BITS)}
    for what, (values, width) in transcript(codes, monkeypatch).items():
        assert uniform(values, width), what


def broken(monkeypatch, how):
    """The parts of a transcript that a broken variant shows."""
    true = ot_extension.Hash.pads
    if how == "no pads":
        monkeypatch.setattr(ot_extension.Hash, "pads", lambda *a: np.zeros_like(true(*a)))
    if how == "same r again":
        monkeypatch.setattr(
            ot_extension.Hash,
            "pads",
            lambda self, rows, first, n: np.repeat(
                true(self, np.zeros((1, 2), np.uint64), 0, n), len(rows), axis=0
            ),
        )
    if how == "no streams":
        monkeypatch.setattr(ot_extension, "stream", lambda seed, purpose, n: bytes(n))
    codes = {"site-0": points("ones", 48, N_BITS), "site-1": points("ones", 64, N_BITS)}
    parts = transcript(codes, monkeypatch)
    return {what for what, (values, width) in parts.items() if not uniform(values, width)}


def test_without_pads_the_messages_show(monkeypatch):
    assert broken(monkeypatch, "no pads") == {"values", "R", "T"}


def test_with_the_same_r_again_they_show(monkeypatch):
    assert {"values", "R", "T"} <= broken(monkeypatch, "same r again")


def test_without_streams_the_columns_show(monkeypatch):
    assert "columns" in broken(monkeypatch, "no streams")


def test_no_transfer_has_the_number_of_another(monkeypatch):
    used, true = {}, ot_extension.Hash.__init__

    def watched(self, key):
        self.key = key
        true(self, key)

    pads = ot_extension.Hash.pads

    def count(self, rows, first, n_bytes):
        for row in rows.tolist():
            used.setdefault((self.key, first, tuple(row)), 0)
            first += 1
        return pads(self, rows, first - len(rows), n_bytes)

    monkeypatch.setattr(ot_extension.Hash, "__init__", watched)
    monkeypatch.setattr(ot_extension.Hash, "pads", count)
    monkeypatch.setattr(ot_values, "_BLOCK_VALUES", 100)
    run(draw((4, 3, 2), 20))
    by_number = {}
    for key, number, row in used:
        by_number.setdefault((key, number), set()).add(row)
    # q and q ⊕ s, and t is one of them: a third row would be a number used twice
    assert {len(rows) for rows in by_number.values()} == {2}
    assert len({key for key, _ in by_number}) == 3


def test_two_runs_share_nothing():
    seen = []

    def keep(name, number, reply):
        seen.append(reply)
        return reply

    for _ in range(2):
        run(draw((2, 2), 20), meddle=keep)
    parcels = [p for reply in seen if isinstance(reply, OtParcels) for p in reply.parcels.values()]
    assert len(set(parcels)) == len(parcels)


# --- refusals


def states_of(codes):
    """Every site before every step, with the message that it gets."""
    found = []
    run(codes, watch=lambda peer, message: found.append((peer, message)))
    return found


STATES = states_of(draw((3, 2, 2), 20))
REQUESTS = [message for _, message in STATES]


def handle(peer, message):
    """Anything but a refusal is a bug."""
    try:
        return peer.copy().handle(message)
    except RemoteProtocolError:
        return None


texts = st.sampled_from(["site-0", "site-1", "site-2", "", "stranger"])
numbers = st.one_of(st.integers(-3, 12), st.sampled_from([2**31, 2**62]))
parcels = st.dictionaries(texts, st.binary(max_size=60), max_size=3)
sizes = st.dictionaries(texts, numbers, max_size=3)
requests = st.one_of(
    st.builds(StartOt, numbers, numbers, sizes, sizes),
    st.builds(CarryOt, numbers, parcels),
    st.builds(EndOt, numbers, parcels, st.booleans()),
)


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(range(len(STATES))), requests)
def test_any_request_is_answered_or_refused(place, request):
    handle(STATES[place][0], request)


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(range(len(STATES))), st.data())
def test_any_change_of_a_request_is_answered_or_refused(place, data):
    peer, message = STATES[place]
    field = data.draw(st.sampled_from(message.__struct_fields__))
    other = data.draw(st.sampled_from([m for m in REQUESTS if hasattr(m, field)]))
    value = data.draw(
        st.sampled_from([getattr(other, field)])
        | {int: numbers, dict: parcels if field == "parcels" else sizes, bool: st.booleans()}[
            type(getattr(message, field))
        ]
    )
    handle(peer, msgspec.structs.replace(message, **{field: value}))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(range(len(STATES))), st.data())
def test_a_changed_parcel_is_refused(place, data):
    peer, message = STATES[place]
    held = dict(getattr(message, "parcels", {}))
    if not held:
        return
    sender = data.draw(st.sampled_from(sorted(held)))
    at, by = data.draw(st.integers(0, len(held[sender]) - 1)), data.draw(st.integers(1, 255))
    changed = bytearray(held[sender])
    changed[at] ^= by
    held[sender] = bytes(changed)
    with pytest.raises(RemoteProtocolError, match="not sealed by that site"):
        peer.copy().handle(msgspec.structs.replace(message, parcels=held))


def purposes(peer):
    """What parcels are sealed for at this peer, now."""
    run_state = peer.recall(ot.OtRun)
    chunk = run_state.number - 2
    for sender, half in run_state.halves.items():
        yield sender, "ot offer"
        yield sender, "ot choices"
        yield sender, f"ot columns {half.run} {chunk}"
        yield sender, f"ot values {half.run} {chunk - 1}"


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(range(len(STATES))), st.binary(max_size=80), st.data())
def test_any_content_sealed_by_a_peer_is_taken_or_refused(place, content, data):
    peer, message = STATES[place]
    if isinstance(message, StartOt):
        return
    sender, purpose = data.draw(st.sampled_from(sorted(purposes(peer))))
    wrong = data.draw(
        st.sampled_from(
            [
                content,
                pack(ot_halves.OtChoices((content,) * 128)),
                pack(ot_halves.OtChoices((content[:32].ljust(32, b"\0"),) * 128)),
                pack(ot_halves.OtChoices(())),
                pack(ot_halves.OtOffer(ot_values.Schedule(3, 2, 20, SMALL), content)),
                pack(ot_halves.OtOffer(ot_values.Schedule(2, 2, 20, SMALL), content)),
            ]
        )
    )
    sealer = Peer(sender, peer.bits, peer.names)
    parcel = channels.seal_bytes(sealer, peer.name, purpose, wrong)
    handle(peer, msgspec.structs.replace(message, parcels={**message.parcels, sender: parcel}))


def refused(place, match, **changes):
    peer, message = STATES[place]
    with pytest.raises(RemoteProtocolError, match=match):
        peer.copy().handle(msgspec.structs.replace(message, **changes))


def first_of(kind, number=None):
    return next(
        place
        for place, (_, message) in enumerate(STATES)
        if isinstance(message, kind) and number in (None, getattr(message, "number", None))
    )


def test_refusals_name_the_rule():
    start = first_of(StartOt)
    refused(start, "other length of codes", n_bits=30)
    refused(start, "no size for chunks", chunk_bytes=0)
    refused(start, "not pairs of sites", lefts={"site-0": 1})
    refused(start, "not pairs of sites", lefts={"site-1": 1}, rights={"site-1": 1})
    refused(start, "a site without points", lefts={"site-1": 0}, rights={})
    refused(start, "not a member of this session", lefts={"stranger": 1}, rights={})
    refused(first_of(CarryOt, 3), "a step was skipped or repeated", number=4)
    refused(first_of(CarryOt, 3), "a step was skipped or repeated", number=2)
    refused(first_of(CarryOt, 3), "owes none", parcels={"stranger": b""})
    with pytest.raises(RemoteProtocolError, match="a step was skipped"):
        Peer("a", np.zeros((1, 8), int), ["a"]).handle(CarryOt(1, {}))


def test_a_server_that_tells_other_sizes_is_found_out():
    codes = draw((2, 3), 20)
    peers = {name: Peer(name, bits, codes) for name, bits in codes.items()}
    (pair,) = pairs.orient(group_of(codes))
    n_left, n_right = len(codes[pair.left]), len(codes[pair.right])
    offered = peers[pair.right].handle(StartOt(20, SMALL, {pair.left: n_left}, {}))
    peers[pair.left].handle(StartOt(20, SMALL, {}, {pair.right: n_right + 1}))
    parcels = {pair.right: offered.parcels[pair.left]}
    with pytest.raises(RemoteProtocolError, match="other terms than its peer"):
        peers[pair.left].handle(CarryOt(1, parcels))


def test_sums_over_some_bits_only_are_never_told():
    tried = 0
    for peer, message in STATES:
        if isinstance(message, CarryOt):
            early = EndOt(message.number, message.parcels, own=True)
            with pytest.raises(RemoteProtocolError, match="ended too early"):
                peer.copy().handle(early)
            tried += 1
    assert tried > 10


def test_an_ended_run_tells_its_sums_once():
    peer, message = STATES[first_of(EndOt)]
    again = peer.copy()
    assert again.handle(message).own.size
    with pytest.raises(RemoteProtocolError, match="repeated"):
        again.handle(message)
    once_more = again.handle(EndOt(message.number + 1, {}, own=False))
    assert not {**once_more.lefts, **once_more.rights}


def wrong_replies(reply):
    yield Done()
    if isinstance(reply, OtParcels):
        yield OtSums(np.zeros(1, np.uint16), {}, {})
    else:
        yield OtParcels({})
        for field in ("lefts", "rights"):
            for wrong in (np.zeros((1, 1), np.uint16), np.zeros((2, 3), np.int64), np.zeros(0)):
                held = dict.fromkeys(getattr(reply, field), wrong)
                if held:
                    yield msgspec.structs.replace(reply, **{field: held})
        yield msgspec.structs.replace(reply, own=reply.own[1:])


@pytest.mark.parametrize("number", [0, 2, steps_of(CODES) - 1])
def test_answers_that_are_none_are_refused(number):
    one = []
    run(CODES, meddle=lambda name, when, reply: one.append((name, when, reply)) or reply)
    true = next(reply for name, when, reply in one if (name, when) == ("site-0", number))
    for wrong in wrong_replies(true):
        with pytest.raises(RemoteProtocolError, match="not an answer"):
            run(
                CODES,
                meddle=lambda name, when, reply, wrong=wrong: (
                    wrong if (name, when) == ("site-0", number) else reply
                ),
            )


def test_sums_left_out_drop_a_site():
    def forget(name, number, reply):
        if name == "site-0" and isinstance(reply, OtSums):
            return OtSums(reply.own, {}, {})
        return reply

    check(CODES, ["site-1", "site-2"], meddle=forget)


def test_steps_come_in_order():
    numbers = [message.number for _, message in STATES if not isinstance(message, StartOt)]
    assert all(after - before in (0, 1) for before, after in pairwise(numbers))
