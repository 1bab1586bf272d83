"""Every way to compare codes: thousands of broken messages, and nothing but clean refusals."""

from functools import cache

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paillier_talk import tiny_keys
from sessions import SETUP_STEPS, Consortium, draw_codes
from ways import STEPS

from colabel.protocols.channels import EVERYBODY, seal_bytes, unseal_bytes
from colabel.protocols.hamming import WAYS
from colabel.protocols.keys import Group
from colabel.wire import pack
from fuzzing import TapingEngine, change, changed, hear, probe, spoil, unpacked

N_BITS = 20
CODES = draw_codes((3, 2, 4), N_BITS)
N_POINTS = {name: len(held) for name, held in CODES.items()}
PLACES = [(way, step) for way, steps in STEPS.items() for step in steps]
QUIETLY = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    tiny_keys(monkeypatch)


@cache
def talk(way):
    made = Consortium(CODES, engine=TapingEngine)
    made.group, _ = made.distances(way, N_BITS)
    made.engine.tape = [taped for taped in made.engine.tape if taped.step not in SETUP_STEPS]
    return made


def at(way, step):
    return [taped for taped in talk(way).engine.tape if taped.step == step]


def conversation(way):
    """What comes of it must at least look like distances."""
    group, distances = yield from WAYS[way]().conversation(Group(talk(way).group.sizes), N_BITS)
    n_points = sum(N_POINTS[name] for name in group.names)
    found = distances.rows(0, n_points)
    assert distances.shape == found.shape == (n_points, n_points)
    assert found.dtype == np.uint16
    assert (found == found.T).all()
    assert not found.size or found.max() <= 8 * -(-N_BITS // 8)


@pytest.mark.parametrize(("way", "step"), PLACES)
def test_a_site_refuses_cleanly_and_goes_on(way, step):
    @settings(max_examples=40 if step == "lattice.encrypt" else 150, **QUIETLY)
    @given(random=st.randoms(use_true_random=False))
    def check(random):
        taped = random.choice(at(way, step))
        probe(talk(way).engine, taped, *changed(taped.request, random))

    check()


# field of the request, purpose and receiver of what peers have sealed in it
SEALED = {
    "lattice.multiply": [("codes", "lattice codes", EVERYBODY)],
    "lattice.decrypt": [("mixed", "lattice mixed", EVERYBODY), ("products", "lattice product", "")],
    "dealer.compare": [("rights", "dealer right", EVERYBODY), ("lefts", "dealer left", EVERYBODY)],
    "paillier.sums": [("codes", "paillier codes", EVERYBODY)],
    "paillier.totals": [("sums", "paillier sums", "")],
}


@pytest.mark.parametrize("step", SEALED)
@settings(max_examples=150, **QUIETLY)
@given(random=st.randoms(use_true_random=False), length=st.integers(0, 2**18))
def test_what_a_peer_seals_is_refused_cleanly(step, random, length):
    """Sealed as it must be by a peer that does not follow the protocol."""
    way = step.split(".")[0]
    engine = talk(way).engine
    taped = random.choice(at(way, step))
    field, purpose, receiver = random.choice(SEALED[step])
    held = getattr(taped.request, field)
    if not held:
        return
    peer = random.choice(sorted(held))
    session = engine.sessions[peer]
    true = unseal_bytes(
        engine.sessions[taped.name], peer, purpose, held[peer], receiver=receiver or None
    )
    content = random.choice((spoil(true, random), true + true, true[: len(true) // 2]))
    if random.random() < 0.3:
        content = bytes(length)
    if inner := unpacked(true):
        content = random.choice((content, msgspec.msgpack.encode(change(inner, random))))
    sealed = seal_bytes(session, receiver or taped.name, purpose, content)
    request = msgspec.structs.replace(taped.request, **{field: {**held, peer: sealed}})
    probe(engine, taped, type(request).__name__, pack(request))


@pytest.mark.parametrize(("way", "step"), PLACES)
@settings(max_examples=150, **QUIETLY)
@given(random=st.randoms(use_true_random=False))
def test_the_server_names_the_site_that_broke_the_protocol(way, step, random):
    taped = random.choice(at(way, step))
    hear(conversation(way), talk(way).engine.tape, taped, *changed(taped.reply, random))
