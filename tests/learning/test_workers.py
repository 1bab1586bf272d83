"""Several processes change how long a run takes, and nothing else."""

import numpy as np
import pytest
from federations import graph_plan, make_federation, plan

from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import Diverged, InputError
from colabel.federation.roles import LABELLING
from colabel.federation.training_plan import Stage
from colabel.jobs.train import train_sites
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.learning.terms import CrossEntropy, MeanTeacher, Scaffold

CE = CrossEntropy()
METHODS = {
    "labels only": {"stages": (Stage(rounds=3),)},
    "network": {"stages": (Stage(rounds=3, labels="network"),)},
    "graph": {"stages": (Stage(rounds=3, labels="graph"),)},
    "graph, lattice": {
        "stages": (Stage(rounds=1, labels="graph"),),
        "graph": graph_plan(hamming="lattice"),
    },
    "masked": {"stages": (Stage(rounds=3),), "protection": "masked"},
    "scaffold": {"stages": (Stage(rounds=4, terms=(CE, Scaffold())),)},
    "mean teacher": {"stages": (Stage(rounds=3, terms=(CE, MeanTeacher())),)},
}


def run(settings, **options):
    sites, truth = make_federation(n_sites=5)
    return train_sites(sites, plan(**settings), truth=truth, **options)


def told(history):
    """Events without seconds, of which no two are the same."""
    return [{k: v for k, v in event.items() if k != "seconds"} for event in history]


def equal(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


@pytest.mark.parametrize("name", METHODS)
def test_a_run_with_workers_is_the_same_to_the_bit(name):
    alone, together = run(METHODS[name]), run(METHODS[name], workers=2)
    assert equal(alone.model, together.model)
    assert told(alone.history) == told(together.history)
    assert alone.ledger.entries == together.ledger.entries
    order = [(e.step, e.number, e.site, e.bytes_up) for e in alone.costs.exchanges]
    assert order == [(e.step, e.number, e.site, e.bytes_up) for e in together.costs.exchanges]


def test_checkpoints_are_the_same():
    def memories(**options):
        kept = []
        run(METHODS["scaffold"], keep=kept.append, **options)
        return kept[-1].memories

    alone, together = memories(), memories(workers=2)
    assert alone.keys() == together.keys()
    for name in alone:
        assert alone[name].arrays.keys() == together[name].arrays.keys()
        for what, held in alone[name].arrays.items():
            assert equal(held, together[name].arrays[what])


def test_a_run_goes_on_with_workers_where_it_stopped_without():
    kept = []
    whole = run(METHODS["scaffold"], keep=kept.append)
    rest = run(METHODS["scaffold"], state=kept[1], workers=2)
    assert equal(whole.model, rest.model)


def test_what_goes_wrong_in_a_worker_is_told_as_without():
    wild = plan(rounds=4, local=LocalPlan(epochs=2, optimiser=OptimiserPlan(rate=1e18)))
    sites, _ = make_federation()
    with pytest.raises(Diverged) as alone:
        train_sites(sites, wild)
    with pytest.raises(Diverged) as together:
        train_sites(sites, wild, workers=2)
    assert str(alone.value) == str(together.value)


def test_the_sessions_are_at_home_after_a_run():
    sites, _ = make_federation(n_sites=3)
    from colabel.federation.training import train
    from colabel.federation.training_role import training_role
    from colabel.jobs.train import initial

    def saved(workers):
        engine = LocalEngine(sites.sites, training_role(), workers=workers)
        made = plan(rounds=2)
        engine.run(train(sites.names, made, initial(made)))
        return {name: len(session.save()) for name, session in engine.sessions.items()}

    assert saved(2) == saved(1)


def test_the_work_is_shared(monkeypatch):
    from colabel.engines import local

    crews = []

    class Seen(local.Crew):
        def _share_out(self, sites):
            turns = super()._share_out(sites)
            crews.append([len(turn) for turn in turns])
            return turns

    monkeypatch.setattr(local, "Crew", Seen)
    run({"stages": (Stage(rounds=5),), "sites_per_round": 4}, workers=2)
    assert crews[1:] == [[2, 2]] * 5


@pytest.mark.parametrize(("workers", "faults"), [(0, ()), (2, (Fault("site-0", "train", "late"),))])
def test_impossible_settings_are_named(workers, faults):
    sites, _ = make_federation()
    with pytest.raises(InputError, match="workers"):
        LocalEngine(sites.sites, LABELLING, workers=workers, faults=faults)
