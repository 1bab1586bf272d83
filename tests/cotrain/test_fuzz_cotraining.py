"""Broken messages in a co-training session: clean refusals, and the session goes on."""

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from worlds import N_CLASSES, trees, world

from colabel.federation.cotraining import cotrain
from colabel.federation.cotraining_role import cotraining_role
from colabel.federation.own_cotraining import Desk
from colabel.jobs.cotrain import plan_for
from colabel.privacy.label_accounting import LabelPrivacy
from fuzzing import TapingEngine, changed, hear, probe

QUIETLY = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
SITES, PUBLIC = world(n_sites=3, n_each=8, n_public=20)
WAYS = {
    "clear": {"votes": "clear"},
    "masked": {},
    "bits": {"votes": "clear", "privacy": LabelPrivacy(mechanism="xor", epsilon=50.0)},
}
CASES = [(way, step) for way in WAYS for step in ("hello", "label", "finish")]
CASES += [("masked", step) for step in ("meet", "join", "label.unmask")]


def conversation(way):
    return cotrain(SITES.names, plan_for(PUBLIC, N_CLASSES, rounds=2, **WAYS[way]))


@cache
def engine(way):
    held = trees(SITES)
    desks = {name: Desk(PUBLIC, held[name]) for name in SITES.names}
    made = TapingEngine(SITES.sites, cotraining_role(desks.__getitem__))
    made.run(conversation(way))
    return made


def at(way, step):
    return [taped for taped in engine(way).tape if taped.step == step]


@pytest.mark.parametrize(("way", "step"), CASES)
@settings(max_examples=40, **QUIETLY)
@given(random=st.randoms(use_true_random=False))
def test_a_site_refuses_cleanly_and_goes_on(way, step, random):
    taped = random.choice(at(way, step))
    probe(engine(way), taped, *changed(taped.request, random))


@pytest.mark.parametrize(("way", "step"), CASES)
@settings(max_examples=20, **QUIETLY)
@given(random=st.randoms(use_true_random=False))
def test_the_server_names_the_site_that_broke_the_protocol(way, step, random):
    taped = random.choice(at(way, step))
    traceable = step != "hello" and not step.endswith("unmask")
    lie = changed(taped.reply, random)
    hear(conversation(way), engine(way).tape, taped, *lie, traceable=traceable)
