"""From votes to one label a point, or none [FedCT Alg. 1, line 11].

Majority: the class with most votes. Qualified majority: only if a share of all votes for the point,
the quorum, agrees on it [FedCT §5, Heterogeneous Data Distributions]. A point on which no class
leads gets no label (−1) and is not trained with in the next round; the authors' code gives it the
lowest class instead, which favours classes by their number. "seeded" draws one of those that lead.
"""

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem, did_you_mean
from colabel.randomness import data

NONE = -1
Rule = Literal["majority", "qualified"]
Ties = Literal["abstain", "seeded"]
Labels = NDArray[np.int64]
Counts = NDArray[np.int64]


class ConsensusPlan(msgspec.Struct, frozen=True, kw_only=True):
    """quorum: the share of the votes cast for a point that its label needs, if "qualified"."""

    rule: Rule = "majority"
    quorum: float = 0.9
    ties: Ties = "abstain"

    def problems(self) -> list[Problem]:
        """Everything that is wrong with these settings."""
        found = []
        for name, value, known in (
            ("consensus.rule", self.rule, get_args(Rule)),
            ("consensus.ties", self.ties, get_args(Ties)),
        ):
            if value not in known:
                found.append(Problem(f"{name} is {value!r}", did_you_mean(str(value), known)))
        if not 0 < self.quorum <= 1:
            fix = "Give a share above 0, at most 1."
            found.append(Problem(f"consensus.quorum is {self.quorum!r}", fix))
        return found


def count(votes: Iterable[Labels], n_classes: int) -> Counts:
    """How many voted for each class of each point; −1 is no vote."""
    ballots = [(labels[:, None] == np.arange(n_classes)).astype(np.int64) for labels in votes]
    return np.sum(ballots, axis=0)


def consensus(counts: NDArray[np.number], plan: ConsensusPlan, seed: int, turn: int) -> Labels:
    """The labels, −1 where there is none. `seed` and `turn` matter for drawn ties only.

    Counts to which noise was added may be negative, and then nobody has voted.
    """
    most = counts.max(axis=1)
    leading = counts == most[:, None]
    found = leading.argmax(axis=1)
    if plan.ties == "seeded":
        drawn = data(seed, f"ties of turn {turn}").random(counts.shape)
        found = np.where(leading, drawn, -1.0).argmax(axis=1)
    else:
        found = np.where(leading.sum(axis=1) == 1, found, NONE)
    found = np.where(most > 0, found, NONE)
    if plan.rule == "qualified":
        cast = np.maximum(counts, 0).sum(axis=1)
        # a quorum of 0.9 of 10 votes is 9 of them, whatever 0.9 is in binary
        found = np.where(most >= plan.quorum * cast - 1e-9, found, NONE)
    return found.astype(np.int64)


def check_votes(labels: Labels, n_points: int, n_classes: int) -> None:
    """Refuse labels that a learner may not have given."""
    if labels.shape != (n_points,):
        what = f"the learner predicts {labels.shape} labels for {n_points} public points"
        raise InputError(Problem(what, "predict must give one label a point."))
    strange = np.unique(labels[(labels < NONE) | (labels >= n_classes)])
    if len(strange):
        what = f"the learner predicts {', '.join(map(str, strange[:5]))}, which is no class"
        raise InputError(Problem(what, f"Classes are 0 to {n_classes - 1}."))


def check_shares(shares: NDArray[np.floating], n_points: int, n_classes: int) -> None:
    """Refuse probabilities that are none."""
    if shares.shape != (n_points, n_classes) or not np.isfinite(shares).all():
        what = f"the learner gives {shares.shape} probabilities for {n_points} public points"
        raise InputError(Problem(what, f"Give {n_classes} finite numbers a point."))
    if len(shares) and (shares.min() < -1e-6 or np.abs(shares.sum(axis=1) - 1).max() > 1e-3):
        raise InputError(
            Problem("the learner's probabilities do not add up to 1", "Give shares of 0 to 1.")
        )
