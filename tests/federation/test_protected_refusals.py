"""A server that asks for less protection than the plan says is refused, at every door."""

import numpy as np
import pytest

from colabel.engines.local import LocalEngine
from colabel.errors import RemoteProtocolError
from colabel.federation.labelling import cross_client_labels
from colabel.federation.moments import PointSums, SumPoints
from colabel.federation.own_labels import Influence, OwnScores
from colabel.federation.own_trials import Rate, Try
from colabel.federation.plan import LabellingPlan
from colabel.federation.roles import LABELLING
from colabel.jobs.label import label, label_new
from colabel.protocols.clear_seed import DrawSeed, ShareSeed
from colabel.protocols.hamming.clear import ShareCodes
from colabel.protocols.hamming.dealer import Exchange
from colabel.protocols.hamming.lattice import Encrypt
from colabel.protocols.hamming.sketch import SendSketch
from colabel.protocols.keys import Hello
from colabel.protocols.sums import Contribute
from colabel.protocols.sums.base import Terms
from colabel.wire import pack, seal_in
from consortia import make_sites

SITES = make_sites(3, 8)
PLAN = LabellingPlan(n_classes=3, n_neighbors=3, n_bits=64, hamming="dealer")
CLEAR = LabellingPlan(n_classes=3, n_neighbors=3, n_bits=64, hamming="clear")
COLUMNS = Influence(np.zeros((11, 4), "f4"), (3, 4, 4), 2.0)
TRIED = Try(np.zeros((1, 3, 3), "f4"), (1, 1, 1), (1,))


def terms(mode="rows", slot=3, blocks=None):
    return Terms("x", mode, "scores", slot, SITES.names, blocks or {})


def within(request, **how):
    return Contribute(type(request).__name__, pack(request), terms(**how))


@pytest.fixture(scope="module")
def engine():
    made = LocalEngine(SITES.sites, LABELLING)
    made.run(cross_client_labels(SITES.names, PLAN))
    return made


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (ShareCodes(), "another way to compare than agreed"),
        (SendSketch(64), "another way to compare than agreed"),
        (Encrypt(64, True, True, True), "another way to compare than agreed"),
        (Exchange(8, bytes(32), True, True, True), "other codes than agreed"),
        (DrawSeed(), "a seed in clear"),
        (ShareSeed(bytes(32)), "a seed in clear"),
        (Hello(pack(CLEAR), -1), "another plan"),
        (Hello(pack(PLAN), -1), "a session without keys"),
        (Hello(pack(PLAN), 3), "a session without keys"),
        (COLUMNS, "only within a sum"),
        (TRIED, "only within a sum"),
        (SumPoints(), "only within a sum"),
        (Rate(), "only within a sum"),
        (PointSums(np.zeros((1, 13))), "only within a sum"),
        (OwnScores(np.zeros((5, 3))), "only within a sum"),
        (within(COLUMNS, slot=-1, blocks={"site-0": 14}), "a sum without masks"),
        (within(COLUMNS, mode="public"), "a total for others than agreed"),
        (within(COLUMNS, mode="shared"), "a total for others than agreed"),
        (within(TRIED, mode="public"), "a total for others than agreed"),
        (within(SumPoints(), mode="public"), "a total for others than agreed"),
        (within(Rate(), mode="shared"), "a total for others than agreed"),
    ],
)
def test_less_protection_is_refused(engine, message, rule):
    site = engine.sessions["site-0"]
    before = site.save()
    with pytest.raises(RemoteProtocolError, match=rule) as caught:
        site.receive(seal_in(engine._session, 99, "server", message))
    assert caught.value.site == "site-0"
    assert site.save() == before  # a message that is refused changes nothing


@pytest.mark.parametrize("n_new", [1, 4])
def test_newcomers_may_outnumber_the_others(n_new):
    """They add nothing to the moments, and help to hide them."""
    sites, new = make_sites(2, 20), make_sites(2 + n_new, 20, n_labels=0)
    new = type(new)(new.sites[2:], new.classes)
    plain = LabellingPlan(n_classes=3, n_neighbors=5, n_bits=4096, hamming="clear", seed=bytes(32))
    found = []
    for hamming in ("clear", "dealer"):
        plan = LabellingPlan(**{f: getattr(plain, f) for f in plain.__struct_fields__}
                             | {"hamming": hamming})  # fmt: skip
        fitted = label(sites, plan)
        found.append(label_new(sites, new, fitted.labelled, plan))
    clear, masked = found
    for name in new.names:
        np.testing.assert_array_equal(clear.own[name].labels, masked.own[name].labels)
        np.testing.assert_allclose(
            clear.own[name].distributions, masked.own[name].distributions, atol=1e-6
        )
