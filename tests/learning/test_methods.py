"""Every method of the table runs, repeats, and is not federated averaging by another name."""

import numpy as np
import pytest
from federations import CLASSES, draw, graph_plan, make_federation, model_plan, plan
from msgspec.structs import replace

from colabel.errors import InputError
from colabel.federation.methods import METHODS, method
from colabel.federation.presets import paper_graph, paper_local
from colabel.federation.training_plan import Stage
from colabel.jobs.train import train_sites
from colabel.learning.parameters import flatten
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.learning.terms import CrossEntropy
from colabel.wire import pack, unpack

SITES, TRUTH = make_federation(unlabelled_sites=1)
ALL, _ = make_federation(n_labels=24)
NONE, _ = make_federation(n_labels=0)
CNN = model_plan(name="small_cnn", norm="batch")


def base(**settings):
    # at a rate of 0.1 the weight of 10 on FedMatch's penalty makes it diverge
    mover = OptimiserPlan(rate=0.05)
    local = LocalPlan(epochs=2, labelled_batch=6, augmentation="translate", optimiser=mover)
    stages = (Stage(rounds=1), Stage(rounds=2))
    defaults = {"model": CNN, "local": local, "stages": stages, "sites_per_round": 4}
    return plan(**(defaults | settings))


def run(name):
    sites = {"sites": SITES, "all": ALL, "server": NONE}[METHODS[name].data]
    own = draw(12, seed=9) if METHODS[name].data == "server" else None
    return flatten(train_sites(sites, method(name, base()), server_points=own).model)


@pytest.fixture(scope="module")
def found():
    return {name: run(name) for name in METHODS}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_runs_and_repeats_to_the_bit(name, found):
    assert np.isfinite(found[name]).all()
    np.testing.assert_array_equal(found[name], run(name))


@pytest.mark.parametrize("name", [name for name in METHODS if name != "fedavg"])
def test_a_method_is_not_another_one(name, found):
    for other in METHODS:
        if other != name and len(found[other]) == len(found[name]):
            assert np.abs(found[name] - found[other]).max() > 1e-6, other


def test_a_plan_of_a_method_travels():
    for name in METHODS:
        made = method(name, base())
        assert unpack(pack(made), type(made)) == made


def test_stages_before_the_last_stay():
    made = method("fedprop", base())
    assert made.stages[0] == Stage(rounds=1)
    assert (made.stages[1].labels, made.stages[1].rounds) == ("graph", 2)


def test_unknown_names_are_told_the_nearest():
    with pytest.raises(InputError, match="Did you mean 'fedprop_mt'"):
        method("fedprop-mt", base())
    with pytest.raises(InputError, match="Did you mean 'paper'"):
        method("fedprop", base(), preset="papr")
    with pytest.raises(InputError, match="Did you mean 'cifar10'"):
        paper_local("cifar-10")


def test_rates_and_batches_of_the_paper():
    local = paper_local()
    assert (local.epochs, local.labelled_batch, local.augmentation) == (5, 50, "translate_flip")
    assert local.optimiser.weight_decay == 2e-4
    rates = [local.optimiser.rate_at(batch, 0) for batch in (10, 49, 50)]
    assert rates == [0.1, 0.1, 0.3]
    assert paper_local("cifar100").optimiser.rate_at(50, 0) == 0.5
    assert paper_local("mini_imagenet").optimiser.rate_at(50, 0) == 1.0
    assert local.optimiser.rate_at(50, 1000) == pytest.approx(0.15)
    assert local.optimiser.rate_at(50, 2000) == pytest.approx(0.0)
    in_code = paper_local(preset="code")
    assert [in_code.optimiser.rate_at(batch, 0) for batch in (10, 20, 50)] == [0.05, 0.1, 0.3]
    assert paper_local("cifar100", preset="code").optimiser.rate_at(50, 0) == 0.3


def test_presets_change_labels_and_what_they_weigh():
    paper, code = (method("fedprop", base(), preset=preset) for preset in ("paper", "code"))
    wanted = paper_graph(CLASSES, seed=bytes(32), hamming="clear")
    assert paper.graph == wanted
    assert (code.graph.sharpness, code.graph.class_weighting) == (3.0, "balanced")
    assert (paper.local.scale_weights, code.local.scale_weights) == (False, True)
    assert paper.stages[1].terms == (CrossEntropy(),)
    assert code.stages[1].terms == (CrossEntropy(class_weights=True),)
    assert code.stages[0] == Stage(rounds=1)
    assert method("fedavg", base(), preset="code").stages[1].terms == (CrossEntropy(),)
    assert method("fedprop", base()).graph == graph_plan()
    runs = [flatten(train_sites(SITES, made).model) for made in (paper, code)]
    assert np.abs(runs[0] - runs[1]).max() > 1e-6


def test_groups_refuse_what_they_cannot_do():
    grouped = replace(base(), averaging="groups", protection="masked", groups=0)
    graph = replace(grouped, stages=(Stage(rounds=1, labels="graph"),))
    with pytest.raises(InputError) as told:
        graph.validate()
    assert len(told.value.problems) == 3
