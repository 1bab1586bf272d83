"""Oblivious transfer on the engine: costs, drop-outs and restarts."""

from itertools import combinations

import numpy as np
import pytest
from ot_talk import CODES, SMALL, check, run, steps_of
from peers import draw, group_of, slow

from colabel.data.site import Site
from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.federation.site import Role
from colabel.protocols.channels import Channels
from colabel.protocols.hamming import ot, pairs
from colabel.protocols.hamming.ot import OtHamming


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
