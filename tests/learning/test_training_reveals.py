"""What will be revealed, said before a run, is what its ledger lists afterwards."""

import pytest
from federations import graph_plan, make_federation, model_plan, plan

from colabel.federation.training_plan import PrivacyPlan, Stage
from colabel.federation.training_reveals import training_reveals
from colabel.jobs.train import train_sites
from colabel.learning.terms import CrossEntropy, FedMatch, MeanTeacher, Prototypes

GRAPH = (Stage(rounds=1), Stage(rounds=1, labels="graph"))
PLANS = {
    "labels only": {},
    "once": {"stages": (Stage(rounds=1, labels="once"),)},
    "graph": {"stages": GRAPH},
    "secret graph": {"stages": GRAPH, "graph": graph_plan(seed=None)},
    "lattice": {"stages": GRAPH, "graph": graph_plan(hamming="lattice", n_bits=64)},
    "features": {"stages": GRAPH, "graph": graph_plan(features="scaled")},
    "masked": {"protection": "masked"},
    "masked graph": {"stages": GRAPH, "protection": "masked"},
    "masked sketch": {
        "stages": GRAPH,
        "protection": "masked",
        "graph": graph_plan(hamming="sketch", seed=None),
    },
    "private": {
        "graph": None,
        "protection": "masked",
        "privacy": PrivacyPlan(clip=1.0, noise=1.0),
    },
    "teacher": {"stages": (Stage(rounds=1, terms=(CrossEntropy(), MeanTeacher())),)},
    "fedmatch": {"stages": (Stage(rounds=1, terms=(FedMatch(),)),)},
    "prototypes": {"stages": (Stage(rounds=1, terms=(Prototypes(),)),),
                   "model": model_plan(head=False)},
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_what_is_foretold_is_what_is_revealed(name):
    sites, _ = make_federation()
    settings = plan(**({"rounds": 1, "sites_per_round": 4} | PLANS[name]))
    ledger = train_sites(sites, settings).ledger
    told = {(one.what, one.to, one.mechanism) for one in training_reveals(settings)}
    assert told == {(one.what, one.to, one.mechanism) for one in ledger}
