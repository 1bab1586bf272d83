"""Thousands of broken messages to sites and server: clean refusals, and nothing else."""

from functools import cache

import pytest
from adding import all_sums, consortium
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colabel.engines.faults import Fault
from colabel.protocols.setup import agree
from fuzzing import TapingEngine, changed, hear, probe

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
