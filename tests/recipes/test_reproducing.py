"""Tables run by run: results on file, nothing twice, the paper beside ours."""

import pytest
from kitchen import a_source

from colabel.errors import InputError
from colabel.recipes.reproducing import (
    Task,
    chosen_cells,
    compare,
    in_words,
    outcomes_in,
    run_cells,
)

ROWS = [
    {"name": "FedAvg", "method": {"name": "fedavg"}, "paper": [[55.5, 0.4]]},
    {"name": "FedProp", "method": {"name": "fedprop"}},
]


def table(**changes):
    return a_source("table", training={"rounds": 2, "warm_up": 1}, row=ROWS, **changes)


def run(source, path, seeds=(0,), events=None, stop_at=None):
    told = []

    def starting(task, made):
        told.append((task.cell.name, task.seed))

        def listen(event):
            if (len(told), event.get("round")) == stop_at:
                raise KeyboardInterrupt

        return listen

    cells = chosen_cells(source, "cpu", (), ())
    tasks = [Task(cell, seed) for seed in seeds for cell in cells]
    found = list(run_cells(source, tasks, "cpu", path, starting=starting))
    return cells, found, told


def test_results_come_with_the_papers_figures(tmp_path):
    source = table()
    cells, found, told = run(source, tmp_path / "t.jsonl", seeds=(0, 1))
    assert told == [(name, seed) for seed in (0, 1) for name in ("FedAvg", "FedProp")]
    first, second = compare(source, cells, found)
    assert (first.paper, second.paper) == ((55.5, 0.4), ())
    assert (first.n_seeds, first.n_diverged) == (2, 0)
    own = [100 * one.accuracy for one in found if one.cell == "FedAvg"]
    assert first.mean == pytest.approx(sum(own) / 2)
    assert first.sd == pytest.approx(abs(own[0] - own[1]) / 2**0.5)


def test_what_is_there_is_not_run_again_unless_settings_change(tmp_path):
    path = tmp_path / "t.jsonl"
    _, first, _ = run(table(), path)
    _, again, told = run(table(), path)
    assert again == first
    assert not told
    _, _, told = run(table(), path, seeds=(0, 1))
    assert told == [("FedAvg", 1), ("FedProp", 1)]
    _, other, told = run(table(local={"epochs": 2}), path)
    assert len(told) == 2
    assert other != first


def test_it_goes_on_in_the_middle_of_a_run(tmp_path):
    whole = run(table(), tmp_path / "whole.jsonl")[1]
    path = tmp_path / "t.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run(table(), path, stop_at=(2, 1))
    assert [one.cell for one in outcomes_in(path)] == ["FedAvg"]
    assert (tmp_path / "t.checkpoint.safetensors").is_file()
    _, found, told = run(table(), path)
    assert told == [("FedProp", 0)]
    assert [one.accuracy for one in found] == [one.accuracy for one in whole]
    assert [one.best_round for one in found] == [one.best_round for one in whole]
    assert not (tmp_path / "t.checkpoint.safetensors").exists()


def test_a_line_that_was_cut_short_is_made_again(tmp_path):
    path = tmp_path / "t.jsonl"
    run(table(), path)
    path.write_bytes(path.read_bytes()[:-20])
    assert [one.cell for one in outcomes_in(path)] == ["FedAvg"]
    assert run(table(), path)[2] == [("FedProp", 0)]


def test_a_broken_line_in_the_middle_is_named(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n{}\n')
    with pytest.raises(InputError, match="line 1 is no result"):
        outcomes_in(path)


def test_a_model_that_diverges_is_counted(tmp_path):
    source = table(local={"optimiser": {"rate": 1e30}})
    cells, found, _ = run(source, tmp_path / "t.jsonl")
    assert [one.accuracy for one in found] == [None, None]
    assert compare(source, cells, found)[0].n_diverged == 1


def test_cells_are_chosen_by_their_names_and_checked_first(tmp_path):
    assert [c.row for c in chosen_cells(table(), "cpu", (), ("prop",))] == ["FedProp"]
    with pytest.raises(InputError, match="no cell of table has 'x'"):
        chosen_cells(table(), "cpu", (), ("x",))
    with pytest.raises(InputError, match=r"method.name is 'fedpop'"):
        chosen_cells(table(), "cpu", ("method.name=fedpop",), ())


def test_figures_in_words():
    assert [in_words(f) for f in ((), (50.0,), (50.0, 1.25))] == ["–", "50.0", "50.0 ± 1.2"]
