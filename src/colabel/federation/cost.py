"""What a whole labelling run costs, before it starts: exact bytes and steps, estimated seconds.

The size of every message follows from the sites' sizes and the plan. This holds if no site is
lost on the way.
"""

from collections.abc import Iterator, Mapping

import msgspec
import numpy as np

from colabel.conversation import Done, Message
from colabel.features import by_name as features_by_name
from colabel.features import moments
from colabel.federation import tuning
from colabel.federation.graphs import labelled, reaches_nearly, rows_of, sources
from colabel.federation.influence import parts
from colabel.federation.moments import PointSums, SumPoints
from colabel.federation.own_labels import Influence, InfluencePart, OwnScores
from colabel.federation.own_trials import N_RATINGS, Rate, TriedScores, Try
from colabel.federation.plan import LabellingPlan
from colabel.graph.index import LARGE, SEEN
from colabel.graph.reach import dtype_of
from colabel.protocols import setup
from colabel.protocols.cost import NOTHING, Cost
from colabel.protocols.hamming import by_name
from colabel.protocols.keys import Group
from colabel.protocols.sums.base import Terms
from colabel.protocols.sums.cost import cost as cost_of_sum
from colabel.wire import blank_array, pack, weigh

# seconds on two cores: of a product for the codes, of a pair of points in the graph, of a number
# of the influence columns, of a site (see bench/propagation.py for the first three)
_PER_PRODUCT, _PER_PAIR, _PER_INFLUENCE, _PER_SITE = 2e-11, 1e-8, 4e-8, 5e-3


def cost(group: Group, plan: LabellingPlan) -> Cost:
    """Everything that `cross_client_labels` exchanges between these sites."""
    public = plan.seed is not None
    total = setup.cost(group, pack(plan), n_masks=plan.n_masks, seed_is_public=public)
    total += by_name(plan.hamming).cost(group, plan.n_bits)
    for number, one in enumerate(_sums(group, plan)):
        slot = number if plan.n_masks >= 0 else -1
        total += one.cost(msgspec.structs.replace(one.terms, slot=slot))
    total += _early_parts(group, plan)
    late = len(group.names) * _longer_numbers(total.steps)
    return total + Cost(late, late, 0, _computing(group, plan))


def _longer_numbers(n_steps: int) -> int:
    """Bytes that step numbers take more than one, in the steps of one site from 128 on."""
    lengths = ((2**7, 1), (2**8, 1), (2**16, 2))  # from which step on, and how much more
    return sum(more * max(0, n_steps - first) for first, more in lengths)


class _Sum(msgspec.Struct, frozen=True):
    """A sum of the run: its terms but for the mask, and the sizes of what is summed."""

    terms: Terms
    kind: type[Message]
    requests: Mapping[str, int]
    n_columns: int
    n_rows: int = 1
    total: str = ""

    def cost(self, terms: Terms) -> Cost:
        """What it costs under the mask of these terms."""
        return cost_of_sum(
            terms,
            self.kind.__name__,
            self.requests,
            n_columns=self.n_columns,
            n_rows=self.n_rows,
            total=self.total,
        )


def _sums(group: Group, plan: LabellingPlan) -> Iterator[_Sum]:
    """All sums of a run, in order."""
    names = group.names
    order = features_by_name(plan.features).order
    if order is not None:
        width = max(size.n_features for size in group.sizes.values())
        n_columns = len(moments(np.zeros((1, width)), order).to_vector())
        asked = dict.fromkeys(names, len(pack(SumPoints())))
        terms = Terms("moments", "shared", "wide", -1, names, {})
        yield _Sum(terms, SumPoints, asked, n_columns, total=PointSums.__name__)
    n_candidates = len(tuning.candidates(group, plan))
    picked = tuning.held_out(group, plan)
    if len(picked):
        # no memory: one zero that looks like many
        shape = n_candidates, len(picked), len(labelled(group)) - len(picked)
        blank = np.broadcast_to(np.float32(0), shape)
        requests, owners = tuning.requests_for(group, picked, blank)
        asked = {name: _bytes_of(request) for name, request in requests.items()}
        terms = Terms("try", "rows", "scores", -1, names, _with_counts(owners))
        n_columns = n_candidates * plan.n_classes
        yield _Sum(terms, Try, asked, n_columns, total=TriedScores.__name__)
        terms = Terms("rate", "public", "wide", -1, names, {})
        asked = dict.fromkeys(names, len(pack(Rate())))
        yield _Sum(terms, Rate, asked, N_RATINGS, n_candidates)
    owners = rows_of(group, plan)
    *_, last = parts(sources(group, plan), sum(owners.values()))
    rows = tuple(owners.values())
    asked = {
        name: _bytes_of(Influence(_blank(group, plan, span), rows, 0.0, span.start))
        for name, span in last.items()
    }
    terms = Terms("influence", "rows", "scores", -1, names, _with_counts(owners))
    yield _Sum(terms, Influence, asked, plan.n_classes, total=OwnScores.__name__)


def _early_parts(group: Group, plan: LabellingPlan) -> Cost:
    """The columns that are sent before those of the last step."""
    owners, total = rows_of(group, plan), NOTHING
    *early, _ = parts(sources(group, plan), sum(owners.values()))
    for spans in early:
        down = 0
        for span in spans.values():
            columns = _blank(group, plan, span)
            request = InfluencePart(columns, tuple(owners.values()), span.start)
            bare = msgspec.structs.replace(request, columns=np.empty((0, 0), columns.dtype))
            down += weigh("server", bare, _bytes_of(request) - len(pack(bare)))
        total += Cost(sum(weigh(name, Done()) for name in spans), down, 1, 0.0)
    return total


def _blank(group: Group, plan: LabellingPlan, span: range) -> np.ndarray:
    """Columns of influence that take no memory: one zero that looks like many."""
    n_points = sum(size.n_points for size in group.sizes.values())
    zero = np.zeros((), dtype_of(nearly=reaches_nearly(n_points, plan)))
    return np.broadcast_to(zero, (sum(rows_of(group, plan).values()), len(span)))


def _with_counts(owners: Mapping[str, int]) -> dict[str, int]:
    """Each owner's block ends with one more row, for the class counts."""
    return {name: n_rows + 1 for name, n_rows in owners.items()}


def _bytes_of(request: Try | Influence | InfluencePart) -> int:
    """The length of a request as bytes, without making its columns."""
    shape, dtype = request.columns.shape, request.columns.dtype
    bare = msgspec.structs.replace(request, columns=np.empty((0,) * len(shape), dtype))
    return len(pack(bare)) + blank_array(dtype.str, *shape)


def _computing(group: Group, plan: LabellingPlan) -> float:
    """Seconds for the codes at the sites, and for the graph and its influence at the server."""
    n_points = sum(size.n_points for size in group.sizes.values())
    n_features = max(size.n_features for size in group.sizes.values())
    n_columns = len(labelled(group))
    tried = len(tuning.candidates(group, plan)) - 1
    codes = by_name(plan.hamming).gives_codes
    many = plan.neighbor_search == "auto" and n_points >= LARGE and codes
    compared = SEEN if many or plan.neighbor_search == "index" else n_points
    return (
        _PER_PRODUCT * n_points * n_features * plan.n_bits
        + _PER_PAIR * n_points * compared
        + _PER_INFLUENCE * n_points * n_columns * (1 + tried)
        + _PER_SITE * len(group.names)
    )
