"""What a site answers when settings are tried: some labels are held out, the others propagated.

No label is both held out and propagated. A site that was told how far its labels reach another's,
and what reaches its own from there, could solve for the other's labels, as influence is the same in
both directions; so it is told the one for held-out labels and the other for those that are kept.
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
from colabel.federation.plan import Agreed
from colabel.federation.site import SiteSession
from colabel.graph import scores
from colabel.protocols.sums import Mode, Summand, Summed, Total

EXPONENTS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
_LEAST = 1e-4  # no label costs more than this one's logarithm
N_RATINGS = 5 + len(EXPONENTS)  # numbers that rate a candidate
Floats = NDArray[np.float64]


class Try(Summed, frozen=True):
    """Influence of your kept labels on the tried points: candidate × tried point × kept label.

    `owners` counts each site's tried points, `own` says which of your labels are tried.
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
    own: tuple[int, ...]


class TriedScores(Total, frozen=True):
    """The scores of your own tried points under every candidate, and the class counts."""


class Rate(Summed, frozen=True):
    """How well did each candidate, and each exponent, hit your labels?"""

    modes: ClassVar[tuple[Mode, ...]] = ("public",)


class Tried(msgspec.Struct, frozen=True):
    """What a site remembers: which of its labels are tried."""

    own: tuple[int, ...]
    n_candidates: int


class Ratings(msgspec.Struct, frozen=True):
    """What a site remembers: sums over its tried points, one row per candidate."""

    sums: np.ndarray


def try_candidates(session: SiteSession, request: Try) -> Summand:
    """The influence of the site's kept labels on everybody's tried points."""
    labels = own_labelled(session)
    n_candidates, n_tried = len(np.atleast_1d(request.columns)), sum(request.owners)
    if len(set(request.own)) < len(request.own) or not set(request.own) <= set(range(len(labels))):
        session.refuse("labels of others", f"each once, below {len(labels)}", str(request.own))
    if session.knows(Tried) and session.recall(Tried).own != request.own:
        session.refuse(
            "other labels held out than before", str(session.recall(Tried).own), str(request.own)
        )
    kept = np.delete(labels, list(request.own))
    shape = (n_candidates, n_tried, len(kept))
    check_columns(session, request.columns, request.owners, shape)
    session.remember(Tried(request.own, n_candidates))
    chosen = scores.one_hot(kept, session.recall(Agreed).plan.n_classes)
    scored = request.columns.astype(np.float64) @ chosen
    wide = np.moveaxis(scored, 0, 1).reshape(n_tried, -1)
    return with_counts(wide, np.tile(chosen.sum(axis=0), n_candidates), request.owners)


def rate_candidates(session: SiteSession, total: TriedScores) -> Done:
    """See which candidates bring the held-out labels back."""
    plan, tried = session.recall(Agreed).plan, session.recall(Tried)
    truth = own_labelled(session)[list(tried.own)]
    shape = (len(truth), tried.n_candidates, plan.n_classes)
    raw, counts = total.matrix[:-1].reshape(shape), total.matrix[-1][: plan.n_classes]
    weighted = (raw * class_weights(plan, counts)).reshape(-1, plan.n_classes)
    shares = scores.distributions(weighted).reshape(shape)
    hits = (shares.argmax(axis=2) == truth[:, None]) & shares.any(axis=2)
    gains = gain_sums(hits, class_weights(plan, counts)[truth])
    surprise = surprises(shares, truth, class_prior(plan, counts))
    session.remember(Ratings(np.concatenate([gains, surprise], axis=1)))
    return Done()


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
