"""Bytes of a round, by what they carry: they add up, and each kind is what it should be."""

import time

import pytest
from federations import graph_plan, make_federation, model_plan, plan

from colabel.engines.costs import by_kind
from colabel.engines.faults import Fault
from colabel.federation.training_plan import Stage
from colabel.jobs.laps import phase_of
from colabel.jobs.train import train_sites
from colabel.learning.parameters import n_bytes
from colabel.learning.terms import CrossEntropy, MeanTeacher, Prototypes

ENVELOPE = 2_000  # at most, of names and numbers around a model


def trained(stage, **settings):
    sites, _ = make_federation()
    return train_sites(sites, plan(stages=(stage,), sites_per_round=4, **settings))


def test_all_bytes_have_a_kind_and_a_site():
    outcome = trained(Stage(rounds=2, labels="graph"), graph=graph_plan(hamming="lattice"))
    costs = outcome.costs
    whole = by_kind(costs.exchanges)
    assert sum(whole.down.values()) == costs.bytes_down()
    assert sum(whole.up.values()) == costs.bytes_up()
    for way, total in (("down", costs.bytes_down), ("up", costs.bytes_up)):
        rounds = [event["bytes"][way] for event in outcome.history]
        assert sum(sum(held.values()) for held in rounds) == total()
        for name in ("site-0", "site-3"):
            own = [event["site_bytes"][name][way] for event in outcome.history]
            assert sum(sum(held.values()) for held in own) == total(name)


def test_a_round_of_fedavg_is_the_model_down_and_up():
    outcome = trained(Stage(rounds=2))
    size = n_bytes(outcome.model)
    for name in ("site-0", "site-1"):
        traffic = outcome.history[1]["site_bytes"][name]
        for way in ("down", "up"):
            assert list(traffic[way]) == ["model"]
            assert size <= traffic[way]["model"] < size + ENVELOPE


@pytest.mark.parametrize("way", ["clear", "lattice", "sketch"])
def test_a_round_of_fedprop_brings_codes_columns_sums_and_perhaps_keys(way):
    outcome = trained(Stage(rounds=2, labels="graph"), graph=graph_plan(hamming=way))
    traffic = outcome.history[1]["bytes"]
    n, labels, unlabelled = 4 * 24, 4 * 6, 4 * 18
    if way == "clear":
        assert 0 <= traffic["up"]["codes"] - n * 256 / 8 < ENVELOPE
    assert traffic["down"]["keys"] > (0 if way == "clear" else 2_000)
    columns = (unlabelled + 4) * labels * 4
    assert 0 <= traffic["down"]["columns"] - columns < 4 * ENVELOPE
    assert traffic["up"]["sums"] > 0
    assert traffic["down"]["sums"] > 0


def test_what_terms_send_is_counted_by_its_name():
    model = model_plan(head=False)
    outcome = trained(Stage(rounds=2, terms=(Prototypes(helpers=2),)), model=model)
    first, second = outcome.history
    row = 4 * 256 + 8
    assert "helpers' prototypes" not in first["bytes"]["down"]
    assert second["site_bytes"]["site-0"]["down"]["helpers' prototypes"] == 2 * 3 * (row + 8)
    assert second["site_bytes"]["site-0"]["up"]["own prototypes"] == 3 * row
    taught = trained(Stage(rounds=2, terms=(CrossEntropy(), MeanTeacher())))
    size = n_bytes(taught.model)
    assert taught.history[1]["site_bytes"]["site-0"]["down"]["teacher"] == size
    assert taught.history[1]["site_bytes"]["site-0"]["up"]["teacher"] == size


def test_of_a_lost_site_only_what_arrived_counts():
    sites, _ = make_federation()
    settings = plan(stages=(Stage(rounds=1),), sites_per_round=4)
    faults = [Fault("site-1", "train", "before"), Fault("site-2", "train", "late")]
    history = train_sites(sites, settings, faults=faults).history
    assert "model" not in history[0]["site_bytes"]["site-1"]["down"]
    assert "model" in history[0]["site_bytes"]["site-2"]["down"]
    assert "model" not in history[0]["site_bytes"]["site-2"]["up"]


def test_masked_sums_bring_keys_beside_the_model():
    traffic = trained(Stage(rounds=1), protection="masked").history[0]["bytes"]
    assert traffic["up"]["keys"] > 0
    assert traffic["up"]["model"] == pytest.approx(traffic["down"]["model"], rel=0.1)


def test_seconds_of_a_round_are_those_of_its_phases():
    sites, _ = make_federation()
    settings = plan(rounds=2, stages=(Stage(rounds=2, labels="graph"),), sites_per_round=4)

    def judge(model, kept, terms):
        time.sleep(0.05)
        return {"accuracy": 0.5}

    started = time.perf_counter()
    outcome = train_sites(sites, settings, judge=judge)
    whole = time.perf_counter() - started
    took = [event["seconds"] for event in outcome.history]
    assert all(lap["judging"] >= 0.05 for lap in took)
    assert all(min(lap["training"], lap["labelling"]) > 0 for lap in took)
    assert sum(sum(lap.values()) for lap in took) <= whole
    trained_at_sites = sum(e.seconds for e in outcome.costs.exchanges if e.step == "train")
    assert sum(lap["training"] for lap in took) == pytest.approx(trained_at_sites, abs=1e-5)
    phases = {"train": "training", "hold": "labelling", "hello": "keys", "influence": "labelling"}
    assert {step: phase_of(step) for step in phases} == phases
