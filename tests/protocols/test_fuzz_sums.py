"""Thousands of broken messages to sites and server: clean refusals, and nothing else."""

from contextlib import suppress
from functools import cache

import msgspec
import pytest
from adding import all_sums, consortium
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colabel.engines.faults import Fault
from colabel.errors import RemoteProtocolError
from colabel.protocols.channels import seal_bytes, unseal
from colabel.protocols.meeting import Gift, Join
from colabel.protocols.setup import agree
from colabel.wire import pack
from fuzzing import TapingEngine, change, changed, hear, probe

STEPS = ("hello", "meet", "join", "rows", "rows.unmask", "rows.back", "shared", "shared.unmask",
         "shared.back", "public", "public.unmask", "votes", "votes.unmask", "renew")  # fmt: skip
QUIETLY = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


def conversation():
    group, sums = yield from agree(tuple(f"site-{i}" for i in range(4)), b"plan", n_masks=3)
    return (yield from all_sums(group, sums))


@cache
def engine():
    made = consortium(TapingEngine, faults=[Fault("site-3", "rows", "late")]).engine
    made.run(conversation())
    return made


def at(step):
    return [taped for taped in engine().tape if taped.step == step]


@pytest.mark.parametrize("step", STEPS)
@settings(max_examples=150, **QUIETLY)
@given(random=st.randoms(use_true_random=False))
def test_a_site_refuses_cleanly_and_goes_on(step, random):
    taped = random.choice(at(step))
    probe(engine(), taped, *changed(taped.request, random))


@pytest.mark.parametrize("step", STEPS)
@settings(max_examples=100, **QUIETLY)
@given(random=st.randoms(use_true_random=False))
def test_the_server_names_the_site_that_broke_the_protocol(step, random):
    taped = random.choice(at(step))
    # a number that may be a share is found wrong only together with those of others
    traceable = not step.endswith("unmask")
    lie = changed(taped.reply, random)
    hear(conversation(), engine().tape, taped, *lie, traceable=traceable)


@settings(max_examples=200, **QUIETLY)
@given(random=st.randoms(use_true_random=False))
def test_what_a_false_site_seals_is_refused_cleanly(random):
    """A box that opens may hold anything."""
    taped = random.choice(at("join"))
    site, sender = restored(taped), random.choice(list(taped.request.boxes))
    false = restored(next(other for other in at("join") if other.name == sender))
    gift = unseal(site, sender, "meet", taped.request.boxes[sender], Gift)
    content = msgspec.msgpack.encode(change(tree_of(gift), random))
    box = seal_bytes(false, taped.name, "meet", content)
    boxes = {**taped.request.boxes, sender: box}
    with suppress(RemoteProtocolError):
        site.answer(Join(boxes, taped.request.drawer))


def restored(taped):
    made = engine()
    site = made.sessions[taped.name]
    own = made.identities[taped.name]
    return type(site).load(site.site, made.role, own, made.roster, taped.saved)


def tree_of(struct):
    return msgspec.msgpack.decode(pack(struct))
