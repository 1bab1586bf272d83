"""From recipes to plans."""

import pytest
from kitchen import a_source

from colabel.errors import InputError
from colabel.federation.methods import METHODS
from colabel.recipes.building import make_plan, problems_of_names, ready
from colabel.recipes.reading import recipe


def made(seed=0, **changes):
    wanted = recipe(a_source(**changes).cell(None))
    assert not problems_of_names(wanted)
    return make_plan(wanted, (64,), 10, seed)


def test_the_preset_is_followed_and_refined():
    plan = made()
    assert (plan.graph.n_neighbors, plan.graph.alpha, plan.graph.n_bits) == (10, 0.99, 256)
    assert plan.graph.class_weighting == "none"
    assert [stage.labels for stage in plan.stages] == ["none", "graph"]
    assert [stage.rounds for stage in plan.stages] == [2, 4]
    in_code = made(method={"preset": "code"})
    assert (in_code.graph.sharpness, in_code.graph.class_weighting) == (3.0, "balanced")
    assert in_code.local.scale_weights


def test_hyperplanes_are_public_unless_they_are_secret():
    assert made().graph.seed == made(seed=1).graph.seed
    assert made(run={"hyperplanes": 1}).graph.seed != made().graph.seed
    assert made(run={"hyperplanes": "secret"}).graph.seed is None


def test_terms_are_changed_where_they_are_used():
    plan = made(method={"name": "protofssl_fedprox"}, training={"warm_up": 0},
                terms={"prototypes": {"noise": 0.1}, "proximal": {"mu": 1e-3}})  # fmt: skip
    assert plan.stages[-1].terms[0].noise == 0.1
    assert plan.stages[-1].terms[1].mu == 1e-3


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_asked_for(name):
    settings = {"method": {"name": name}}
    if name.startswith("protofssl"):
        settings["training"] = {"warm_up": 0}
    plan = made(**settings, model={"name": "resnet9"})
    assert plan.rounds == 4 + settings.get("training", {"warm_up": 2})["warm_up"]


def test_all_wrong_names_come_at_once_and_before_the_data():
    wrong = recipe(
        a_source(
            data={"name": "not there"}, method={"name": "fedporp"}, model={"name": "resnet99"},
            terms={"prototype": {}, "meanteacher": {"deccay": 0.9}},
        ).cell(None)
    )  # fmt: skip
    with pytest.raises(InputError) as caught:
        ready(wrong, 0)
    said = " ".join(str(problem) for problem in caught.value.problems)
    for hint in ("'fedprop'", "'resnet9'", "'prototypes'", "'decay'"):
        assert f"Did you mean {hint}?" in said
    assert len(caught.value.problems) == 4


def test_a_term_that_the_method_does_not_have_is_refused():
    wrong = recipe(a_source(terms={"meanteacher": {"decay": 0.9}}).cell(None))
    assert "changes nothing" in str(problems_of_names(wrong)[0])


def test_what_is_wrong_with_the_plan_is_said():
    with pytest.raises(InputError, match=r"2 problems:\n.*masked"):
        made(privacy={"clip": 1.0, "noise": 1.0})
