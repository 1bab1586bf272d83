"""Introductions and meetings: whatever a server changes in them is refused, by the rule's name."""

import numpy as np
import pytest
from msgspec.structs import replace
from sessions import Consortium
from villain import Villain

from colabel.crypto import agreement
from colabel.crypto.identity import Identity
from colabel.engines.local import LocalEngine
from colabel.errors import RemoteProtocolError
from colabel.protocols.channels import Channels, seal_for_all, unseal_for_all
from colabel.protocols.clear_seed import DrawSeed, ShareSeed
from colabel.protocols.keys import Hello, Renew, SharedSeed
from colabel.protocols.meeting import Join, Meet, threshold
from colabel.protocols.setup import agree
from colabel.wire import seal_in

MATRICES = {f"site-{i}": [np.ones((1, 2))] for i in range(4)}


def villain(**settings):
    return Villain(MATRICES, **settings)


def refused(villain, name, message, rule):
    with pytest.raises(RemoteProtocolError, match=rule) as caught:
        villain.tell(name, message)
    assert caught.value.site == name


def key():
    return agreement.public_of(bytes(range(32)))


def of(name, **fields):
    """The introductions with one changed."""
    return lambda all_: {**all_, name: replace(all_[name], **fields)}


def without(name):
    return lambda all_: {key: value for key, value in all_.items() if key != name}


def swapped(all_):
    return {**all_, "site-0": all_["site-2"], "site-2": all_["site-0"]}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (of("site-0", channel=key()), "not signed by that site"),
        (of("site-0", masks=(key(),) * 3), "not signed by that site"),
        (of("site-0", masks=()), "other number of mask keys"),
        (of("site-0", channel=bytes(32)), "not a key to agree with"),
        (of("site-0", channel=b"short"), "not a key to agree with"),
        (of("site-0", masks=(bytes(32),) * 3), "not a key to agree with"),
        (of("site-0", n_points=2), "not signed by that site"),
        (of("site-0", n_labelled=1), "not signed by that site"),
        (of("site-0", n_features=2), "not signed by that site"),
        (of("site-0", epoch=1), "keys of another epoch"),
        (of("site-0", signature=bytes(64)), "not signed by that site"),
        (of("site-0", signature=b""), "not signed by that site"),
        (swapped, "not signed by that site"),
        (without("site-1"), "my own introduction is missing or changed"),
        (of("site-1", n_points=2), "my own introduction is missing or changed"),
        (lambda all_: {**all_, "stranger": all_["site-0"]}, "not on the roster"),
        (lambda all_: {}, "my own introduction is missing or changed"),
    ],
)
def test_what_a_server_changes_in_introductions_is_refused(change, rule):
    server = villain()
    server.hello()
    refused(server, "site-1", Meet(change(server.welcomes)), rule)
    server.meet()  # nothing was spoilt
    server.join()


def test_two_plans_are_noticed():
    server = villain()
    server.hello()
    server.sites["site-0"]._memory.clear()
    server.welcomes["site-0"] = server.tell("site-0", Hello(b"another plan", 3))
    refused(server, "site-1", Meet(server.welcomes), "not signed by that site")


def test_an_introduction_of_another_session_is_noticed():
    identities = {name: Identity.new() for name in MATRICES}
    first, second = villain(identities=identities), villain(identities=identities, session="two")
    first.hello()
    second.hello()
    old = {**second.welcomes, "site-0": first.welcomes["site-0"]}
    refused(second, "site-1", Meet(old), "not signed by that site")


def test_a_server_that_signs_itself_is_not_the_site():
    server, own = villain(), Identity.new()
    server.hello()
    from colabel.protocols.keys import statement
    from colabel.wire import digest

    forged = replace(server.welcomes["site-0"], channel=key())
    signed = own.sign(statement("session", "site-0", digest(b"plan"), forged))
    false = {**server.welcomes, "site-0": replace(forged, signature=signed)}
    refused(server, "site-1", Meet(false), "not signed by that site")


def test_who_is_not_on_the_roster_is_refused():
    talk = Consortium(matrices=MATRICES)
    del talk.engine.roster["site-3"]  # all sessions hold this roster
    with pytest.raises(RemoteProtocolError, match="not on the roster"):
        talk.adding(lambda group, sums: iter(()))


def test_a_dropped_site_is_noticed_by_all_who_know_it():
    """Two sites are told different lists; what one cannot open, nobody can use."""
    server = villain()
    server.hello()
    rest = {name: server.welcomes[name] for name in ("site-0", "site-1")}
    server.boxes["site-0"] = server.tell("site-0", Meet(rest)).boxes
    for name in ("site-1", "site-2", "site-3"):
        server.boxes[name] = server.tell(name, Meet(server.welcomes)).boxes
    refused(server, "site-0", Join(server.for_("site-0"), "site-1"), "not a member of this session")
    server.tell("site-0", Join({"site-1": server.boxes["site-1"]["site-0"]}, "site-1"))
    server.tell("site-2", Join(without("site-0")(server.for_("site-2")), "site-1"))
    terms = server.terms()
    with pytest.raises(RemoteProtocolError, match="not a member of this session"):
        server.contribute("site-0", terms)
    with pytest.raises(RemoteProtocolError, match="not a member of this session"):
        server.contribute("site-2", terms)


def test_two_drawers_give_two_secrets_that_do_not_open_each_other():
    server = villain()
    server.hello()
    server.meet()
    for name, drawer in (("site-0", "site-2"), ("site-1", "site-3")):
        server.tell(name, Join(server.for_(name), drawer))
    one, two = server.sites["site-0"], server.sites["site-1"]
    sealed = seal_for_all(one, "purpose", Hello(b"", 0))
    with pytest.raises(RemoteProtocolError, match="not sealed by that site for this place"):
        unseal_for_all(two, "site-0", "purpose", sealed, Hello)


def box(sender, change):
    """The boxes with one changed."""
    return lambda server, boxes: {**boxes, sender: change(server, boxes[sender])}


def flipped(server, data):
    return data[:40] + bytes([data[40] ^ 1]) + data[41:]


@pytest.mark.parametrize(
    "change",
    [
        box("site-0", lambda server, data: b""),
        box("site-0", lambda server, data: data[:-1]),
        box("site-0", lambda server, data: data + b"\0"),
        box("site-0", lambda server, data: bytes(len(data))),
        box("site-0", flipped),
        box("site-0", lambda server, data: server.boxes["site-2"]["site-1"]),
        box("site-0", lambda server, data: server.boxes["site-0"]["site-2"]),
        box("site-0", lambda server, data: server.boxes["site-1"]["site-0"]),  # turned round
        lambda server, boxes: {**boxes, "site-0": boxes["site-2"], "site-2": boxes["site-0"]},
    ],
)
def test_a_box_opens_at_its_place_only(change):
    server = villain()
    server.hello()
    server.meet()
    boxes = change(server, server.for_("site-1"))
    refused(server, "site-1", Join(boxes, "site-0"), "not sealed by that site for this place")
    server.join()


def test_a_box_of_another_session_or_epoch_does_not_open():
    identities = {name: Identity.new() for name in MATRICES}
    first = villain(identities=identities)
    second = villain(identities=identities, session="two").set_up()
    first.hello()
    first.meet()
    old, strange = first.boxes["site-0"]["site-1"], second.boxes["site-0"]["site-1"]
    first.join()
    first.renew()
    first.meet()
    for data in (old, strange):
        boxes = {**first.for_("site-1"), "site-0": data}
        refused(first, "site-1", Join(boxes, "site-0"), "not sealed by that site")


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (Hello(b"another plan", 3), "another plan"),
        (Hello(b"plan", 2**40), "impossible number of masks"),
        (Renew(0, 1), "keys out of order"),
        (Renew(2, 1), "keys out of order"),
        (Renew(1, -1), "impossible number of masks"),
        (DrawSeed(), "a seed in clear"),
        (ShareSeed(bytes(32)), "a seed in clear"),
        (Join({}, "site-0"), "joined already"),
        (Join({}, ""), "joined already"),
    ],
)
def test_messages_out_of_place(message, rule):
    server = villain().set_up()
    seed = server.sites["site-0"].recall(SharedSeed)
    refused(server, "site-0", message, rule)
    assert server.sites["site-0"].recall(SharedSeed) == seed


def test_a_site_meets_and_joins_once_for_its_keys():
    server = villain().set_up()
    refused(server, "site-0", Meet(server.welcomes), "met already")
    refused(server, "site-0", Join(server.for_("site-0"), "site-1"), "joined already")
    refused(villain(), "site-0", Meet({}), "a step was skipped")
    refused(villain(), "site-0", Renew(1, 1), "a step was skipped")


def test_the_drawer_must_have_sent_a_box():
    server = villain()
    server.hello()
    server.meet()
    boxes = without("site-2")(server.for_("site-1"))
    refused(server, "site-1", Join(boxes, "site-2"), "the group's secret comes from nobody")


@pytest.mark.parametrize("session", ["session", "another"])
def test_stale_and_foreign_envelopes_are_refused(session):
    server = villain()
    server.hello()
    number = 1 if session == "session" else 99
    rule = "stale message" if session == "session" else "another session"
    with pytest.raises(RemoteProtocolError, match=rule):
        server.sites["site-1"].receive(seal_in(session, number, "server", Meet(server.welcomes)))


class FalseSite(LocalEngine):
    """One site answers something else."""

    change = None

    def _exchange(self, name, step, number, message):
        reply = super()._exchange(name, step, number, message)
        return self.change(step, name, reply)


@pytest.mark.parametrize(
    ("step", "change", "rule"),
    [
        ("hello", lambda r: replace(r, n_labelled=2), "impossible sizes"),
        ("hello", lambda r: replace(r, n_points=-1), "impossible sizes"),
        ("hello", lambda r: replace(r, masks=()), "not the keys"),
        ("hello", lambda r: replace(r, channel=bytes(32)), "not the keys"),
        ("hello", lambda r: replace(r, epoch=1), "not the keys"),
        ("hello", lambda r: Hello(b"", 0), "not an answer"),
        ("meet", lambda r: replace(r, boxes={}), "not the boxes"),
        ("meet", lambda r: replace(r, boxes={**r.boxes, "site-0": b""}), "not the boxes"),
        ("meet", lambda r: Hello(b"", 0), "not an answer"),
        ("join", lambda r: Hello(b"", 0), "not an answer"),
    ],
)
def test_the_server_names_the_site_that_answers_wrong(step, change, rule):
    talk = Consortium(matrices=MATRICES, engine=FalseSite)
    talk.engine.change = lambda s, name, r: change(r) if (s, name) == (step, "site-2") else r
    with pytest.raises(RemoteProtocolError, match=rule) as caught:
        talk.engine.run(agree(talk.names, b"plan", n_masks=3))
    assert (caught.value.site, caught.value.step) == ("site-2", step)


@pytest.mark.parametrize("n", range(1, 12))
def test_no_two_groups_of_enough_sites_are_apart(n):
    """So a site cannot be made to show both shares of one secret to two halves of a session."""
    assert 2 * threshold(n) > n
    assert threshold(n) <= n


def test_keys_and_secrets_are_fresh_in_every_session():
    first, second = villain().set_up(), villain().set_up()
    for kind in (Channels, SharedSeed):
        assert first.sites["site-0"].recall(kind) != second.sites["site-0"].recall(kind)
    assert first.welcomes["site-0"].channel != second.welcomes["site-0"].channel
