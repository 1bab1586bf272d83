"""What a run will cost, against what it did cost."""

import numpy as np
import pytest

from colabel.data.site import Site, Sites
from colabel.federation.cost import cost
from colabel.federation.plan import LabellingPlan
from colabel.jobs.label import followed, label
from colabel.protocols.hamming import WAYS
from colabel.protocols.keys import Group, Welcome
from consortia import make_sites

SETTINGS = {
    "default": {},
    "shortest": {"features": "identity", "confidence": "entropy", "n_bits": 9},
    "longest": {"n_neighbors": "auto", "alpha": "auto", "seed": b"s" * 32, "keep_labels": False},
}


def sizes_of(sites):
    return Group(
        {s.name: Welcome(len(s), int(s.labelled.sum()), s.points.shape[1]) for s in sites.sites}
    )


def check(sites, **settings):
    """Promised bytes and steps are the measured ones; not one is forgotten."""
    plan = LabellingPlan(n_classes=len(sites.classes), **settings)
    promised = cost(sizes_of(sites), followed(plan, len(sites)))
    costs = label(sites, plan).costs
    assert promised.bytes_up == costs.bytes_up()
    assert promised.bytes_down == costs.bytes_down()
    assert promised.steps == costs.steps
    assert promised.seconds > 0


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("way", [way for way in WAYS if way != "paillier"])
def test_the_whole_run_costs_what_was_said(way, settings):
    check(make_sites(3, 11), hamming=way, **({"n_bits": 70} | SETTINGS[settings]))


def test_the_whole_run_with_real_paillier_keys():
    check(make_sites(2, 3, n_labels=2), hamming="paillier", n_bits=2)


def test_one_label_leaves_nothing_to_try():
    first, second = make_sites(2, 6, n_labels=1).sites
    sites = Sites((first, Site(second.name, second.points, np.full(6, -1))), ("0", "1", "2"))
    check(sites, hamming="sketch", n_bits=70)


def test_many_labels_of_which_some_are_tried():
    check(make_sites(2, 262, n_labels=260), hamming="sketch", n_bits=70)


def test_a_site_that_is_alone_pays_for_no_protection():
    check(make_sites(1, 20), hamming="lattice", n_bits=70)


def test_more_steps_than_one_byte_counts(monkeypatch):
    """Step numbers from 128 on take a byte more, those from 256 on two."""
    from colabel.protocols.hamming import ot

    monkeypatch.setattr(ot.OtHamming.__init__, "__defaults__", (40,))
    sites = make_sites(2, 12)
    assert cost(sizes_of(sites), LabellingPlan(n_classes=3, hamming="ot", n_bits=60)).steps > 300
    check(sites, hamming="ot", n_bits=60)


def test_ways_differ_in_what_they_cost():
    """The estimate must tell hours from seconds; it does not depend on the machine for that."""
    group = Group({f"site-{i}": Welcome(500, 50, 100) for i in range(5)})
    seconds = {
        way: cost(group, LabellingPlan(n_classes=10, hamming=way)).seconds
        for way in ("paillier", "ot", "lattice", "clear")
    }
    assert list(seconds) == sorted(seconds, key=seconds.get, reverse=True)
    assert seconds["paillier"] > 100 * seconds["lattice"]


def test_sizes_without_bounds_take_no_memory():
    group = Group({f"site-{i}": Welcome(10**6, 10**5, 100) for i in range(3)})
    for way in WAYS:
        assert cost(group, LabellingPlan(n_classes=10, hamming=way)).bytes_up > 10**6
