"""The tables that come along: every cell can be planned, every figure is the paper's."""

import pytest

from colabel.federation.methods import METHODS
from colabel.recipes.building import make_plan, problems_of_names
from colabel.recipes.reading import SCALES, recipe
from colabel.recipes.shipped import find, names, others

SHAPES = {"fashion_mnist": (1, 28, 28), "mnist": (1, 28, 28)}
RUN = [name for name in names() if find(name).can_run]


def test_every_table_and_figure_of_the_four_papers_is_listed_once():
    listed = [*names(), *(one.name for one in others())]
    assert len(set(listed)) == len(listed)
    wanted = {
        "xclp": (range(1, 7), []),
        "fedprop": (range(1, 3), [1]),
        "protofssl": (range(1, 10), range(1, 6)),
        "fedct": (range(1, 18), range(1, 13)),
    }
    expected = {
        f"{paper}-{kind}{number}"
        for paper, both in wanted.items()
        for kind, numbers in zip(("table", "figure"), both, strict=True)
        for number in numbers
    }
    assert set(listed) == expected


@pytest.mark.parametrize("name", RUN)
@pytest.mark.parametrize("scale", SCALES)
def test_every_cell_can_be_planned(name, scale):
    seen = set()
    for cell in find(name).cells(scale):
        wanted = recipe(cell)
        assert not problems_of_names(wanted)
        plan = make_plan(wanted, SHAPES.get(wanted.data.name, (3, 32, 32)), 10, 0)
        if scale == "cpu":
            assert plan.rounds <= 60
            assert wanted.data.name in ("cifar10", "fashion_mnist", "mnist")
            assert plan.model.name in ("tiny_cnn", "small_cnn")
        labels_at = METHODS[wanted.method.name].data
        seen.add(repr((plan, wanted.data, wanted.split, labels_at)))
    assert len(seen) == len(find(name).cells(scale))  # no two cells are the same run


@pytest.mark.parametrize("name", RUN)
def test_a_table_says_what_it_needs_and_how_long_it_takes(name):
    about = find(name).about
    assert about.needs
    assert about.stand_in
    assert 0 < about.minutes.get("cpu", 1.0) <= 60
    assert about.minutes["full"] > 60


# a figure of every table, read from the papers by eye
FIGURES = {
    ("xclp-table1", "n = 18597 | pretrained, XCLP"): (53.38, 0.67),
    ("xclp-table2", "site 6 | XCLP"): (61.27, 3.19),
    ("xclp-table3", "α = 0.05 | XCLP (labelled + unlabelled)"): (49.50, 1.42),
    ("xclp-table4", "FedAvg+XCLP | i.i.d., m_L = 100, n_L = 1000"): (70.91, 0.71),
    ("xclp-table4", "FedMatch | non-i.i.d., m_L = 50, n_L = 5000"): (66.37, 0.41),
    ("xclp-table4", "FedSem+ | i.i.d., m_L = 50, n_L = 1000"): (59.67, 0.47),
    ("xclp-table5", "FedAvg+XCLP | Mini-ImageNet, m = m_L = 100, n_L = 10000"): (35.78, 0.56),
    ("xclp-table6", "α = 0.5 | linear, XCLP"): (63.46, 0.11),
    ("fedprop-table1", "FedProp+MT | non-i.i.d., m_L = 100, n_L = 5000"): (88.47, 0.28),
    ("fedprop-table1", "FedAvg+MT | i.i.d., m_L = 50, n_L = 1000"): (70.14, 1.87),
    ("fedprop-table2", "FedProp+MT | CIFAR-100, m = m_L = 100, n_L = 10000"): (58.66, 0.28),
    ("protofssl-table2", "FedMatch | MB"): (115.6,),
    ("protofssl-table3", "ProtoFSSL-FedProx | SVHN, non-i.i.d."): (88.8,),
    ("protofssl-table3", "FedRGD | CIFAR-10, i.i.d."): (69.7,),
    ("protofssl-table3", "ProtoFSSL (with BN)-FedProx | STL-10"): (79.3,),
    ("protofssl-table4", "ProtoFSSL, ResNet8, GN | non-i.i.d."): (69.2,),
    ("protofssl-table7", "50 unlabelled queries | i.i.d."): (66.7,),
    ("protofssl-table8", "M = 20 | E = 1"): (38.8,),
    ("protofssl-table9", "noise of sd 10.0 | SVHN, i.i.d."): (86.3,),
}


@pytest.mark.parametrize(("table", "cell"), FIGURES)
def test_figures_are_those_of_the_paper(table, cell):
    assert find(table).cell(cell).paper == FIGURES[table, cell]


def test_settings_of_the_papers_are_at_full_scale():
    def plan(table, cell):
        return make_plan(recipe(find(table).cell(cell)), (3, 32, 32), 10, 0)

    own = plan("xclp-table4", "FedAvg+XCLP | i.i.d., m_L = 100, n_L = 1000")
    assert [stage.rounds for stage in own.stages] == [1500, 1500]
    assert (own.graph.n_neighbors, own.graph.alpha, own.graph.n_bits) == (10, 0.99, 4096)
    assert (own.local.epochs, own.sites_per_round, own.model.name) == (5, 5, "cnn13")
    assert own.local.optimiser.rate_at(10, 0) == 0.1
    assert own.local.optimiser.rate_at(50, 0) == 0.3
    proto = plan("protofssl-table3", "ProtoFSSL-FedProx | SVHN, i.i.d.")
    term, near = proto.stages[-1].terms
    assert (term.support, term.query, term.unlabelled, term.helpers) == (1, 2, 100, 5)
    assert (term.weight, term.temperature, near.mu) == (0.3, 0.5, 1e-3)
    assert plan("protofssl-table3", "ProtoFSSL-FedProx | STL-10").stages[-1].terms[1].mu == 0.01
    assert plan("protofssl-table3", "FedProx-SL | SVHN, i.i.d.").stages[-1].terms[1].mu == 1e-4
    assert proto.rounds == 300
    assert not proto.model.head
