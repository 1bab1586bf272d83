"""Oblivious transfer: nothing but clean refusals."""

from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ot_talk import CODES, SMALL, Peer, check, run, steps_of
from peers import draw, group_of

from colabel.conversation import Done
from colabel.errors import RemoteProtocolError
from colabel.protocols import channels
from colabel.protocols.hamming import ot, ot_halves, ot_values, pairs
from colabel.protocols.hamming.ot import CarryOt, EndOt, OtParcels, OtSums, StartOt
from colabel.wire import pack


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
