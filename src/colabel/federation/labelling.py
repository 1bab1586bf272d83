"""Cross-client label propagation: the server's side of [XCLP Alg. 1].

step         line    who takes part, and what a loss means [XCLP §3.3, Robustness]
hello …      1       a lost site is as if it had never taken part
moments …    –       shared preprocessing, if any: the same
codes …      2-5     the same
try …        –       choosing k and α, and calibration: see tuning.py
influence …  10-14   a lost site has shaped the graph; its labels do not count
….back       14-16   a lost site does not learn its labels; the others are not affected

Points are ordered by site, and labelled first within a site: sizes are all the server knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from colabel.conversation import Conversation
from colabel.errors import InputError, Problem, SitesLost
from colabel.federation.graphs import find_nearest, labelled, reach_of, rows_of, scored, sources
from colabel.federation.influence import propagate
from colabel.federation.moments import share_moments
from colabel.federation.plan import LabellingPlan
from colabel.federation.tuning import candidates, choose
from colabel.graph.distances import Distances
from colabel.graph.equalise import Equaliser
from colabel.graph.weights import Weights, towards
from colabel.protocols.hamming import by_name
from colabel.protocols.keys import Group
from colabel.protocols.setup import agree
from colabel.protocols.sums import Sums
from colabel.wire import pack


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
        distances = equaliser.apply(distances, same_points=True)
    most = max(option.n_neighbors for option in candidates(group, plan))
    near = find_nearest(distances, most, plan)  # lines 6-7
    n_neighbors, alpha, exponent, weights, reach = yield from choose(group, sums, near, plan)  # 8-9
    rows, owners = scored(group, plan), rows_of(group, plan)
    flow = sources(group, plan)
    received = yield from propagate(
        group, sums, lambda chosen: reach.part(rows, chosen), owners, flow, exponent
    )  # 10-16
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
    near = find_nearest(distances, fitted.n_neighbors, plan, same_points=False)
    steps = towards(near, fitted.weights, sharpness=plan.sharpness)
    reach = reach_of(fitted.weights, fitted.alpha, labelled(old), plan)
    owners = {name: group.sizes[name].n_points for name in newcomers if name in group.names}
    flow = {name: size.n_labelled for name, size in group.sizes.items()}
    return (
        yield from propagate(
            group, sums, lambda chosen: reach.on_new(steps, chosen), owners, flow, fitted.exponent
        )
    )


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
    way = by_name(plan.hamming)
    if plan.neighbor_search == "index" and not way.gives_codes:
        raise InputError(
            Problem(
                f"neighbor_search is 'index', and {way.name!r} shows the server no codes",
                "Use hamming='sketch', or neighbor_search='auto'.",
            )
        )
    group = yield from share_moments(group, sums, plan, newcomers)
    group, distances = yield from way.conversation(group, plan.n_bits, newcomers)
    if distances.shape[1] < 2:
        raise SitesLost("fewer than two points are left: there is nothing to compare")
    return group, distances
