"""Cross-client label propagation: the server's side of [XCLP Alg. 1].

step         line    who takes part, and what a loss means [XCLP §3.3, Robustness]
hello …      1       a lost site is as if it had never taken part
moments …    –       shared preprocessing, if any: the same
codes …      2-5     the same
try …        –       choosing k and α, and calibration: see tuning.py
influence    10-14   a lost site has shaped the graph; its labels do not count
….back       14-16   a lost site does not learn its labels; the others are not affected

Points are ordered by site, and labelled first within a site: sizes are all the server knows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Conversation
from colabel.errors import SitesLost
from colabel.federation.graphs import flowing, labelled, rows_of, scored, sources, weigh
from colabel.federation.moments import share_moments
from colabel.federation.own_labels import Influence, OwnScores
from colabel.federation.plan import LabellingPlan
from colabel.federation.tuning import choose
from colabel.graph.distances import Distances
from colabel.graph.equalise import Equaliser
from colabel.graph.neighbours import nearest
from colabel.graph.propagate import influence, influence_on_new
from colabel.graph.weights import Weights, normalise, towards
from colabel.protocols.hamming import by_name
from colabel.protocols.keys import Group
from colabel.protocols.setup import agree
from colabel.protocols.sums import Sums
from colabel.wire import pack

SCORES = "class scores and class counts"


@dataclass(frozen=True)
class Labelled:
    """What the server is left with: no label and no point of anybody."""

    group: Group
    equaliser: Equaliser | None
    weights: Weights
    n_neighbors: int
    alpha: float
    exponent: float
    received: tuple[str, ...]


def cross_client_labels(names: Sequence[str], plan: LabellingPlan) -> Conversation[Labelled]:
    """Label the unlabelled points of all sites; each site alone learns its own labels."""
    group, sums = yield from meet(names, plan)
    return (yield from label_group(group, sums, plan))


def label_group(group: Group, sums: Sums, plan: LabellingPlan) -> Conversation[Labelled]:
    """The same for sites that have met."""
    group, distances = yield from compare(group, sums, plan)  # lines 1-5
    equaliser = None
    if plan.equalise:
        n_features = max(size.n_features for size in group.sizes.values())
        equaliser = Equaliser.fit(distances, n_features)
        distances = equaliser.apply(distances)
    n_neighbors, alpha, exponent = yield from choose(group, sums, distances, plan)
    weights = weigh(nearest(distances, n_neighbors), plan)  # lines 6-8
    graph = normalise(weights)  # line 9
    columns = influence(graph, alpha, scored(group, plan), flowing(group, plan))  # lines 10-12
    owners = rows_of(group, plan)
    flow = sources(group, plan)
    received = yield from propagate(group, sums, columns, owners, flow, exponent)  # 13-16
    return Labelled(group, equaliser, weights, n_neighbors, alpha, exponent, received)


def label_newcomers(
    names: Sequence[str], newcomers: Sequence[str], fitted: Labelled, plan: LabellingPlan
) -> Conversation[tuple[str, ...]]:
    """Label the points of newcomers by their neighbours in a graph that stays as it is.

    A new point's scores are the weighted mean of its neighbours' scores: one step of Algorithm 1
    that only the new point takes. The ledger of the first run holds for the second.
    """
    group, sums = yield from meet([*names, *newcomers], plan)
    group, distances = yield from compare(group, sums, plan, newcomers)
    old = group.only(names)
    if old.names != fitted.group.names:
        missing = sorted(set(fitted.group.names) - set(old.names))
        raise SitesLost(f"the graph needs all its sites, and {', '.join(missing)} did not answer")
    if fitted.equaliser is not None:
        distances = fitted.equaliser.apply(distances)
    near = nearest(distances, fitted.n_neighbors, same_points=False)
    steps = towards(near, fitted.weights, sharpness=plan.sharpness)
    columns = influence_on_new(normalise(fitted.weights), fitted.alpha, steps, labelled(old))
    owners = {name: group.sizes[name].n_points for name in newcomers if name in group.names}
    flow = {name: size.n_labelled for name, size in group.sizes.items()}
    return (yield from propagate(group, sums, columns, owners, flow, fitted.exponent))


def meet(names: Sequence[str], plan: LabellingPlan) -> Conversation[tuple[Group, Sums]]:
    """Let the sites agree on the plan, on keys and on the hyperplanes [line 1]."""
    return (
        yield from agree(
            names, pack(plan), n_masks=plan.n_masks, seed_is_public=plan.seed is not None
        )
    )


def compare(
    group: Group, sums: Sums, plan: LabellingPlan, newcomers: Sequence[str] = ()
) -> Conversation[tuple[Group, Distances]]:
    """Everything up to the matrix H of distances, for the sites that stay [lines 2-5]."""
    group = yield from share_moments(group, sums, plan, newcomers)
    group, distances = yield from by_name(plan.hamming).conversation(group, plan.n_bits, newcomers)
    if distances.shape[1] < 2:
        raise SitesLost("fewer than two points are left: there is nothing to compare")
    return group, distances


def propagate(
    group: Group,
    sums: Sums,
    columns: NDArray[np.float64],
    owners: Mapping[str, int],
    flow: Mapping[str, int],
    exponent: float,
) -> Conversation[tuple[str, ...]]:
    """Give every site its labels' columns, sum what they contribute, return each its rows.

    `columns`: rows as `owners` says; columns, as `flow` says, for the points labels flow from.
    """
    ends = np.cumsum(list(flow.values()))
    parts = np.split(columns.astype(np.float32), ends[:-1], axis=1)
    requests = {
        name: Influence(part, tuple(owners.values()), exponent)
        for name, part in zip(group.names, parts, strict=True)
    }
    # each owner's block ends with one more row, for the class counts that weight the classes
    blocks = {name: n_rows + 1 for name, n_rows in owners.items()}
    received = yield from sums.rows("influence", SCORES, requests, blocks, OwnScores)
    return tuple(received)
