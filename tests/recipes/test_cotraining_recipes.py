"""Recipes of co-training: read strictly, dealt by the seed, run into a folder with its report."""

import json

import pytest
from click.testing import CliRunner

from colabel.cli.group import main
from colabel.errors import InputError
from colabel.recipes.cotraining import checked, read_cotraining, ready
from colabel.recipes.cotraining_run import cotrain, said_of_privacy

WORDS = {
    "title": "Digits",
    "data": {"name": "digits", "points": 120, "public": 400, "test": 300},
    "split": {"sites": 3},
    "learners": {"kind": "random_forest"},
    "cotraining": {"rounds": 2, "votes": "clear"},
}
TOML = """
title = "Digits"
data = { name = "digits", points = 120, public = 400, test = 300 }
split = { sites = 3 }
learners = { kinds = ["decision_tree", "logistic", "random_forest"] }
cotraining = { rounds = 2 }
"""


def with_changes(**changes):
    return checked({**WORDS, **changes})


def test_it_is_better_together():
    results, outcome = cotrain(ready(with_changes(), 0))
    assert results.accuracy > results.alone
    assert len(results.turns) == 2
    assert results.turns[0].right > 0.8
    assert results.bytes_up < 400 / 2 + 200
    assert outcome.result.consensus.shape == (400,)


def test_networks_need_a_model_and_learn():
    recipe = with_changes(
        learners={"kind": "network"},
        model={"name": "mlp_head", "norm": "none"},
        cotraining={"rounds": 60, "period": 20, "votes": "clear"},
        local={"labelled_batch": 16, "optimiser": {"name": "adam", "rate": 0.003}},
    )
    results, _ = cotrain(ready(recipe, 0))
    assert len(results.turns) == 3
    assert results.accuracy > 0.6
    with pytest.raises(InputError, match=r"no \[model\]"):
        with_changes(learners={"kind": "network"})


def test_everything_wrong_is_said_at_once():
    with pytest.raises(InputError) as caught:
        with_changes(learners={"kinds": ["tree", "logistic"]}, run={"delta": 2})
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError, match="Did you mean"):
        checked({**WORDS, "cotrainin": {}})


def test_more_points_than_there_are():
    recipe = with_changes(data={"name": "digits", "points": 120, "public": 4000, "test": 3})
    with pytest.raises(InputError, match="4,000"):
        ready(recipe, 0)


def test_noise_is_warned_of_or_refused():
    privacy = {"mechanism": "xor", "epsilon": 0.1, "sensitivity": 300}
    lines = said_of_privacy(ready(with_changes(privacy=privacy), 0))
    assert any("warning" in line for line in lines)
    refused = with_changes(privacy=privacy, run={"noise": "refuse"})
    with pytest.raises(InputError, match="noise"):
        said_of_privacy(ready(refused, 0))


@pytest.mark.parametrize("mechanism", ["xor", "response", "counts"])
def test_mechanisms_at_work(mechanism):
    privacy = {"mechanism": mechanism, "epsilon": 4000.0, "sensitivity": "worst"}
    votes = {"rounds": 1, "votes": "masked"}
    nearly_clean = with_changes(privacy=privacy, cotraining=votes)
    loud = with_changes(privacy={**privacy, "epsilon": 0.5}, cotraining=votes)
    clean = with_changes(cotraining=votes)
    right = [cotrain(ready(each, 0))[0].turns[0].right for each in (clean, nearly_clean, loud)]
    assert right[1] > right[0] - 0.1
    assert right[2] < 0.3


def test_the_command_leaves_a_run(tmp_path):
    recipe, out = tmp_path / "digits.toml", tmp_path / "run"
    recipe.write_text(TOML)
    assert read_cotraining(recipe).learners.kinds[1] == "logistic"
    done = CliRunner().invoke(main, ["cotrain", str(recipe), "--out", str(out), "--json"])
    said = json.loads(done.stdout)
    assert said["ok"] if "ok" in said else said["accuracy"] > 0.5
    for name in ("run.json", "events.jsonl", "ledger.json", "results.json", "report.html"):
        assert (out / name).is_file()
    page = (out / "report.html").read_text()
    assert "logistic" in page
    assert "Who learnt what" in page
    again = CliRunner().invoke(main, ["cotrain", str(recipe), "--out", str(out)])
    assert again.exit_code == 1


def test_foretold_is_what_the_ledger_has():
    from colabel.federation.cotraining_reveals import cotraining_reveals

    for votes in ("clear", "masked"):
        made = ready(with_changes(cotraining={"rounds": 2, "votes": votes}), 0)
        _, outcome = cotrain(made)
        told = {(one.what, one.to, one.mechanism) for one in cotraining_reveals(made.plan)}
        assert {(e.what, e.to, e.mechanism) for e in outcome.ledger} == told
