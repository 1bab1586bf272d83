"""Choosing k and α, and calibrating confidence, by holding labels out, without showing one.

With few labels the best of many candidates is best by luck, so the default is kept unless another
one beats it by more than one standard error of the difference (docs/decisions/005). Whether there
is a choice or not, the same sums say how far the scores must be sharpened to be probabilities.

step       who learns what
try        each site: how far its labels reach the tried points of all sites, under every candidate;
           and as the protocol of the sum says
try.back   each site: the scores of its own tried points, under every candidate
rate       server: for every candidate, how well it hit all sites' labels together

A site lost in these steps gives no opinion; it goes on taking part.
"""

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Conversation
from colabel.errors import SitesLost
from colabel.federation.graphs import flowing, reach_of, weigh
from colabel.federation.own_trials import EXPONENTS, Rate, TriedScores, Try
from colabel.federation.plan import LabellingPlan
from colabel.graph.neighbours import Neighbours
from colabel.graph.reach import Reach
from colabel.graph.weights import Weights
from colabel.protocols.keys import Group
from colabel.protocols.sums import Sums

NEIGHBOURS = (10, 20, 40)
REACHES = (0.5, 1.0, 2.0, 4.0)  # times 1 − α of the default
MOST_TRIED = 500  # labelled points that are held out
USUAL_EXPONENT = 2.0  # where no label can be held out

TRIED, RATINGS = "scores of tried points", "ratings of settings"


class Candidate(NamedTuple):
    """One setting that is tried."""

    n_neighbors: int
    alpha: float


class Choice(NamedTuple):
    """What is used: k, α, the power of the shares that makes them probabilities, and the graph."""

    n_neighbors: int
    alpha: float
    exponent: float
    weights: Weights
    reach: Reach


def clear_winner(sums: NDArray[np.float64], n_tried: int) -> int:
    """The candidate that beats the first by more than a standard error, else the first.

    Σw²/n stands in for one more disagreement, so that few points cannot look certain.
    """
    total, squares, weighted, crossed, spread = sums.T
    if not total.any():
        return 0
    mean = weighted / total
    variance = (spread - 2 * mean * crossed + mean**2 * squares + squares / n_tried) / total**2
    better = mean > np.sqrt(np.maximum(variance, 0.0)) + 1e-9
    return int(np.argmax(np.where(better, mean, -np.inf))) if better.any() else 0


def likeliest_exponent(surprise: NDArray[np.float64]) -> float:
    """The exponent with the least Σ −log P, if it is likely to be within a factor of two of the
    usual one: a few held-out labels could all be hit by luck, and then the highest would win.
    """
    octaves = np.log2(np.array(EXPONENTS) / USUAL_EXPONENT)
    return EXPONENTS[int((surprise + octaves**2 / 2).argmin())]


def candidates(group: Group, plan: LabellingPlan) -> list[Candidate]:
    """What is tried, the default first."""
    n_points = sum(size.n_points for size in group.sizes.values())
    n_labelled = sum(size.n_labelled for size in group.sizes.values())
    usual_k = 20 if plan.n_neighbors == "auto" else plan.n_neighbors
    usual = Candidate(min(usual_k, n_points - 1), plan.alpha_for(n_labelled, n_points))
    ks = NEIGHBOURS if plan.n_neighbors == "auto" else (usual.n_neighbors,)
    reaches = REACHES if plan.alpha == "auto" else (1.0,)
    others = [
        Candidate(min(k, n_points - 1), 1 - min(reach * (1 - usual.alpha), 0.9))
        for k, reach in product(ks, reaches)
    ]
    return list(dict.fromkeys([usual, *others]))


def held_out(group: Group, plan: LabellingPlan) -> NDArray[np.intp]:
    """Which of all labelled points are tried, at each site every third; none if there is nothing
    to learn.
    """
    place = np.concatenate(
        [np.empty(0, np.intp), *(np.arange(size.n_labelled) for size in group.sizes.values())]
    )
    third = np.flatnonzero(place % 3 == 1)
    if not plan.tries or not len(third):
        return np.empty(0, dtype=np.intp)
    spread = np.linspace(0, len(third) - 1, min(MOST_TRIED, len(third))).round().astype(np.intp)
    return third[spread]


def choose(group: Group, sums: Sums, near: Neighbours, plan: LabellingPlan) -> Conversation[Choice]:
    """The plan's k and α, chosen by trying where it says "auto", the exponent, and the graph.

    `near`: as many neighbours of each point as any candidate has.
    """
    options, picked = candidates(group, plan), held_out(group, plan)
    at = flowing(group, plan)
    again = len(options) == 1 and len(picked) > 0  # tried, and then used
    usual = Choice(*options[0], USUAL_EXPONENT, *_graph(near, options[0], at, plan, keep=again))
    if not len(picked):
        return usual
    kept = np.delete(np.arange(len(at)), picked)
    columns = np.empty((len(options), len(picked), len(kept)), dtype=np.float32)
    columns[0] = usual.reach.part(at[picked])[:, kept]
    for number, option in enumerate(options[1:], start=1):
        columns[number] = _graph(near, option, at, plan)[1].part(at[picked])[:, kept]
    requests, owners = requests_for(group, picked, columns)
    blocks = {name: count + 1 for name, count in owners.items()}
    told = yield from sums.rows("try", TRIED, requests, blocks, TriedScores)
    if not told:
        return usual
    try:
        ratings = yield from sums.public("rate", RATINGS, dict.fromkeys(told, Rate()))
    except SitesLost:  # one site is left: the sum of its ratings would be its own
        return usual
    n_gains = ratings.shape[1] - len(EXPONENTS)
    best = clear_winner(ratings[:, :n_gains], len(picked))
    exponent = likeliest_exponent(ratings[best, n_gains:])
    if best == 0:
        return usual._replace(exponent=exponent)
    return Choice(*options[best], exponent, *_graph(near, options[best], at, plan))


def _graph(
    near: Neighbours,
    option: Candidate,
    at: NDArray[np.intp],
    plan: LabellingPlan,
    *,
    keep: bool = False,
) -> tuple[Weights, Reach]:
    weights = weigh(near.first(option.n_neighbors), plan)
    return weights, reach_of(weights, option.alpha, at, plan, keep=keep)


def requests_for(
    group: Group, picked: NDArray[np.intp], columns: NDArray[np.float32]
) -> tuple[dict[str, Try], Mapping[str, int]]:
    """Each site's columns, of the labels that are kept, and how many tried points it owns."""
    own, start = {}, 0
    for name, size in group.sizes.items():
        own[name] = picked[(picked >= start) & (picked < start + size.n_labelled)] - start
        start += size.n_labelled
    n_kept = [size.n_labelled - len(own[name]) for name, size in group.sizes.items()]
    parts = np.split(columns, np.cumsum(n_kept)[:-1], axis=2)
    owners = {name: len(mine) for name, mine in own.items()}
    requests = {
        name: Try(part, tuple(owners.values()), tuple(own[name].tolist()))
        for name, part in zip(group.names, parts, strict=True)
    }
    return requests, owners
