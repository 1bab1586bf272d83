"""Recipes as they are written: what is refused, what wins, what a table consists of."""

import pytest
from kitchen import TEXT, a_source, words

from colabel.errors import InputError
from colabel.recipes.reading import merge, read, recipe, setting, source
from colabel.recipes.shipped import find


def refused(problem_with, call):
    with pytest.raises(InputError) as caught:
        call()
    return [str(problem) for problem in caught.value.problems if problem_with in str(problem)]


def only(made, scale="full", changes=()):
    return recipe(made.cell(None, scale, changes))


def test_a_recipe_is_read_with_its_defaults(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(TEXT)
    found = only(find(str(path)))
    assert (found.data.name, found.data.points, found.split.sites) == ("digits", 400, 4)
    assert found.local.optimiser.rate == 0.05
    assert found.local.optimiser.name == "sgd"
    assert found.run.seeds == (0, 1, 2)


def test_all_unknown_keys_are_named_at_once_with_what_was_meant():
    wrong = words(
        trainig={"rounds": 3},
        data={"nmae": "digits"},
        local={"optimiser": {"rat": 0.1}},
        graph={"neighbours": 3},
        scale={"cpu": {"training": {"runds": 3}}, "gpu": {}},
        row=[{"name": "a", "method": {"nam": "fedavg"}}],
    )
    with pytest.raises(InputError) as caught:
        source("mine", wrong)
    said = [str(problem) for problem in caught.value.problems]
    for key, hint in (
        ("trainig", "training"),
        ("data.nmae", "name"),
        ("local.optimiser.rat", "rate"),
        ("graph.neighbours", "n_neighbors"),
        ("scale.cpu.training.runds", "rounds"),
        ("row a: method.nam", "name"),
    ):
        assert f"there is no key {key}. Did you mean {hint!r}?" in said
    assert "there is no key scale.gpu. Did you mean 'cpu'?" in said
    assert len(said) == 7


def test_all_wrong_values_are_named_at_once():
    made = a_source()
    changes = ["training.rounds=many", "split.sites=2.5", 'local.optimiser.name="sdg"']
    with pytest.raises(InputError) as caught:
        recipe(made.cell(None, "full", changes))
    said = " ".join(str(problem) for problem in caught.value.problems)
    assert len(caught.value.problems) == 3
    assert all(text in said for text in ("training.rounds is 'many'", "split.sites is 2.5", "sdg"))


def test_what_is_missing_is_named():
    less = words()
    del less["method"], less["data"]["name"]
    assert refused("method is missing", lambda: only(source("mine", less)))
    assert refused("data.name is missing", lambda: only(source("mine", less)))


def test_a_file_that_is_no_toml_or_not_there(tmp_path):
    path = tmp_path / "mine.toml"
    assert refused("cannot be read", lambda: read(path))
    path.write_text("[data\n")
    assert refused("is no TOML file", lambda: read(path))
    assert refused("Did you mean 'xclp-table4'?", lambda: find("xclp-tabel4"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.b=3", {"a": {"b": 3}}),
        ("a.b=cifar10", {"a": {"b": "cifar10"}}),
        ('a="x y"', {"a": "x y"}),
        ("a=[1, 2]", {"a": [1, 2]}),
        ("a=true", {"a": True}),
        ("a.b=iid:stratified", {"a": {"b": "iid:stratified"}}),
    ],
)
def test_settings_of_the_command_line(text, found):
    assert setting(text) == found


@pytest.mark.parametrize("text", ["a.b", "=3", "a..b=3"])
def test_settings_that_set_nothing(text):
    assert refused("sets nothing", lambda: setting(text))


def test_merging_goes_deep_and_leaves_the_changes_alone():
    into, changes = {"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}}
    merge(into, changes)
    assert into == {"a": {"b": 1, "c": [2]}}
    into["a"]["c"].append(3)
    assert changes == {"a": {"c": [2]}}


def test_the_command_line_wins_over_scale_row_column_and_file():
    made = a_source(
        training={"rounds": 1},
        scale={"cpu": {"training": {"warm_up": 11, "rounds": 12, "sites_per_round": 13}}},
        column=[{"name": "c", "training": {"rounds": 2, "groups": 2},
                 "scale": {"cpu": {"training": {"rounds": 22}}}}],
        row=[{"name": "r", "training": {"groups": 3}, "scale": {"cpu": {"training": {}}}}],
    )  # fmt: skip
    full = recipe(made.cell("r | c")).training
    assert (full.rounds, full.groups, full.warm_up, full.sites_per_round) == (2, 3, 2, 3)
    cpu = recipe(made.cell("r | c", "cpu", ["training.sites_per_round=4"])).training
    assert (cpu.rounds, cpu.groups, cpu.warm_up, cpu.sites_per_round) == (22, 3, 11, 4)


def test_a_cell_may_differ_from_its_row_and_column():
    lines = {"column": [{"name": "one"}, {"name": "two"}], "row": [{"name": "a"}]}
    made = a_source(cell=[{"row": "a", "column": "two", "training": {"rounds": 9}}], **lines)
    assert [recipe(cell).training.rounds for cell in made.cells()] == [4, 9]
    wrong = [{"row": "b", "column": "two", "training": {"runds": 9}}]
    with pytest.raises(InputError) as caught:
        a_source(cell=wrong, **lines)
    said = " ".join(str(problem) for problem in caught.value.problems)
    assert "there is no row 'b'" in said
    assert "Did you mean 'rounds'?" in said


def test_rows_times_columns_with_the_papers_figures():
    made = a_source(
        column=[{"name": "one"}, {"name": "two"}],
        row=[{"name": "a", "paper": [[1.5, 0.1], []]}, {"name": "b"}],
    )
    cells = made.cells()
    assert [cell.name for cell in cells] == ["a | one", "a | two", "b | one", "b | two"]
    assert [cell.paper for cell in cells] == [(1.5, 0.1), (), (), ()]
    assert refused("has 4 runs", lambda: made.cell(None))
    assert refused("Did you mean 'a | one'?", lambda: made.cell("a | oen"))


def test_a_row_without_a_figure_for_each_column_is_refused():
    rows = [{"name": "a", "paper": [[1.0]]}]
    columns = [{"name": "one"}, {"name": "two"}]
    assert refused("1 figures for 2 columns", lambda: a_source(row=rows, column=columns))
