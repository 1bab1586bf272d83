"""Choosing k and α by leave-one-out accuracy on the labelled points, without showing a label.

S does not depend on labels, so a labelled point's scores without its own label are its scores
minus its own column: exact, and no graph is built twice. With few labels the best of many
candidates is best by luck, so the default is kept unless another one beats it by more than one
standard error of the difference (docs/decisions/005).

step       who learns what
try        as the protocol of the sum says
try.back   each site: the scores of its own tried points, under every candidate
rate       server: for every candidate, how much better than the default it hit all sites' labels

A site lost in these steps gives no opinion; it goes on taking part.
"""

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Conversation, Done, Message
from colabel.federation.graphs import labelled, weigh
from colabel.federation.own_labels import check_columns, class_weights, own_labelled, with_counts
from colabel.federation.plan import Agreed, LabellingPlan
from colabel.federation.site import SiteSession
from colabel.graph.distances import Distances
from colabel.graph.neighbours import nearest
from colabel.graph.propagate import influence
from colabel.graph.scores import one_hot
from colabel.graph.weights import normalise
from colabel.protocols.keys import Group
from colabel.protocols.sums import ClearSums, Summand, Total

NEIGHBOURS = (10, 20, 40)
REACHES = (0.5, 1.0, 2.0, 4.0)  # times 1 − α of the default
MOST_TRIED = 500  # labelled points that are left out in turn


class Candidate(NamedTuple):
    """One setting that is tried."""

    n_neighbors: int
    alpha: float


class Try(Message, frozen=True):
    """Influence of your labels on the tried points: candidate × tried point × your label.

    `owners` counts each site's tried points, `first` says where yours begin, `own` which of your
    labels they are.
    """

    columns: np.ndarray
    owners: tuple[int, ...]
    first: int
    own: tuple[int, ...]


class TriedScores(Total, frozen=True):
    """The scores of your own tried points under every candidate, and the class counts."""


class Rate(Message, frozen=True):
    """How much better than the first candidate did each one hit your labels?"""


class Tried(msgspec.Struct, frozen=True):
    """What a site remembers: which of its labels are tried, and their influence on themselves."""

    own: tuple[int, ...]
    itself: np.ndarray
    n_candidates: int


class Gains(msgspec.Struct, frozen=True):
    """What a site remembers: sums over its tried points, one row per candidate."""

    sums: np.ndarray


def try_candidates(session: SiteSession, request: Try) -> Summand:
    """The influence of the site's labels on everybody's tried points."""
    labels = own_labelled(session)
    n_candidates, n_tried = request.columns.shape[0], sum(request.owners)
    check_columns(session, request.columns.shape, (n_candidates, n_tried, len(labels)))
    rows = request.first + np.arange(len(request.own))
    itself = request.columns[:, rows, list(request.own)]
    session.remember(Tried(request.own, itself, n_candidates))
    chosen = one_hot(labels, session.recall(Agreed).plan.n_classes)
    scored = request.columns.astype(np.float64) @ chosen
    wide = np.moveaxis(scored, 0, 1).reshape(n_tried, -1)
    return with_counts(wide, np.tile(chosen.sum(axis=0), n_candidates), request.owners)


def compare_candidates(session: SiteSession, total: TriedScores) -> Done:
    """Leave each tried point's own label out, and compare every candidate with the first."""
    plan, tried = session.recall(Agreed).plan, session.recall(Tried)
    truth = own_labelled(session)[list(tried.own)]
    shape = (len(truth), tried.n_candidates, plan.n_classes)
    scores, counts = total.matrix[:-1].reshape(shape), total.matrix[-1][: plan.n_classes]
    hits = left_out_hits(scores, tried.itself.T, truth, counts, plan)
    weights = class_weights(plan, counts)[truth]
    session.remember(Gains(gain_sums(hits, weights)))
    return Done()


def left_out_hits(
    scores: NDArray[np.float64],
    itself: NDArray[np.float64],
    truth: NDArray[np.int64],
    counts: NDArray[np.float64],
    plan: LabellingPlan,
) -> NDArray[np.bool_]:
    """Whether each point (row) gets its label back from the others' labels, per candidate."""
    at = np.arange(len(truth))
    left = scores.copy()
    left[at, :, truth] -= itself
    weights = np.tile(class_weights(plan, counts), (len(truth), 1))
    weights[at, truth] = class_weights(plan, counts - 1)[truth]
    left = np.maximum(left * weights[:, None], 0.0)
    left[at, :, truth] *= (counts > 1)[truth][:, None]  # no other label of its class: no hit
    best = left.max(axis=2)
    return (left.argmax(axis=2) == truth[:, None]) & (best > 0)


def gain_sums(hits: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σw, Σw², Σwd, Σw²d, Σw²d² for the differences d to the first candidate."""
    gains = hits.astype(np.float64) - hits[:, :1]
    w = np.broadcast_to(weights[:, None], gains.shape)
    return np.stack([w, w**2, w * gains, w**2 * gains, (w * gains) ** 2], axis=2).sum(axis=0)


def send_gains(session: SiteSession, request: Rate) -> Summand:
    """The sums, for all sites' to be added."""
    return Summand(session.recall(Gains).sums)


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


def choose(group: Group, distances: Distances, plan: LabellingPlan) -> Conversation[Candidate]:
    """The plan's k and α, chosen by trying where it says "auto"."""
    options = candidates(group, plan)
    at = labelled(group)
    if len(options) == 1 or len(at) < 2:
        return options[0]
    picked = np.unique(np.linspace(0, len(at) - 1, MOST_TRIED).round().astype(int))
    columns = _try_all(distances, plan, options, at[picked], at)
    requests, owners = _requests(group, picked, columns)
    sums = ClearSums()
    blocks = {name: count + 1 for name, count in owners.items()}
    told = yield from sums.rows("try", "scores of tried points", requests, blocks, TriedScores)
    gains = yield from sums.public("rate", "gains of each candidate", dict.fromkeys(told, Rate()))
    return options[clear_winner(gains, len(picked))]


def _try_all(
    distances: Distances,
    plan: LabellingPlan,
    options: list[Candidate],
    tried: NDArray[np.intp],
    at: NDArray[np.intp],
) -> NDArray[np.float32]:
    near = nearest(distances, max(option.n_neighbors for option in options))
    columns = np.empty((len(options), len(tried), len(at)), dtype=np.float32)
    for number, option in enumerate(options):
        graph = normalise(weigh(near.first(option.n_neighbors), plan))
        columns[number] = influence(graph, option.alpha, tried, at)
    return columns


def _requests(
    group: Group, picked: NDArray[np.intp], columns: NDArray[np.float32]
) -> tuple[dict[str, Message], Mapping[str, int]]:
    """Each site's columns, and how many tried points it owns."""
    ends = np.cumsum([size.n_labelled for size in group.sizes.values()])
    starts = np.concatenate([[0], ends[:-1]])
    spans = dict(zip(group.names, zip(starts.tolist(), ends.tolist(), strict=True), strict=True))
    own = {name: picked[(picked >= a) & (picked < b)] - a for name, (a, b) in spans.items()}
    owners = tuple(len(mine) for mine in own.values())
    firsts = np.concatenate([[0], np.cumsum(owners)])
    requests: dict[str, Message] = {
        name: Try(columns[:, :, a:b], owners, int(first), tuple(own[name].tolist()))
        for (name, (a, b)), first in zip(spans.items(), firsts, strict=False)
    }
    return requests, dict(zip(group.names, owners, strict=True))
