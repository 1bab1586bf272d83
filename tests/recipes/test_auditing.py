"""`colabel audit`: overfitted learners are found out, what shows nothing is not, runs are left."""

import json

import pytest
from click.testing import CliRunner

from colabel.cli.group import main
from colabel.errors import InputError
from colabel.recipes.auditing import audit_run
from colabel.recipes.keys import dotted, nested

DIGITS = """
title = "Digits"
data = { name = "digits", points = 300, public = 300, test = 500 }
split = { sites = 3 }
learners = { kind = "decision_tree" }
cotraining = { rounds = 2, votes = "clear" }
"""
TRAINED = """
title = "Digits"
data = { name = "digits", points = 60, test = 500 }
split = { sites = 3, label_fraction = 1.0 }
model = { name = "mlp_head", norm = "none" }
method = { name = "fedavg" }
training = { rounds = 60, sites_per_round = 3 }
local = { epochs = 20, labelled_batch = 20, optimiser = { name = "adam", rate = 0.003 } }
"""


def run(tmp_path, verb, text):
    recipe, folder = tmp_path / "recipe.toml", tmp_path / "run"
    recipe.write_text(text)
    done = CliRunner().invoke(main, [verb, str(recipe), "--out", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


def test_a_cotrained_run(tmp_path):
    folder = run(tmp_path, "cotrain", DIGITS)
    done = CliRunner().invoke(main, ["audit", str(folder), "--candidates", "100", "--json"])
    said = json.loads(done.stdout)
    found = said["audit"]["methods"][0]["findings"][0]
    assert found["auc"] > 0.55  # a tree that knows its points by heart
    assert (folder / "audit.json").is_file()
    assert (folder / "audit.svg").read_text().lstrip().startswith("<?xml")


def test_noise_hides_who_was_there(tmp_path):
    noisy = DIGITS + 'privacy = { mechanism = "response", epsilon = 3.0 }\n'
    found = audit_run(run(tmp_path, "cotrain", noisy), candidates=100).methods[0]
    assert abs(found.strongest.auc - 0.5) < 0.09


def test_a_trained_model_that_knows_its_points_by_heart(tmp_path):
    found = audit_run(run(tmp_path, "train", TRAINED), candidates=60)
    assert {one.exposes for one in found.methods[0].findings} == {"updates", "scores"}
    assert found.methods[0].strongest.auc > 0.6


def test_other_runs_are_refused(tmp_path):
    with pytest.raises(InputError):
        audit_run(tmp_path)
    folder = run(tmp_path, "cotrain", DIGITS)
    record = json.loads((folder / "run.json").read_text())
    record["inputs"]["site-1"] = "other"
    (folder / "run.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="not those of the run"):
        audit_run(folder)


def test_settings_become_a_recipe_again():
    data = {"a": {"b": 1, "c": {"d": [2]}}, "x": "y"}
    assert dotted({**data, "none": None}) == {"a.b": 1, "a.c.d": [2], "x": "y"}
    assert nested(dotted(data)) == data
