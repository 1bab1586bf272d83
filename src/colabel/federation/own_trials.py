"""What a site answers when settings are tried: each label is left out in turn.

S does not depend on labels, so a labelled point's scores without its own label are its scores
minus its own column: exact, and no graph is built twice.
"""

from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Done, Release
from colabel.federation.own_labels import (
    check_columns,
    class_prior,
    class_weights,
    own_labelled,
    with_counts,
)
from colabel.federation.plan import Agreed, LabellingPlan
from colabel.federation.site import SiteSession
from colabel.graph import scores
from colabel.protocols.sums import Mode, Summand, Summed, Total

EXPONENTS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
_LEAST = 1e-4  # no label costs more than this one's logarithm
N_RATINGS = 5 + len(EXPONENTS)  # numbers that rate a candidate
Floats = NDArray[np.float64]


class Try(Summed, frozen=True):
    """Influence of your labels on the tried points: candidate × tried point × your label.

    `owners` counts each site's tried points, `first` says where yours begin, `own` which of your
    labels they are.
    """

    modes: ClassVar[tuple[Mode, ...]] = ("rows",)
    reveals: ClassVar[tuple[Release, ...]] = (
        Release(
            "how far its own labels reach the labelled points of every site",
            "each site",
            "in clear",
        ),
    )

    columns: np.ndarray
    owners: tuple[int, ...]
    first: int
    own: tuple[int, ...]


class TriedScores(Total, frozen=True):
    """The scores of your own tried points under every candidate, and the class counts."""


class Rate(Summed, frozen=True):
    """How well did each candidate, and each exponent, hit your labels?"""

    modes: ClassVar[tuple[Mode, ...]] = ("public",)


class Tried(msgspec.Struct, frozen=True):
    """What a site remembers: which of its labels are tried, and their influence on themselves."""

    own: tuple[int, ...]
    itself: np.ndarray
    n_candidates: int


class Ratings(msgspec.Struct, frozen=True):
    """What a site remembers: sums over its tried points, one row per candidate."""

    sums: np.ndarray


def try_candidates(session: SiteSession, request: Try) -> Summand:
    """The influence of the site's labels on everybody's tried points."""
    labels = own_labelled(session)
    n_candidates, n_tried = len(np.atleast_1d(request.columns)), sum(request.owners)
    shape = (n_candidates, n_tried, len(labels))
    check_columns(session, request.columns, request.owners, shape)
    last = request.first + len(request.own)
    if not 0 <= request.first <= last <= n_tried:
        session.refuse("rows of others", f"rows below {n_tried}", f"{request.first} to {last}")
    if not set(request.own) <= set(range(len(labels))):
        session.refuse("labels of others", f"below {len(labels)}", str(request.own))
    rows = request.first + np.arange(len(request.own))
    itself = request.columns[:, rows, list(request.own)]
    session.remember(Tried(request.own, itself, n_candidates))
    chosen = scores.one_hot(labels, session.recall(Agreed).plan.n_classes)
    scored = request.columns.astype(np.float64) @ chosen
    wide = np.moveaxis(scored, 0, 1).reshape(n_tried, -1)
    return with_counts(wide, np.tile(chosen.sum(axis=0), n_candidates), request.owners)


def rate_candidates(session: SiteSession, total: TriedScores) -> Done:
    """Leave each tried point's own label out, and see which candidates bring it back."""
    plan, tried = session.recall(Agreed).plan, session.recall(Tried)
    truth = own_labelled(session)[list(tried.own)]
    shape = (len(truth), tried.n_candidates, plan.n_classes)
    raw, counts = total.matrix[:-1].reshape(shape), total.matrix[-1][: plan.n_classes]
    shares = left_out(raw, tried.itself.T, truth, counts, plan)
    best = shares.argmax(axis=2)
    hits = (best == truth[:, None]) & shares.any(axis=2)
    gains = gain_sums(hits, class_weights(plan, counts)[truth])
    surprise = surprises(shares, truth, class_prior(plan, counts))
    session.remember(Ratings(np.concatenate([gains, surprise], axis=1)))
    return Done()


def left_out(
    raw: Floats, itself: Floats, truth: NDArray[np.int64], counts: Floats, plan: LabellingPlan
) -> Floats:
    """Class shares of each point (row) per candidate, from the others' labels only."""
    at = np.arange(len(truth))
    left = raw.copy()
    left[at, :, truth] -= itself
    weights = np.tile(class_weights(plan, counts), (len(truth), 1))
    weights[at, truth] = class_weights(plan, counts - 1)[truth]
    left *= weights[:, None]
    left[at, :, truth] *= (counts > 1)[truth][:, None]  # rounding, where no such label is left
    flat = left.reshape(-1, raw.shape[2])
    return scores.distributions(flat).reshape(raw.shape)


def gain_sums(hits: NDArray[np.bool_], weights: Floats) -> Floats:
    """Σw, Σw², Σwd, Σw²d, Σw²d² for the differences d to the first candidate."""
    gains = hits.astype(np.float64) - hits[:, :1]
    w = np.broadcast_to(weights[:, None], gains.shape)
    return np.stack([w, w**2, w * gains, w**2 * gains, (w * gains) ** 2], axis=2).sum(axis=0)


def surprises(shares: Floats, truth: NDArray[np.int64], prior: Floats) -> Floats:
    """Σ −log P(label), per candidate and exponent."""
    n, n_candidates, n_classes = shares.shape
    flat, labels = shares.reshape(-1, n_classes), np.repeat(truth, n_candidates)
    found = [scores.probability(flat, labels, prior, exponent) for exponent in EXPONENTS]
    losses = -np.log(np.maximum(found, _LEAST))
    return losses.reshape(len(EXPONENTS), n, n_candidates).sum(axis=1).T


def send_ratings(session: SiteSession, request: Rate) -> Summand:
    """The sums, for all sites' to be added."""
    return Summand(session.recall(Ratings).sums)
