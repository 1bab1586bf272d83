"""Sealed messages open at their place only, and no secret is in anything that anybody sees."""

import numpy as np
import pytest
from adding import OWNERS, all_sums, consortium
from sessions import RecordingEngine
from villain import Villain

from colabel.conversation import Message
from colabel.data.site import Site
from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import ProtocolError, RemoteProtocolError
from colabel.federation.labelling import cross_client_labels
from colabel.federation.plan import LabellingPlan
from colabel.federation.roles import LABELLING
from colabel.protocols import channels
from colabel.protocols.keys import Hello, SharedSeed
from colabel.protocols.meeting import Meet
from colabel.protocols.setup import agree
from colabel.wire import pack
from consortia import make_sites
from fuzzing import secrets_of

MATRICES = {f"site-{i}": [np.ones((1, 2))] for i in range(3)}
RULE = "not sealed by that site for this place"


class Note(Message, frozen=True):
    """Something to seal."""

    text: str


@pytest.fixture
def server():
    return Villain(MATRICES).set_up()


def opened(server, data, receiver="site-1", sender="site-0", purpose="note", all_=False):
    opener = channels.unseal_for_all if all_ else channels.unseal
    return opener(server.sites[receiver], sender, purpose, data, Note).text


@pytest.mark.parametrize("all_", [False, True])
def test_what_is_sealed_opens(server, all_):
    one, note = server.sites["site-0"], Note("hello")
    sealed = (
        channels.seal_for_all(one, "note", note)
        if all_
        else channels.seal(one, "site-1", "note", note)
    )
    assert opened(server, sealed, all_=all_) == "hello"
    assert len(sealed) == len(pack(note)) + channels.OVERHEAD
    if all_:
        assert opened(server, sealed, receiver="site-2", all_=True) == "hello"


@pytest.mark.parametrize("all_", [False, True])
@pytest.mark.parametrize(
    ("what", "place"),
    [
        ("another step", {"purpose": "other"}),
        ("another sender", {"sender": "site-2"}),
        ("turned round", {"receiver": "site-0", "sender": "site-1"}),
        ("cut", {}),
        ("cut to nothing", {}),
        ("longer", {}),
        ("changed", {}),
        ("for the other kind of receiver", {}),
    ],
)
def test_at_any_other_place_it_does_not(server, what, place, all_):
    one, note = server.sites["site-0"], Note("hello")
    kinds = [
        channels.seal(one, "site-1", "note", note),
        channels.seal_for_all(one, "note", note),
    ]
    sealed = kinds[all_ if what != "for the other kind of receiver" else not all_]
    changed = {
        "cut": sealed[:-1],
        "cut to nothing": b"",
        "longer": sealed + b"\0",
        "changed": sealed[:-20] + bytes([sealed[-20] ^ 1]) + sealed[-19:],
    }
    with pytest.raises(RemoteProtocolError, match=RULE):
        opened(server, changed.get(what, sealed), all_=all_, **place)


def test_a_third_site_opens_nothing_between_two(server):
    sealed = channels.seal(server.sites["site-0"], "site-1", "note", Note("hello"))
    with pytest.raises(RemoteProtocolError, match=RULE):
        opened(server, sealed, receiver="site-2")


def test_older_keys_open_nothing_new_and_new_ones_nothing_old(server):
    for_two = channels.seal(server.sites["site-0"], "site-1", "note", Note("old"))
    for_all = channels.seal_for_all(server.sites["site-0"], "note", Note("old"))
    server.renew()
    server.meet()
    server.join()
    for sealed, all_ in ((for_two, False), (for_all, True)):
        with pytest.raises(RemoteProtocolError, match=RULE):
            opened(server, sealed, all_=all_)


def test_nothing_is_sealed_for_all_while_there_is_no_secret_of_all(server):
    """Before `join` the group's secret is empty: what is sealed under it, everybody could open."""
    server.renew()
    server.meet()
    for use in (
        lambda site: channels.seal_for_all(site, "note", Note("hello")),
        lambda site: channels.group_stream(site, "mask", 32),
        lambda site: channels.unseal_for_all(site, "site-1", "note", bytes(99), Note),
    ):
        with pytest.raises(RemoteProtocolError, match="a step was skipped"):
            use(server.sites["site-0"])


@pytest.mark.parametrize("content", [b"", b"\xc1", pack(Hello(b"", 0)), pack(3)])
def test_what_a_peer_sealed_may_be_malformed_all_the_same(server, content):
    sealed = channels.seal_bytes(server.sites["site-0"], "site-1", "note", content)
    with pytest.raises(RemoteProtocolError, match="malformed content"):
        opened(server, sealed)


def test_strangers_have_no_channel(server):
    with pytest.raises(RemoteProtocolError, match="not a member of this session"):
        channels.seal(server.sites["site-0"], "stranger", "note", Note(""))


def test_streams_are_shared_by_those_who_should_and_nobody_else(server):
    sites = server.sites.values()
    pairs = {(s.name, p): channels.pair_stream(s, p, "x", 32) for s in sites for p in server.names
             if p != s.name}  # fmt: skip
    assert len(set(pairs.values())) == 3
    assert all(pairs[a, b] == pairs[b, a] for a, b in pairs)
    assert len({channels.group_stream(site, "x", 32) for site in sites}) == 1
    assert channels.group_stream(server.sites["site-0"], "y", 32) not in pairs.values()


# --- what anybody sees


def found(secrets, text):
    """The secrets that are in these bytes, raw or written down."""
    return [s for s in secrets if s in text or s.hex().encode() in text]


def test_no_secret_is_in_what_the_server_sees_says_or_keeps():
    talk = consortium(RecordingEngine, faults=[Fault("site-3", "shared", "late")])
    events = []
    talk.engine.listen = events.append
    steps = all_secrets_by_step(talk, lambda: talk.adding(all_sums))
    seen = b"".join(pack(part) for _, _, *both in talk.engine.messages for part in both if part)
    assert len(steps) > 20
    revealed = {share for share in steps if len(share) == 33 and share in seen}
    assert not found(steps - revealed, seen)
    assert len(revealed) < len([s for s in steps if len(s) == 33]) / 2  # never both of one site
    told = repr((events, list(talk.engine.ledger), talk.engine.costs)).encode()
    assert not found(steps, told)


def all_secrets_by_step(talk, run):
    """All secrets that sites hold at any time of a run."""
    secrets, usual = set(), talk.engine._exchange

    def exchange(name, step, number, message):
        reply = usual(name, step, number, message)
        secrets.update(secrets_of(talk.engine.sessions[name]))
        secrets.add(talk.engine.identities[name].secret_bytes())
        return reply

    talk.engine._exchange = exchange
    run()
    return secrets


@pytest.mark.parametrize("way", ["dealer", "sketch", "lattice"])
def test_the_seed_of_the_hyperplanes_stays_among_the_sites(way):
    sites = make_sites(3, 6)
    engine = RecordingEngine(sites.sites, LABELLING)
    plan = LabellingPlan(n_classes=3, n_neighbors=3, n_bits=64, hamming=way)
    engine.run(cross_client_labels(sites.names, plan))
    seen = b"".join(pack(part) for _, _, *both in engine.messages for part in both)
    seeds = {engine.sessions[name].recall(SharedSeed).seed for name in sites.names}
    assert len(seeds) == 1
    assert not found(seeds, seen)


def test_in_clear_the_same_search_finds_the_seed():
    """The search would see it."""
    sites = make_sites(3, 6)
    engine = RecordingEngine(sites.sites, LABELLING)
    plan = LabellingPlan(n_classes=3, n_neighbors=3, n_bits=64, hamming="clear")
    engine.run(cross_client_labels(sites.names, plan))
    seen = b"".join(pack(part) for _, _, *both in engine.messages for part in both)
    assert found({engine.sessions["site-0"].recall(SharedSeed).seed}, seen)


def test_no_state_and_no_refusal_prints_a_secret(server):
    for session in server.sites.values():
        secrets = secrets_of(session)
        states = repr([session, *session._memory.values()])
        for secret in secrets:
            assert repr(secret)[2:-1] not in states
        with pytest.raises(ProtocolError) as caught:
            server.tell(session.name, Meet(server.welcomes))
        assert not found(secrets, repr((caught.value, vars(caught.value))).encode())


def test_set_up_messages_are_as_long_whatever_the_data():
    """Only public sizes may be told by a length."""

    def lengths(seed):
        rng = np.random.default_rng(seed)
        held = [Site(name, rng.standard_normal((3, 1)), np.full(3, -1)) for name in OWNERS]
        engine = LocalEngine(held, LABELLING)
        plan = pack(LabellingPlan(n_classes=2, n_bits=64))
        engine.run(agree(tuple(OWNERS), plan, n_masks=4))
        return [(e.step, e.site, e.bytes_up, e.bytes_down) for e in engine.costs.exchanges]

    assert lengths(0) == lengths(1)
