"""The training conversation as a whole: what a round does, and that each part of it is alive."""

import numpy as np
import pytest
from federations import draw, graph_plan, make_federation, plan

from colabel.engines.faults import Fault
from colabel.errors import Diverged, InputError
from colabel.federation.plan import LabellingPlan
from colabel.federation.training_plan import Stage
from colabel.jobs.train import initial, train_sites
from colabel.learning.judging import Judge
from colabel.learning.parameters import flatten
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.learning.terms import CrossEntropy, MeanTeacher, Proximal, Scaffold


def trained(*stages, faults=(), sites=None, **settings):
    found, truth = make_federation() if sites is None else sites
    return train_sites(found, plan(stages=stages, **settings), truth=truth, faults=faults)


def same(a, b, atol=0.0):
    np.testing.assert_allclose(flatten(a.model), flatten(b.model), atol=atol)


def differs(a, b):
    assert np.abs(flatten(a.model) - flatten(b.model)).max() > 1e-6


def test_a_run_repeats_to_the_bit():
    stages = (Stage(rounds=1), Stage(rounds=2, labels="graph"))
    same(trained(*stages), trained(*stages))
    differs(trained(*stages), trained(*stages, seed=1))


def test_training_helps():
    points, truth = draw(300, seed=5)
    settings = plan(rounds=12, sites_per_round=4)
    judge = Judge(settings.model, points, truth)
    before = judge(initial(settings).model)["accuracy"]
    sites, _ = make_federation()
    outcome = train_sites(sites, settings, judge=judge)
    assert judge(outcome.model)["accuracy"] > max(before, 0.6) + 0.1
    assert outcome.state.best_score == max(e["scores"]["accuracy"] for e in outcome.history)


@pytest.mark.parametrize("labels", ["network", "once", "site", "graph", "joint"])
def test_pseudo_labels_are_used(labels):
    with_labels = trained(Stage(rounds=1), Stage(rounds=2, labels=labels))
    differs(with_labels, trained(Stage(rounds=1), Stage(rounds=2)))
    assert with_labels.history[-1]["pseudo_coverage"] > 0.9
    assert with_labels.history[-1]["pseudo_accuracy"] > 0.4


def test_joint_labels_are_neither_the_graphs_nor_the_networks():
    stages = {labels: Stage(rounds=2, labels=labels) for labels in ("joint", "graph", "network")}
    found = {labels: trained(Stage(rounds=1), stage) for labels, stage in stages.items()}
    differs(found["joint"], found["graph"])
    differs(found["joint"], found["network"])


def test_predictions_may_flow_along_the_graph():
    stages = (Stage(rounds=1), Stage(rounds=2, labels="graph"))
    soft = trained(*stages, graph=graph_plan(seeds="predictions"))
    differs(soft, trained(*stages))
    same(soft, trained(*stages, graph=graph_plan(seeds="predictions", hamming="dealer")))


def test_without_a_model_only_labels_flow():
    from colabel.errors import RemoteProtocolError
    from colabel.jobs.label import label

    sites, _ = make_federation()
    with pytest.raises(RemoteProtocolError, match="no model predicts anything here"):
        label(sites, graph_plan(seeds="predictions"))


def test_once_is_not_every_round():
    once = trained(Stage(rounds=3, labels="once"))
    again = trained(Stage(rounds=3, labels="network"))
    differs(once, again)
    assert [e["step"] for e in _steps(Stage(rounds=3, labels="once"))].count("once") == 1


def _steps(*stages):
    from colabel.engines.local import LocalEngine
    from colabel.federation.training import train
    from colabel.federation.training_role import training_role

    sites, _ = make_federation()
    seen = []
    engine = LocalEngine(sites.sites, training_role(), listen=seen.append)
    settings = plan(stages=stages)
    engine.run(train(sites.names, settings, initial(settings)))
    return [event for event in seen if event["event"] == "step"]


def test_labels_of_the_graph_are_those_of_the_labelling_job():
    """The nested conversation gives what labelling the embeddings alone would give."""
    from colabel.data import Site, Sites
    from colabel.jobs.label import label
    from colabel.learning.models import make
    from colabel.learning.pseudo_labels import embed
    from colabel.learning.work import as_tensor

    sites, _ = make_federation()
    settings = plan(stages=(Stage(rounds=1, labels="graph"),), sites_per_round=4)
    seen = {}
    from colabel.engines.local import LocalEngine
    from colabel.federation.training import train
    from colabel.federation.training_role import training_role

    engine = LocalEngine(
        sites.sites, training_role(lambda name, labels, weights: seen.update({name: labels}))
    )
    engine.run(train(sites.names, settings, initial(settings)))
    network = make(settings.model, settings.seed)
    vectors = [
        Site(s.name, embed(network, as_tensor(s.points), settings.model).numpy(), s.labels)
        for s in sites.sites
    ]
    wanted = label(Sites(tuple(vectors), sites.classes), settings.graph)
    for name in sites.names:
        np.testing.assert_array_equal(seen[name], wanted.own[name].labels)


@pytest.mark.parametrize("term", [MeanTeacher(), Proximal(mu=0.5), Scaffold()])
def test_every_term_changes_the_model(term):
    steps = LocalPlan(steps=4, optimiser=OptimiserPlan(rate=0.05))  # in the first, all is at rest
    stage = Stage(rounds=3, terms=(CrossEntropy(), term))
    differs(trained(stage, local=steps), trained(Stage(rounds=3), local=steps))


@pytest.mark.parametrize("terms", [(), (MeanTeacher(),), (Scaffold(),)])
@pytest.mark.parametrize("labels", ["none", "graph"])
def test_masked_is_the_same_as_in_clear(terms, labels):
    stage = Stage(rounds=2, labels=labels, terms=(CrossEntropy(), *terms))
    same(trained(stage), trained(stage, protection="masked"), atol=2e-5)


@pytest.mark.parametrize("way", ["dealer", "sketch"])
def test_protected_labels_give_the_same_model(way):
    stage = Stage(rounds=2, labels="graph")
    same(trained(stage), trained(stage, graph=graph_plan(hamming=way)))


def test_under_protection_the_server_sees_no_model():
    outcome = trained(Stage(rounds=1, labels="graph"), protection="masked")
    told = {(e.what, e.mechanism) for e in outcome.ledger.seen_by("server")}
    assert not any("model after the round" in what for what, _ in told)
    assert ("the sum of all sites' change of the model", "masked") in told


@pytest.mark.parametrize("moment", ["before", "during", "late"])
@pytest.mark.parametrize("protection", ["none", "masked"])
def test_a_site_lost_in_training_does_not_count(moment, protection):
    stage = Stage(rounds=1)
    settings = {"protection": protection, "sites_per_round": 4}
    got = trained(stage, faults=[Fault("site-2", "train", moment)], **settings)
    sites, truth = make_federation()
    others = type(sites)(tuple(s for s in sites.sites if s.name != "site-2"), sites.classes)
    want = trained(stage, sites=(others, truth), sites_per_round=3)
    same(got, want, atol=2e-5)


def test_all_lost_leaves_the_model_as_it_was():
    faults = [Fault(f"site-{n}", "train", "before") for n in range(4)]
    settings = plan(rounds=1)
    got = trained(Stage(rounds=1), faults=faults)
    np.testing.assert_array_equal(flatten(got.model), flatten(initial(settings).model))


def test_a_site_lost_while_labels_are_made_trains_on_its_own():
    faults = [Fault("site-1", "influence", "late")]
    got = trained(Stage(rounds=1, labels="graph"), faults=faults, sites_per_round=4)
    assert "site-1" in got.history[-1]["came"]
    assert got.history[-1]["pseudo_coverage"] < 1.0


def test_sites_without_labels_take_part_where_they_can():
    sites = make_federation(unlabelled_sites=2)
    asked = trained(Stage(rounds=4), sites=sites, sites_per_round=2).history
    assert {name for e in asked for name in e["sites"]} == {"site-0", "site-1"}
    both = trained(Stage(rounds=4, labels="graph"), sites=sites, sites_per_round=2).history
    for event in both:
        assert len(set(event["sites"]) & {"site-0", "site-1"}) == 1


def test_sites_keep_no_models():
    from colabel.engines.local import LocalEngine
    from colabel.federation.training import train
    from colabel.federation.training_role import training_role

    sites, _ = make_federation()
    engine = LocalEngine(sites.sites, training_role())
    settings = plan(stages=(Stage(rounds=2, labels="graph"),), sites_per_round=4)
    state = engine.run(train(sites.names, settings, initial(settings)))
    model = sum(held.nbytes for held in state.model.values())
    for session in engine.sessions.values():
        assert len(session.save()) < model / 4


def test_every_problem_of_a_plan_is_told():
    wrong = plan(
        stages=(Stage(rounds=1, labels="grap"), Stage(rounds=-1, labels="site")), graph=None
    )
    with pytest.raises(InputError) as told:
        wrong.validate()
    assert len(told.value.problems) == 3
    assert "Did you mean 'graph'" in str(told.value)


def test_the_graph_must_have_the_classes_of_the_model():
    with pytest.raises(InputError, match="the graph has 2 classes, the model 3"):
        plan(graph=LabellingPlan(n_classes=2)).validate()


@pytest.mark.parametrize("protection", ["none", "masked"])
def test_a_model_that_diverges_is_told_with_its_site(protection):
    wild = LocalPlan(steps=20, optimiser=OptimiserPlan(rate=1e6))
    with pytest.raises(Diverged, match=r"at site site-\d .* give a smaller learning rate"):
        trained(Stage(rounds=5), local=wild, protection=protection)


def test_what_a_term_returns_may_not_leave_the_finite_numbers_either(monkeypatch):
    def update(work, terms):
        work.returned["answer"] = {"answer": np.array([np.nan], np.float32)}
        return 0.0

    monkeypatch.setattr("colabel.federation.own_training.local.update", update)
    with pytest.raises(Diverged, match="at site"):
        trained(Stage(rounds=1))


def test_the_cosine_may_begin_anew_with_a_stage():
    def rates(restarts):
        rule = OptimiserPlan(rate=0.1, cosine_rounds=4, restarts=restarts)
        stages = (Stage(rounds=2), Stage(rounds=2))
        found = trained(*stages, local=LocalPlan(epochs=1, optimiser=rule))
        return [event["rate"] for event in found.history]

    half = 0.05 * (1 + 2**-0.5)
    assert rates(restarts=True) == pytest.approx([0.1, half, 0.1, half])
    assert rates(restarts=False) == pytest.approx([0.1, half, 0.05, 0.1 - half])


def test_a_batch_may_hold_more_unlabelled_points():
    from colabel.learning.models import make
    from colabel.learning.pseudo_labels import only_truth
    from colabel.learning.work import Progress, Work, as_tensor, batches, generator

    points, truth = draw(40)
    known = np.where(np.arange(40) < 4, truth, -1)

    def sizes(least):
        work = Work(
            network=make(plan().model),
            model=plan().model,
            plan=LocalPlan(epochs=1, unlabelled_batch=least),
            points=as_tensor(points),
            targets=only_truth(as_tensor(known)),
            labelled=as_tensor(known >= 0),
            batch=2,
            rate=0.1,
            progress=Progress(0, 1),
            generator=generator(0),
        )
        steps = list(batches(work, use_unlabelled=True))
        return len(steps), {(len(step.labelled), len(step.unlabelled)) for step in steps}

    assert sizes(0) == (18, {(2, 2)})
    assert sizes(9) == (4, {(2, 9)})
