"""The server trains on points of its own, after the sites or beside them; means within groups."""

import numpy as np
import pytest
from federations import draw, make_federation, model_plan, plan
from msgspec.structs import replace

from colabel.data import Site, Sites
from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import InputError
from colabel.federation.groups import deal
from colabel.federation.methods import method
from colabel.federation.own_training import Train
from colabel.federation.training import State, train
from colabel.federation.training_plan import Stage
from colabel.federation.training_role import training_role
from colabel.jobs.train import initial, train_sites
from colabel.learning.aggregation import mean, means_of_groups
from colabel.learning.at_server import ServerWork
from colabel.learning.judging import Judge
from colabel.learning.parameters import flatten
from colabel.learning.plan import LocalPlan, OptimiserPlan, ServerPlan
from colabel.learning.terms import FixMatch

OWN = draw(15, seed=9)
LOCAL = LocalPlan(epochs=2, labelled_batch=5, optimiser=OptimiserPlan(rate=0.1))


def settings(turn="after", **others):
    server = ServerPlan(turn=turn, local=LOCAL)
    return plan(**({"rounds": 1, "server": server, "sites_per_round": 4} | others))


def trained(plan_, faults=(), points=OWN, sites=None):
    found = sites or make_federation()[0]
    return train_sites(found, plan_, server_points=points, faults=faults)


def same(a, b, atol=1e-6):
    np.testing.assert_allclose(flatten(a), flatten(b), atol=atol)


def server_work(plan_):
    return ServerWork(plan_.server, plan_.model, *OWN, seed=plan_.seed)


@pytest.mark.parametrize("protection", ["none", "masked"])
def test_after_the_server_trains_on_from_the_sites_mean(protection):
    wanted = settings(protection=protection)
    sites_only = trained(replace(wanted, server=None), points=None).model
    same(trained(wanted).model, server_work(wanted)(sites_only, 0), atol=2e-5)


@pytest.mark.parametrize("protection", ["none", "masked"])
def test_beside_the_server_counts_as_one_site(protection):
    wanted = settings("beside", protection=protection)
    sites_only = trained(replace(wanted, server=None), points=None).model
    own = server_work(wanted)(initial(wanted).model, 0)
    same(trained(wanted).model, mean([sites_only, own], [4.0, 1.0]), atol=2e-5)


@pytest.mark.parametrize("turn", ["after", "beside"])
@pytest.mark.parametrize("averaging", ["equal", "groups"])
def test_without_sites_the_server_still_trains(turn, averaging):
    wanted = settings(turn, averaging=averaging)
    faults = [Fault(f"site-{n}", "train", "before") for n in range(4)]
    same(trained(wanted, faults).model, server_work(wanted)(initial(wanted).model, 0))


def test_the_server_learns_something_new_in_every_round():
    work, start = server_work(settings()), initial(settings()).model
    once, again, other = work(start, 0), work(start, 0), work(start, 1)
    np.testing.assert_array_equal(flatten(once), flatten(again))
    assert np.abs(flatten(once) - flatten(other)).max() > 1e-6


def test_the_servers_rate_falls_along_its_own_cosine():
    mover = OptimiserPlan(rate=0.1, cosine_rounds=10)
    wanted = settings(server=ServerPlan(local=replace(LOCAL, optimiser=mover)))
    start = initial(wanted).model
    same(server_work(wanted)(start, 10), start, atol=0)


def test_points_of_the_server_and_the_plan_must_agree():
    with pytest.raises(InputError, match="no labelled points"):
        trained(settings(), points=None)
    with pytest.raises(InputError, match="no labelled points"):
        trained(settings(), points=(OWN[0], np.full(15, -1)))
    with pytest.raises(InputError, match="no use for the server's points"):
        trained(plan(), points=OWN)


def noisy(points, seed):
    """Rows of columns, of which a few labels say too little."""
    noise = np.random.default_rng(seed).normal(0, 2, points.shape).astype(np.float32)
    return (points + noise).reshape(len(points), -1)


def test_sites_without_labels_help_semifl():
    """On points that nobody has seen, the model is better than what the server learns alone."""
    points, truth = draw(400, seed=5)
    model = model_plan(shape=(64,))
    judge = Judge(model, noisy(points, 100), truth)
    gains = []
    for seed in range(3):
        own = draw(9, seed=8 + seed)
        own = noisy(own[0], 101 + seed), own[1]
        sites, _ = make_federation(n_labels=0, n_points=60, seed=seed)
        drawn = [
            Site(site.name, noisy(site.points, 200 + 10 * seed + number), site.labels)
            for number, site in enumerate(sites.sites)
        ]
        base = settings(
            model=model,
            stages=(Stage(rounds=8), Stage(rounds=12)),
            local=LocalPlan(epochs=2, labelled_batch=10, optimiser=OptimiserPlan(rate=0.03)),
        )
        made = method("semifl", base)
        alone, work = initial(made).model, ServerWork(made.server, made.model, *own)
        for number in range(made.rounds):
            alone = work(alone, number)
        outcome = trained(made, points=own, sites=Sites(tuple(drawn), sites.classes))
        gains.append(judge(outcome.model)["accuracy"] - judge(alone)["accuracy"])
    assert np.mean(gains) > 0.05, gains


def test_batches_of_sites_where_nobody_has_labels_are_of_the_plans_size():
    sites, _ = make_federation(n_labels=0)
    stage = Stage(rounds=1, terms=(FixMatch(threshold=0.1),))
    local = LocalPlan(epochs=1, labelled_batch=8)
    wanted = plan(stages=(stage,), local=local)
    engine, seen = LocalEngine(sites.sites, training_role()), []
    engine._exchange = spy(engine._exchange, seen)
    engine.run(train(sites.names, wanted, initial(wanted)))
    assert {message.batch for message in seen if isinstance(message, Train)} == {8}


def spy(exchange, seen):
    def spied(name, step, number, message):
        seen.append(message)
        return exchange(name, step, number, message)

    return spied


def test_groups_are_even_and_dealt_anew():
    wanted = plan(averaging="groups", groups=3)
    names = [f"s{n}" for n in range(8)]
    dealt = [deal(wanted, names, number) for number in range(4)]
    for groups in dealt:
        assert sorted(np.bincount(list(groups.values()))) == [2, 3, 3]
    assert any(dealt[0] != other for other in dealt[1:])
    assert set(deal(plan(), names, 0).values()) == {0}


def test_means_of_groups():
    models = {
        name: {"w": np.full(2, value, np.float32)}
        for name, value in zip("abc", (1, 2, 6), strict=True)
    }
    weights, groups = {"a": 1.0, "b": 1.0, "c": 3.0}, {"a": 1, "b": 0, "c": 1, "lost": 2}
    found = means_of_groups(models, weights, groups)
    assert found.keys() == {0, 1}
    np.testing.assert_allclose([found[0]["w"][0], found[1]["w"][0]], [2.0, 4.75])


def test_a_site_begins_with_the_model_of_its_group():
    """Two rounds with groups, replayed by hand from single sites' runs."""
    wanted = plan(rounds=2, averaging="groups", sites_per_round=4)
    sites, _ = make_federation()
    models, outcome = [initial(wanted).model] * 2, train_sites(sites, wanted)
    for number in range(2):
        dealt, after = deal(wanted, sites.names, number), {}
        for group in range(2):
            members = [name for name in sites.names if dealt[name] == group]
            after[group] = mean(
                [_one(sites, name, wanted, models[group], number) for name in members], [1.0] * 2
            )
        models = [after[0], after[1]]
    same(outcome.model, mean(models, [1.0, 1.0]))
    assert {"group 0", "group 1"} <= outcome.state.kept.keys()
    assert np.abs(flatten(models[0]) - flatten(models[1])).max() > 1e-4


def _one(sites, name, wanted, model, number):
    start = State(model, round=number)
    stages = (Stage(rounds=number), Stage(rounds=1))
    alone = replace(wanted, averaging="equal", stages=stages)
    others = [Fault(other, "train", "before") for other in sites.names if other != name]
    return train_sites(sites, alone, state=start, faults=others).model


def test_a_group_that_is_lost_keeps_its_model():
    wanted = plan(rounds=1, averaging="groups", sites_per_round=4)
    sites, _ = make_federation()
    dealt = deal(wanted, sites.names, 0)
    faults = [Fault(name, "train", "before") for name in sites.names if dealt[name] == 1]
    kept = train_sites(sites, wanted, faults=faults).state.kept
    same(kept["group 1"], initial(wanted).model, atol=0)
    assert np.abs(flatten(kept["group 0"]) - flatten(kept["group 1"])).max() > 1e-4


def test_one_group_is_the_mean_of_all():
    one = plan(averaging="groups", groups=1)
    sites, _ = make_federation()
    same(train_sites(sites, one).model, train_sites(sites, plan()).model)
