"""The server's graph of a group: edges, weights, reach, and where the points of a site stand.

Points are ordered by site, and labelled first within a site.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from colabel.federation.plan import LabellingPlan
from colabel.graph.distances import Distances
from colabel.graph.index import LARGE, can_index, nearest_by_index
from colabel.graph.neighbours import Neighbours, nearest
from colabel.graph.reach import Reach
from colabel.graph.weights import Weights, adjacency, normalise
from colabel.protocols.keys import Group

Positions = NDArray[np.intp]


def find_nearest(
    distances: Distances, k: int, plan: LabellingPlan, *, same_points: bool = True
) -> Neighbours:
    """Each row point's nearest column points, by comparing all pairs or by an index."""
    n_rows, n_columns = distances.shape
    many = n_rows * n_columns >= LARGE**2 and can_index(distances)
    if plan.neighbor_search == "index" or (plan.neighbor_search == "auto" and many):
        return nearest_by_index(distances, k, same_points=same_points)
    return nearest(distances, k, same_points=same_points)


def reach_of(
    weights: Weights, alpha: float, columns: Positions, plan: LabellingPlan, *, keep: bool = False
) -> Reach:
    """How far labels at these points reach; to 1e-7 unless there are very many points."""
    nearly = reaches_nearly(len(weights.density), plan)
    return Reach(normalise(weights), alpha, columns, nearly=nearly, keep=keep)


def reaches_nearly(n_points: int, plan: LabellingPlan) -> bool:
    """Whether there are so many points that columns of influence are not exact."""
    return n_points >= LARGE and plan.neighbor_search != "exact"


def weigh(near: Neighbours, plan: LabellingPlan) -> Weights:
    """The weights of the graph, as the plan wants them."""
    return adjacency(near, sharpness=plan.sharpness, density_correction=plan.density_correction)


def labelled(group: Group) -> Positions:
    """The labelled points of all sites."""
    return _positions(group, {name: (0, size.n_labelled) for name, size in group.sizes.items()})


def sources(group: Group, plan: LabellingPlan) -> dict[str, int]:
    """How many points of each site labels flow from: the labelled ones, or all."""
    return {
        name: size.n_labelled if plan.seeds == "labels" else size.n_points
        for name, size in group.sizes.items()
    }


def flowing(group: Group, plan: LabellingPlan) -> Positions:
    """Those points."""
    return _positions(group, {name: (0, n) for name, n in sources(group, plan).items()})


def scored(group: Group, plan: LabellingPlan) -> Positions:
    """The points that get scores."""
    counts = rows_of(group, plan)
    return _positions(
        group,
        {name: (size.n_points - counts[name], size.n_points) for name, size in group.sizes.items()},
    )


def rows_of(group: Group, plan: LabellingPlan) -> dict[str, int]:
    """How many of each site's points get scores: the unlabelled ones, or all."""
    return {
        name: size.n_points - size.n_labelled * plan.keep_labels
        for name, size in group.sizes.items()
    }


def _positions(group: Group, spans: Mapping[str, tuple[int, int]]) -> Positions:
    offset, found = 0, [np.empty(0, dtype=np.intp)]
    for name, size in group.sizes.items():
        found.append(offset + np.arange(*spans[name], dtype=np.intp))
        offset += size.n_points
    return np.concatenate(found)
