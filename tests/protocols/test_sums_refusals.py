"""What a site refuses in sums, and what a server gets of a site that is late."""

from contextlib import suppress
from itertools import combinations

import numpy as np
import pytest
from msgspec.structs import replace
from sessions import GiveMatrix, TakeTotal
from villain import Nothing, Villain

from colabel.conversation import Done
from colabel.crypto import shamir
from colabel.errors import RemoteProtocolError
from colabel.protocols.keys import OwnKeys
from colabel.protocols.meeting import Met, Shares
from colabel.protocols.sums import Contribute, Deliver, Summed
from colabel.protocols.sums import site as hiding
from colabel.protocols.sums.base import Terms
from colabel.protocols.sums.fixed_point import FORMATS, encode
from colabel.protocols.sums.site import Unmask
from colabel.wire import pack

NAMES = tuple(f"site-{i}" for i in range(4))
MATRICES = {name: [np.full((4, 2), 1.5 + i), np.ones((4, 2))] for i, name in enumerate(NAMES)}
WIDE = (4, 2 * FORMATS["wide"].n_limbs)
BLOCKS = dict.fromkeys(NAMES, 1)


class OnlyShared(Summed, frozen=True):
    """A request whose total is for the sites."""

    modes = ("shared",)


@pytest.fixture
def server():
    return Villain(MATRICES).set_up()


def refused(server, name, message, rule):
    with pytest.raises(RemoteProtocolError, match=rule) as caught:
        server.tell(name, message)
    assert caught.value.site == name


def asking(terms, request=None):
    request = GiveMatrix(0) if request is None else request
    return Contribute(type(request).__name__, pack(request), terms)


GOOD = Terms("sum", "public", "wide", 0, NAMES, {})


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"slot": -1}, "a sum without masks"),
        ({"slot": 3}, "no such mask"),
        ({"members": ("site-1", "site-2", "site-3")}, "wrong members"),
        ({"members": (*NAMES, "site-1")}, "wrong members"),
        ({"members": (*NAMES, "stranger")}, "not a member of this session"),
        ({"members": ("site-0", "site-1")}, "too few to hide each other"),
        ({"members": ("site-0",)}, "too few to hide each other"),
        ({"blocks": BLOCKS}, "blocks of rows that nobody owns"),
        ({"mode": "shared", "blocks": BLOCKS}, "blocks of rows that nobody owns"),
        ({"mode": "rows", "blocks": {"site-0": 3}}, "rows of other owners"),
        ({"mode": "rows", "blocks": {"site-0": 5, "site-1": -1}}, "rows of other owners"),
        ({"form": "narrow"}, "unknown format"),
    ],
)
def test_terms_that_would_hide_too_little_are_refused(server, change, rule):
    refused(server, "site-0", asking(replace(GOOD, **change)), rule)
    server.contribute("site-0", GOOD)  # nothing was used up


def test_blocks_in_a_public_sum_would_have_shown_rows(monkeypatch):
    """Rows with owners carry no masks of pairs: a public total must have none."""
    monkeypatch.setattr(hiding, "_check_terms", lambda *given: None)
    server = Villain(MATRICES).set_up()
    terms = replace(GOOD, form="scores", blocks={"site-0": 4})
    ring = server.contribute("site-0", terms)
    seed = server.sites["site-0"].recall(Met).own_seeds[0]  # what shares reveal of who came
    np.testing.assert_array_equal(
        ring - hiding.own_mask(seed, terms).like(ring),
        encode(MATRICES["site-0"][0], FORMATS["scores"]),
    )


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (asking(GOOD, OnlyShared()), "a total for others than agreed"),
        (asking(GOOD, Done()), "not to be summed"),
        (asking(GOOD, asking(GOOD)), "not to be summed"),
        (GiveMatrix(0), "only within a sum"),
        (TakeTotal(np.zeros((4, 2))), "only within a sum"),
        (Unmask(GOOD, NAMES), "a step was skipped"),
        (Deliver("TakeTotal", GOOD, NAMES, np.zeros(WIDE, "<u8")), "a step was skipped"),
    ],
)
def test_requests_at_the_wrong_place_are_refused(server, message, rule):
    refused(server, "site-0", message, rule)


@pytest.mark.parametrize(
    "again",
    [
        asking(GOOD, GiveMatrix(1)),
        asking(replace(GOOD, name="other")),
        asking(replace(GOOD, members=NAMES[:3])),
        asking(replace(GOOD, form="scores")),
        asking(replace(GOOD, mode="shared")),
    ],
)
def test_a_mask_is_used_once(server, again):
    first = server.contribute("site-0", GOOD)
    refused(server, "site-0", again, "a mask is used twice")
    np.testing.assert_array_equal(server.contribute("site-0", GOOD), first)  # the same, again


@pytest.mark.parametrize(
    ("terms", "came", "rule"),
    [
        (GOOD, NAMES[:2], "too few to hide each other"),
        (GOOD, ("site-0",), "too few to hide each other"),
        (GOOD, (), "wrong contributors"),
        (GOOD, NAMES[1:], "wrong contributors"),
        (GOOD, (*NAMES[:3], "stranger"), "wrong contributors"),
        (replace(GOOD, slot=1), NAMES, "masks of another sum"),
        (replace(GOOD, name="other"), NAMES, "masks of another sum"),
        (replace(GOOD, members=NAMES[:3]), NAMES[:3], "masks of another sum"),
        (replace(GOOD, slot=-1), NAMES, "masks of another sum"),
    ],
)
def test_shares_are_revealed_for_the_sum_and_enough_contributors_only(server, terms, came, rule):
    server.contribute("site-0", GOOD)
    refused(server, "site-0", Unmask(terms, tuple(came)), rule)
    server.unmask("site-0", GOOD, NAMES)


@pytest.mark.parametrize(("first", "second"), [(NAMES, NAMES[:3]), (NAMES[:3], NAMES)])
def test_both_shares_of_one_site_are_never_revealed(server, first, second):
    server.contribute("site-0", GOOD)
    shown = server.unmask("site-0", GOOD, first)
    assert set(shown.own_seeds) == set(first)
    assert set(shown.mask_keys) == set(NAMES) - set(first)
    refused(server, "site-0", Unmask(GOOD, second), "both shares of one site are asked")
    assert server.unmask("site-0", GOOD, first) == shown


@pytest.mark.parametrize("until", ["renew", "meet"])
def test_older_shares_are_worth_nothing_under_new_keys(server, until):
    """Else a server could ask for the other half of each secret after `Renew`."""
    server.contribute("site-0", GOOD)
    server.unmask("site-0", GOOD, NAMES)
    server.renew()
    if until == "meet":
        server.meet()
    refused(server, "site-0", Unmask(GOOD, NAMES[:3]), "a step was skipped")
    refused(server, "site-0", asking(replace(GOOD, name="next")), "a step was skipped")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"kind": "GiveMatrix"}, "not a total"),
        ({"kind": "Nothing"}, "not a total"),
        ({"terms": {"name": "other"}}, "the total of another sum"),
        ({"terms": {"slot": -1}}, "the total of another sum"),
        ({"ring": np.zeros((3, WIDE[1]), "<u8")}, "malformed total"),
        ({"ring": np.zeros((4, 4), "<u8")}, "malformed total"),
        ({"ring": np.zeros(WIDE, "<f8")}, "malformed total"),
        ({"ring": np.zeros(WIDE, "<u4")}, "malformed total"),
        ({"contributors": ("site-0", "site-0")}, "wrong contributors"),
        ({"contributors": ("stranger",)}, "wrong contributors"),
    ],
)
def test_totals_that_are_none_are_refused(server, change, rule):
    terms = replace(GOOD, mode="shared")
    server.contribute("site-0", terms)
    good = Deliver("TakeTotal", terms, NAMES, np.zeros(WIDE, "<u8"))
    other = {"terms": replace(terms, **change["terms"])} if "terms" in change else change
    refused(server, "site-0", replace(good, **other), rule)
    server.tell("site-0", good)


def test_a_public_total_is_not_for_sites(server):
    server.contribute("site-0", GOOD)
    total = Deliver("TakeTotal", GOOD, NAMES, np.zeros(WIDE, "<u8"))
    refused(server, "site-0", total, "the total of another sum")


# --- a summand that comes late


def late_summand(server, terms):
    """The server says that site-3 did not come, and gets its message after the shares."""
    rings = {name: server.contribute(name, terms) for name in NAMES[:3]}
    shares = {name: server.unmask(name, terms, NAMES[:3]) for name in NAMES[:3]}
    rings["site-3"] = server.contribute("site-3", terms)
    number = {name: place + 1 for place, name in enumerate(sorted(NAMES))}

    def joined(kind, owner):
        return shamir.join({number[n]: getattr(held, kind)[owner] for n, held in shares.items()})

    seeds = {name: joined("own_seeds", name) for name in NAMES[:3]}
    return rings, seeds, joined("mask_keys", "site-3"), shares


def guesses(server, terms, ring, seeds, key):
    """The late summand less every selection of the masks that the server can compute."""
    keys = {name: server.welcomes[name].masks[0] for name in NAMES}
    masks = [hiding.own_mask(seed, terms).like(ring) for seed in seeds.values()]
    pairs = [hiding.pair_mask(key, keys[name], terms).like(ring) for name in NAMES[:3]]
    masks += pairs
    for n_taken in range(len(masks) + 1):
        for taken in combinations(masks, n_taken):
            total = np.sum(taken, axis=0, dtype=ring.dtype)
            yield from (ring - total, ring + total)


def is_shown(server, terms, name="site-3"):
    """Whether any of the guesses is the summand."""
    rings, seeds, key, _ = late_summand(server, terms)
    true = encode(MATRICES[name][0], FORMATS["scores"])
    return any((guess == true).all() for guess in guesses(server, terms, rings[name], seeds, key))


SCORES = replace(GOOD, form="scores")


def test_a_late_summand_stays_hidden(server):
    assert not is_shown(server, SCORES)


def test_without_its_own_mask_it_would_not(server, monkeypatch):
    monkeypatch.setattr(hiding, "own_mask", lambda seed, terms: Nothing())
    assert is_shown(server, SCORES)


def test_nobody_helps_to_open_it_later(server):
    _, _, _, shares = late_summand(server, SCORES)
    for name in NAMES[:3]:
        assert "site-3" not in shares[name].own_seeds
        refused(server, name, Unmask(SCORES, NAMES), "both shares of one site are asked")


def test_what_the_server_recovers_is_the_mask_key_and_no_more(server):
    _, seeds, key, _ = late_summand(server, SCORES)
    late = server.sites["site-3"]
    assert key == late.recall(OwnKeys).masks[0]
    assert late.recall(Met).own_seeds[0] not in seeds.values()
    for name in NAMES[:3]:
        assert server.sites[name].recall(OwnKeys).masks[0] != key


def test_fewer_shares_than_the_threshold_give_something_else(server):
    _, _, key, shares = late_summand(server, SCORES)
    two = {1: shares["site-0"].mask_keys["site-3"], 2: shares["site-1"].mask_keys["site-3"]}
    with suppress(ValueError):
        assert shamir.join(two) != key


def test_the_server_with_more_than_half_of_the_sites_opens_everything(server):
    """As documented in sums.masked: their shares are enough."""
    rings, *_ = late_summand(server, SCORES)
    colluding = NAMES[:3]
    held = {
        place + 1: server.sites[name].recall(Shares).gifts["site-3"].own_seeds[0]
        for place, name in enumerate(colluding)
    }
    ring = rings["site-3"] - hiding.own_mask(shamir.join(held), SCORES).like(rings["site-3"])
    key = server.sites["site-3"].recall(OwnKeys).masks[0]
    for name in colluding:  # they know their masks with it
        ring += hiding.pair_mask(key, server.welcomes[name].masks[0], SCORES).like(ring)
    np.testing.assert_array_equal(ring, encode(MATRICES["site-3"][0], FORMATS["scores"]))
