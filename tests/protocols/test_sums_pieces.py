"""Summands are hidden piece by piece: the pieces make no difference, wherever they are cut."""

import numpy as np
import pytest
from sessions import Consortium, GiveMatrix, RecordingEngine, TakeTotal

from colabel.engines.faults import Fault
from colabel.protocols.sums import site as hiding

BLOCKS = {"site-0": 7, "site-1": 0, "site-2": 12, "site-3": 1}


def consortium(**settings):
    rng = np.random.default_rng(1)
    matrices = {name: [rng.normal(size=(sum(BLOCKS.values()), 3))] for name in BLOCKS}
    return Consortium(matrices=matrices, engine=RecordingEngine, **settings)


def run(kind, sites):
    def conversation(group, sums):
        asked = dict.fromkeys(group.names, GiveMatrix(0))
        if kind == "rows":
            return (yield from sums.rows("add", "rows", asked, BLOCKS, TakeTotal))
        if kind == "shared":
            return (yield from sums.shared("add", "all", asked, TakeTotal))
        return (yield from sums.public("add", "all", asked, "scores"))

    return sites.adding(conversation, n_masks=2)


@pytest.mark.parametrize("piece", [0, 100, 1000])
@pytest.mark.parametrize("late", [(), ("site-2",)])
@pytest.mark.parametrize("kind", ["rows", "shared", "public"])
def test_any_pieces_give_the_sum(kind, late, piece, monkeypatch):
    monkeypatch.setattr(hiding, "_PIECE", piece)
    faults = [Fault(name, "add", "late") for name in late]
    sites = consortium(faults=faults)
    found = run(kind, sites)
    there = [name for name in BLOCKS if name not in late]
    total = sum(sites.matrices[name][0] for name in there)
    if kind == "public":
        np.testing.assert_allclose(found, total, atol=1e-10)
        return
    start = 0
    for name, n_rows in BLOCKS.items():
        own = total[start : start + n_rows] if kind == "rows" else total
        start += n_rows
        if name in there:
            np.testing.assert_allclose(sites.totals[name][0], own, atol=1e-10)


@pytest.mark.parametrize("mode", ["rows", "shared", "public"])
def test_pieces_are_hidden_as_a_whole_is(mode, monkeypatch):
    sites = consortium()
    run(mode, sites)
    name, asked = next(
        (name, message)
        for step, name, message, _ in sites.engine.messages
        if step == "add" and name == "site-2"
    )
    session, form = sites.engine.sessions[name], hiding.FORMATS[asked.terms.form]
    matrix = sites.matrices[name][0]
    whole = hiding.hidden(session, asked.terms, form, matrix)
    monkeypatch.setattr(hiding, "_PIECE", 0)
    assert len(hiding._pieces(matrix)) == len(matrix)
    np.testing.assert_array_equal(hiding.hidden(session, asked.terms, form, matrix), whole)
