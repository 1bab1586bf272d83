"""What a site answers in a labelling session: its sizes, its codes, its labels' contribution.

Inside the session a site orders its points with the labelled ones first; what it keeps for its
user is in the order of its rows. A point that is the zero vector has no angle to anything: it
gets a code at random and receives no label (−1, confidence 0).
"""

from collections.abc import Sequence
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Done, Message, Private, Release
from colabel.crypto.prg import stream
from colabel.data.site import UNLABELLED
from colabel.federation.plan import Agreed, LabellingPlan
from colabel.federation.site import SiteSession
from colabel.graph import scores
from colabel.graph.codes import codes, hyperplanes
from colabel.graph.reach import LARGEST
from colabel.protocols.keys import Hello, SharedSeed, Sizes, Welcome, introduce
from colabel.protocols.sums import Mode, Summand, Summed, Total
from colabel.wire import unpack

_ROWS = 2**14
REACH = Release("how far its own labels reach the points of every site", "each site", "in clear")


class InfluencePart(Message, frozen=True):
    """The same as `Influence`, for some of your labels, the first of them being number `first`."""

    columns: np.ndarray
    owners: tuple[int, ...]
    first: int


class Influence(Summed, frozen=True):
    """How far each of your labels reaches: one column per label, rows in the owners' blocks.

    The labels before number `first` came in parts. `exponent` makes the shares probabilities.
    """

    modes: ClassVar[tuple[Mode, ...]] = ("rows",)
    reveals: ClassVar[tuple[Release, ...]] = (REACH,)

    columns: np.ndarray
    owners: tuple[int, ...]
    exponent: float
    first: int = 0


class OwnScores(Total, frozen=True):
    """The scores of your own points, and below them the number of labels of each class."""


class Partial(Private, frozen=True):
    """What a site remembers: what its labels before number `first` contribute."""

    first: int
    scored: np.ndarray


class Calibration(msgspec.Struct, frozen=True):
    """What a site remembers of the exponent."""

    exponent: float


class OwnLabels(msgspec.Struct, frozen=True):
    """What the site was after, in the order of its rows."""

    labels: np.ndarray
    confidence: np.ndarray
    distributions: np.ndarray


def welcome(session: SiteSession, request: Hello) -> Welcome:
    """Check the plan, agree to it, and say how many points there are."""
    plan = _read_plan(session, request.plan)
    highest = int(session.site.labels.max(initial=UNLABELLED))
    if highest >= plan.n_classes:
        session.refuse("too few classes", f"at least {highest + 1}", str(plan.n_classes))
    if request.n_masks < plan.n_masks:
        session.refuse("a session without keys", f"keys for {plan.n_masks} sums", "fewer")
    session.remember(Agreed(plan))
    take_seed(session, plan)
    width = int(np.prod(session.site.points.shape[1:]))
    sizes = Sizes(len(session.site), int(session.site.labelled.sum()), width)
    return introduce(session, sizes, request.plan, request.n_masks)


def take_seed(session: SiteSession, plan: LabellingPlan) -> None:
    """Use the public seed, if there is one; a seed of an earlier labelling is not used again."""
    session.forget(SharedSeed)
    session.start_afresh()
    if plan.seed is not None:
        session.remember(SharedSeed(plan.seed))


def _read_plan(session: SiteSession, data: bytes) -> LabellingPlan:
    try:
        return unpack(data, LabellingPlan).validate()
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        session.refuse("not a plan that can be followed", "a valid plan", str(error))


def order(session: SiteSession) -> NDArray[np.intp]:
    """The site's rows in session order: labelled first."""
    return np.argsort(~session.site.labelled, kind="stable")


def site_codes(session: SiteSession) -> NDArray[np.uint8]:
    """The packed codes of the site's points, in session order [XCLP Alg. 1, lines 3-4]."""
    seed = session.recall(SharedSeed).seed
    n_bits = session.recall(Agreed).plan.n_bits
    points = session.points()
    packed = codes(points, hyperplanes(seed, n_bits, points.shape[1]))
    flat = ~points.any(axis=1)
    noise = stream(seed, f"zero vectors of {session.name}", int(flat.sum()) * n_bits)
    bits = np.frombuffer(noise, dtype=np.uint8).reshape(-1, n_bits) & 1
    packed[flat] = np.packbits(bits, axis=1)
    return packed[order(session)]


def own_labelled(session: SiteSession) -> NDArray[np.int64]:
    """The site's labels in session order."""
    return session.site.labels[order(session)][: int(session.site.labelled.sum())]


def with_counts(
    scored: NDArray[np.float64], counts: NDArray[np.float64], owners: Sequence[int]
) -> Summand:
    """Every owner's rows, and after each owner's block one more row: the class counts."""
    blocks = np.split(scored, np.cumsum(owners)[:-1])
    return Summand(np.concatenate([part for block in blocks for part in (block, counts[None])]))


def known_labels(session: SiteSession) -> NDArray[np.float64]:
    """What flows along the graph from this site: its labels."""
    plan = session.recall(Agreed).plan
    if plan.seeds != "labels":
        session.refuse("no model predicts anything here", "seeds = 'labels'", plan.seeds)
    return scores.one_hot(own_labelled(session), plan.n_classes)


def add_part(session: SiteSession, request: InfluencePart) -> Done:
    """Add up the influence of some of the site's labels."""
    n_columns = request.columns.shape[1] if request.columns.ndim == 2 else 0
    scored = _scored(session, request, n_columns)
    session.remember(Partial(request.first + n_columns, scored))
    return Done()


def contribution(session: SiteSession, request: Influence) -> Summand:
    """The influence of the site's labels on everybody's points [XCLP Alg. 1, line 13]."""
    chosen = session.role.sources(session)
    scored = _scored(session, request, len(chosen) - request.first)
    if not 0 < request.exponent < np.inf:
        session.refuse("not an exponent", "a number above 0", str(request.exponent))
    session.remember(Calibration(request.exponent))
    return with_counts(scored, chosen.sum(axis=0), request.owners)


def _scored(
    session: SiteSession, request: InfluencePart | Influence, n_columns: int
) -> NDArray[np.float64]:
    """What these labels and all before them contribute."""
    before = session.recall(Partial) if request.first else None
    if before is not None and before.first != request.first:
        session.refuse("labels skipped or counted twice", str(before.first), str(request.first))
    chosen = session.role.sources(session)[request.first : request.first + n_columns]
    check_columns(session, request.columns, request.owners, (sum(request.owners), len(chosen)))
    if request.columns.dtype == np.float16:
        chosen = chosen / LARGEST  # so that sums stay in their range
    scored = np.empty((len(request.columns), chosen.shape[1]))
    for start in range(0, len(scored), _ROWS):  # never all columns in float64 at once
        part = slice(start, start + _ROWS)
        np.matmul(request.columns[part].astype(np.float64), chosen, out=scored[part])
    if before is not None:
        if before.scored.shape != scored.shape:
            session.refuse("other owners", str(before.scored.shape), str(scored.shape))
        scored += before.scored
    return scored


def check_columns(
    session: SiteSession, columns: np.ndarray, owners: Sequence[int], shape: tuple[int, ...]
) -> None:
    """Refuse columns that are not one per own label, of finite numbers, or rows of nobody."""
    if columns.shape != shape or min(owners, default=0) < 0:
        wanted, got = (" × ".join(map(str, sizes)) for sizes in (shape, columns.shape))
        session.refuse("columns of another shape", wanted, got)
    if columns.dtype.kind != "f" or not np.isfinite(columns).all():
        session.refuse("columns that are no influence", "finite numbers", columns.dtype.str)


def class_weights(plan: LabellingPlan, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a label of each class counts, from the numbers of labels at all sites."""
    if plan.class_weighting == "balanced":
        return 1.0 / np.maximum(counts, 1.0)
    return np.ones_like(counts)


def class_prior(plan: LabellingPlan, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """What class weights took out of the scores; one is added, as no class is impossible."""
    return counts + 1.0 if plan.class_weighting == "balanced" else np.ones_like(counts)


def receive_scores(session: SiteSession, total: OwnScores) -> Done:
    """From the site's own scores to its labels and confidences [XCLP Alg. 1, lines 15-16]."""
    plan, site = session.recall(Agreed).plan, session.site
    own, counts = total.matrix[:-1], total.matrix[-1]
    shares = scores.one_hot(site.labels, plan.n_classes)
    rows = order(session)[len(site) - len(own) :]
    shares[rows] = scores.distributions(own * class_weights(plan, counts))
    shares[~session.points().any(axis=1) & ~site.labelled] = 0.0
    labels = scores.labels(shares)
    session.remember(OwnLabels(labels, _confidence(session, shares, labels, counts), shares))
    return Done()


def _confidence(
    session: SiteSession,
    shares: NDArray[np.float64],
    labels: NDArray[np.int64],
    counts: NDArray[np.float64],
) -> NDArray[np.float64]:
    plan = session.recall(Agreed).plan
    if plan.confidence == "entropy":
        return scores.certainty(shares)
    exponent = session.recall(Calibration).exponent
    sure = scores.probability(shares, labels, class_prior(plan, counts), exponent)
    return np.where(session.site.labelled & plan.keep_labels, 1.0, sure)
