"""Between rounds nothing model-sized stays, however many rounds there were and sites are."""

import pytest
from federations import make_federation, model_plan, plan

from colabel.engines.local import LocalEngine
from colabel.federation.training import train
from colabel.federation.training_plan import Stage
from colabel.federation.training_role import training_role
from colabel.jobs.train import initial
from colabel.learning.parameters import n_bytes
from colabel.learning.terms import CrossEntropy, Scaffold

CE = (CrossEntropy(),)
MODEL = model_plan(name="fedct_mlp")
METHODS = {
    "labels only": {},
    "network": {"labels": "network"},
    "graph": {"labels": "graph"},
    "masked": {"protection": "masked"},
}


def kept(rounds=5, labels="none", terms=CE, **settings):
    """The bytes that all sites and the engine hold after each round, and those of one model."""
    sites, _ = make_federation(n_sites=4)
    stages = (Stage(rounds=rounds, labels=labels, terms=terms),)
    made = plan(stages=stages, model=MODEL, sites_per_round=4, **settings)
    engine, sizes = LocalEngine(sites.sites, training_role()), []

    def look(state):
        saved = sum(len(session.save()) for session in engine.sessions.values())
        last = sum(map(len, [*engine._last.values(), *engine._sealed.values()]))
        sizes.append(saved + last)

    begin = initial(made)
    engine.run(train(sites.names, made, begin, keep=look))
    return sizes, n_bytes(begin.model)


@pytest.mark.parametrize("name", METHODS)
def test_what_is_held_does_not_grow_with_rounds(name):
    sizes, model = kept(**METHODS[name])
    assert max(sizes) < model / 4
    assert max(sizes[1:]) <= 1.02 * min(sizes[1:])


def test_a_term_that_remembers_a_model_is_seen():
    sizes, model = kept(terms=(*CE, Scaffold()))
    assert min(sizes) > 4 * model
    assert max(sizes[1:]) <= 1.02 * min(sizes[1:])
