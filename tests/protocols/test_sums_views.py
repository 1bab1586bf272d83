"""What is seen of a sum: uniform, and alike for two inputs; five broken variants that show.

The server's view is what it is sent, less every mask that it can compute once shares are
revealed. With a site it takes off that site's masks too. What then is left must hide the rest.

view    what it is                                            hidden by
sent    a summand as it is sent                               all masks
own     the same, less the site's own mask                    the pairs' masks
total   rows or shared total as they are sent back            the channels' or the group's masks
mate    own, less all that site-0 knows                       the masks of other pairs
late    a summand that came late, less the pairs' masks       the site's own mask
"""

import numpy as np
import pytest
from sessions import Consortium, GiveMatrix, RecordingEngine, TakeTotal
from telling import flaws, octets
from villain import Nothing

from colabel.protocols.keys import OwnKeys
from colabel.protocols.meeting import Met
from colabel.protocols.setup import agree
from colabel.protocols.sums import masked
from colabel.protocols.sums import site as hiding
from colabel.protocols.sums.base import Deliver, Hidden, spans

NAMES = tuple(f"site-{i}" for i in range(4))
MATE, LATE = NAMES[0], NAMES[3]
OWNERS = dict.fromkeys(NAMES, 8)
SHAPE = (32, 12)


class LateEngine(RecordingEngine):
    """Keeps the message of a site that is late, as a server could."""

    late = ""

    def _exchange(self, name, step, number, message):
        reply = super()._exchange(name, step, number, message)
        return None if (step, name) == ("sum", self.late) else reply


def session(kind, value, late=""):
    """One sum of this kind of matrices that are full of this value."""
    matrices = {name: [np.full(SHAPE, value)] for name in NAMES}
    talk = Consortium(matrices=matrices, engine=LateEngine)
    talk.engine.late = late
    requests = dict.fromkeys(NAMES, GiveMatrix(0))

    def conversation():
        _, sums = yield from agree(NAMES, b"plan", n_masks=1)
        if kind == "rows":
            return (yield from sums.rows("sum", "x", requests, OWNERS, TakeTotal))
        if kind == "shared":
            return (yield from sums.shared("sum", "x", requests, TakeTotal))
        return (yield from sums.public("sum", "x", requests, "scores"))

    result = talk.engine.run(conversation())
    there = [name for name in NAMES if name != late]
    totals = [result] if kind == "public" else [talk.totals[name][0] for name in there]
    for total in totals:  # whatever is broken, the sum is right
        np.testing.assert_allclose(total, len(there) * value)
    return talk


def hidden(talk, name):
    """A summand as it was sent, every row where it belongs, and the terms."""
    terms, ring = next(
        (message.terms, reply.ring)
        for _, sender, message, reply in talk.engine.messages
        if isinstance(reply, Hidden) and sender == name
    )
    if terms.mode != "rows":
        return terms, ring.copy()
    full = np.zeros(SHAPE, ring.dtype)
    full[np.concatenate([np.arange(32)[at] for at in terms.kept(name).values()])] = ring
    return terms, full


def less_own(talk, name, terms, ring):
    seed = talk.engine.sessions[name].recall(Met).own_seeds[0]
    return ring - hiding.own_mask(seed, terms).like(ring)


def less_pair(talk, name, peer, terms, ring):
    keys, masks = talk.engine.sessions[name].recall(OwnKeys), talk.engine.sessions[name].recall(Met)
    mask = hiding.pair_mask(keys.masks[0], masks.masks[peer][0], terms).like(ring)
    for owner in (name, peer):
        mask[spans(terms.blocks).get(owner, slice(0, 0))] = 0
    return ring - mask if name < peer else ring + mask


def less_site(talk, name, terms, ring):
    """Less all that a site knows of another one's summand."""
    site, ring = talk.engine.sessions[MATE], less_pair(talk, name, MATE, terms, ring)
    if terms.mode == "shared":
        ring -= hiding._group_mask(site, name, terms).like(ring)
    if terms.mode == "rows":
        at = spans(terms.blocks)[MATE]
        ring[at] -= hiding._channel_mask(site, name, terms).like(ring[at])
    return ring


def sent_rows(name, terms, ring):
    """The rows that were sent: a site's own were not."""
    at = spans(terms.blocks).get(name, slice(0, 0))
    return np.delete(ring, np.arange(len(ring))[at], axis=0).tobytes()


def views(kind, value):
    """All views of one session, and of one in which a site is late."""
    talk, seen = session(kind, value), {}
    for name in NAMES:
        terms, ring = hidden(talk, name)
        seen[f"sent/{name}"] = octets(sent_rows(name, terms, ring), 24)
        ring = less_own(talk, name, terms, ring)
        seen[f"own/{name}"] = octets(sent_rows(name, terms, ring), 24)
        if name != MATE:
            ring = less_site(talk, name, terms, ring)
            at = spans(terms.blocks).get(MATE, slice(0, 8))
            seen[f"mate/{name}"] = octets(ring[at].tobytes(), 24)
    for _, name, message, _ in talk.engine.messages:
        if isinstance(message, Deliver) and (kind == "rows" or name == MATE):
            seen[f"total/{name}"] = octets(message.ring.tobytes(), 24)
    talk = session(kind, value, LATE)
    terms, ring = hidden(talk, LATE)
    for peer in NAMES[1:3]:
        ring = less_pair(talk, LATE, peer, terms, ring)
    ring = less_site(talk, LATE, terms, ring)
    at = spans(terms.blocks).get(MATE, slice(0, 8))
    seen[f"late/{LATE}"] = octets(ring[at].tobytes(), 24)
    return seen


class TheSame:
    """A mask that is used again and again."""

    def like(self, ring, start=0):
        drawn = np.random.default_rng(0).bytes(start + ring.nbytes)[start:]
        return np.frombuffer(drawn, ring.dtype).reshape(ring.shape).copy()


def break_(monkeypatch, mask, by):
    for module in (hiding, masked):
        if hasattr(module, mask):
            monkeypatch.setattr(module, mask, lambda *given: by())


@pytest.mark.parametrize("kind", ["rows", "shared", "public"])
def test_views_are_uniform_and_alike(kind):
    assert flaws(views(kind, 0.0), views(kind, 123.456)) == set()


@pytest.mark.parametrize("by", [Nothing, TheSame])
@pytest.mark.parametrize(
    ("kind", "mask", "shown"),
    [
        ("rows", "pair_mask", "mate"),
        ("shared", "pair_mask", "mate"),
        ("public", "pair_mask", "own"),
        ("rows", "own_mask", "late"),
        ("shared", "own_mask", "late"),
        ("public", "own_mask", "late"),
        ("rows", "_channel_mask", "total"),
        ("shared", "_group_mask", "total"),
    ],
)
def test_a_mask_that_is_missing_or_used_again_shows(kind, mask, shown, by, monkeypatch):
    break_(monkeypatch, mask, by)
    assert shown in flaws(views(kind, 0.0), views(kind, 123.456))
