"""`colabel train` and `colabel reproduce`."""

import json

import pytest

DIGITS = """
title = "Digits at four sites"
[data]
name = "digits"
points = 400
validation = 100
test = 200
[split]
sites = 4
labels = 80
[model]
name = "mlp_head"
[method]
name = "fedprop"
preset = "paper"
[training]
warm_up = 1
rounds = 3
sites_per_round = 3
judge_every = 2
[local]
epochs = 1
labelled_batch = 10
optimiser.rate = 0.05
[graph]
n_bits = 256
[scale.cpu]
training.rounds = 1
"""
TABLE = (
    DIGITS
    + """
[[row]]
name = "FedAvg"
method.name = "fedavg"
paper = [[55.46, 0.43]]
[[row]]
name = "FedProp"
"""
)


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "digits.toml"
    path.write_text(DIGITS)
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(TABLE)
    return path


def test_training_says_first_what_it_costs_and_reveals(shell, recipe):
    result = shell("train", recipe, "--out", "run")
    assert result.exit_code == 0, result.stderr
    for said in (
        "4 sites, 4 rounds with 3 of them: about",
        "Will go to the server: ",
        "each site's model after the round",
        "Will go to each site: the model",
    ):
        assert said in result.stderr
    assert "Kept: the model after round" in result.stdout
    assert "Report: run/report.html" in result.stdout


def test_the_answer_for_programs(shell, recipe):
    answer = shell.json("train", recipe, "--out", "run", "--scale", "cpu", "--seed", 5)
    assert (answer["n_rounds"], answer["scale"], answer["seed"]) == (2, "cpu", 5)
    assert answer["test"].keys() == {"kept model", "last model"}
    assert 0.5 < answer["expected"]["bytes_up"] / answer["bytes_up"] < 2
    assert {"what", "to", "mechanism"} == set(answer["reveals"][0])


def test_keys_may_be_set_and_mistakes_are_named(shell, recipe):
    answer = shell.json("train", recipe, "--out", "run", "--set", "training.rounds=1",
                        "--set", "method.name=fedavg")  # fmt: skip
    assert (answer["n_rounds"], answer["method"]) == (2, "fedavg")
    wrong = shell("train", recipe, "--out", "other", "--set", "trainng.rounds=1")
    assert wrong.exit_code == 1
    assert "there is no key trainng. Did you mean 'training'?" in wrong.stderr
    assert "already" in shell("train", recipe, "--out", "run").stderr


def test_what_is_interrupted_goes_on(shell, recipe, monkeypatch, tmp_path):
    from colabel.runs import RunFolder

    whole = shell.json("train", recipe, "--out", "whole", "--seed", 7)
    listen = RunFolder.listen

    def interrupted(self, event):
        listen(self, event)
        if event.get("round") == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "listen", interrupted)
        broken = shell("train", recipe, "--out", "run", "--seed", 7)
    assert broken.exit_code == 130
    assert json.loads((tmp_path / "run/run.json").read_text())["status"] == "interrupted"
    answer = shell.json("train", recipe, "--resume", "run")  # the seed is that of the run
    assert 0 < answer["expected"]["bytes_up"] < whole["expected"]["bytes_up"]
    assert answer["test"] == whole["test"]
    assert answer["n_rounds"] == 4
    again = shell("train", recipe, "--resume", "run")
    assert again.exit_code == 1
    assert "is finished" in again.stderr
    both = shell("train", recipe, "--resume", "run", "--out", "x")
    assert "two folders" in both.stderr


def test_privacy_before_and_after(shell, recipe):
    pytest.importorskip("dp_accounting")
    result = shell(
        "train", recipe, "--out", "run", "--set", "method.name=fedavg",
        "--set", "training.protection=masked", "--set", "privacy={clip=1.0, noise=5.0}",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "will spend ε = " in result.stderr
    assert "Spent: ε = " in result.stdout


def test_a_cell_of_a_table(shell, table):
    assert "has 2 runs" in shell("train", table).stderr
    answer = shell.json("train", table, "--cell", "FedAvg", "--out", "run")
    assert answer["cell"] == "FedAvg"


def test_a_table_beside_the_papers(shell, table, tmp_path):
    answer = shell.json("reproduce", table, "--seeds", 2)
    first, second = answer["cells"]
    assert (first["paper"], second["paper"]) == ([55.46, 0.43], [])
    assert (first["seeds"], first["diverged"]) == (2, 0)
    assert first["mean"] > 20
    lines = (tmp_path / answer["out"]).read_text().splitlines()
    assert len(lines) == 4
    shown = shell("reproduce", table, "--seeds", 2, "--cells", "fedavg")
    assert "55.5 ± 0.4" in shown.stdout
    assert f"{first['mean']:.1f} ± {first['sd']:.1f}" in shown.stdout
    assert (tmp_path / answer["out"]).read_text().splitlines() == lines


def test_everything_is_listed(shell):
    answer = shell.json("reproduce", "--list")
    listed = {one["name"]: one for one in answer["tables"]}
    assert listed["xclp-table4"]["cells"] == 56
    assert set(listed["xclp-table5"]["minutes"]) == {"cpu", "full"}
    assert listed["xclp-table1"]["command"] == "python -m bench.ham10000"
    assert listed["fedct-table1"]["status"] == "command"
    assert listed["fedct-table8"]["status"] == "none"
    assert "xclp-table4" in shell("reproduce", "--list").stdout


def test_tables_that_other_commands_make(shell):
    answer = shell.json("reproduce", "xclp-table6")
    assert answer["command"] == "python -m bench.writers"
    assert [33.74, 0.20] in [cell["paper"] for cell in answer["cells"]]
    assert "Run in a checkout" in shell("reproduce", "xclp-table6").stdout
    never = shell("reproduce", "fedct-table8")
    assert never.exit_code == 1
    assert "chest X-rays" in never.stderr


def test_tables_that_there_are_not(shell):
    assert "Did you mean 'xclp-table4'?" in shell("reproduce", "xclp-tabel4").stderr
    assert shell("reproduce").exit_code == 1
