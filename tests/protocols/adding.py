"""A conversation that adds up in all three ways, for tests of the sums."""

import numpy as np
from sessions import Consortium, GiveMatrix, TakeTotal

from colabel.engines.local import LocalEngine
from colabel.protocols.votes import ballot, count_votes

OWNERS = {"site-0": 2, "site-1": 0, "site-2": 3, "site-3": 1}
N_ROWS = sum(OWNERS.values())


def draw_matrices(names=tuple(OWNERS), n_rows=N_ROWS, seed=0):
    """For each site a matrix of scores, one of moments, one of counts, and votes."""
    rng = np.random.default_rng(seed)
    return {
        name: [
            rng.uniform(-10, 10, (n_rows, 3)),
            rng.standard_normal((1, 5)) * 1e6,
            rng.integers(-50, 50, (4, 2)).astype(float),
            ballot(rng.integers(-1, 3, 6), 3).matrix,
        ]
        for name in names
    }


def consortium(engine=LocalEngine, matrices=None, **settings):
    return Consortium(matrices=matrices or draw_matrices(), engine=engine, **settings)


def asking(names, number):
    return {name: GiveMatrix(number) for name in names}


def all_sums(group, sums):
    """Rows, a shared total, a public one, and votes."""
    names = group.names
    owners = {name: OWNERS[name] for name in names}
    told = yield from sums.rows("rows", "scores", asking(names, 0), owners, TakeTotal)
    knowing = yield from sums.shared("shared", "moments", asking(names, 1), TakeTotal)
    counts = yield from sums.public("public", "counts", asking(names, 2), "counts")
    votes = yield from count_votes(sums, "votes", asking(names, 3))
    return told, knowing, counts, votes
