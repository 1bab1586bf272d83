"""How well an attack tells members from others: ROC AUC, hits at few false alarms, intervals."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from colabel.errors import InputError, Problem
from colabel.randomness import data

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Labels = NDArray[np.int64]

RATES = (0.01, 0.001)  # of false alarms: what counts is whom an attack is sure of [Carlini 2022]
DRAWS = 2000
_AT_ONCE = 4_000_000  # numbers of a bootstrap that are held at a time
_VERTICES = 200


@dataclass(frozen=True)
class Candidates:
    """The points that an attacker asks about, with their true labels, and who is a member."""

    points: NDArray[Any]
    labels: Labels
    member: Flags

    def __post_init__(self) -> None:
        n, wrong = len(self.labels), []
        if len(self.points) != n or self.member.shape != (n,) or self.member.dtype != bool:
            wrong.append(
                Problem(
                    f"{len(self.points)} points, {n} labels and {len(self.member)} flags",
                    "Give one of each for every candidate; flags are booleans.",
                )
            )
        elif not 2 <= self.member.sum() <= n - 2:
            wrong.append(Problem("too few candidates", "Give two members and two others at least."))
        if n and self.labels.min() < 0:
            wrong.append(Problem("candidates without a label", "Give the true label of each."))
        if wrong:
            raise InputError(wrong)

    def __len__(self) -> int:
        return len(self.labels)


class Attempt(NamedTuple):
    """What an attack says of every candidate (higher: rather a member), from so many answers."""

    attack: str
    exposes: str
    scores: Floats
    queries: int


class Finding(msgspec.Struct, frozen=True):
    """How well an attack did.

    low, high: a confidence interval of the AUC. tpr: the share of members found at a rate of
    false alarms (of others taken for members); None if there are too few others to say.
    queries: how many answers it used about each candidate.
    """

    attack: str
    exposes: str
    auc: float
    low: float
    high: float
    tpr: dict[float, float | None]
    n_members: int
    n_others: int
    queries: int


class Roc(msgspec.Struct, frozen=True):
    """Points of a ROC curve, from one false alarm on."""

    fpr: list[float]
    tpr: list[float]


def roc_auc(scores: Floats, member: Flags) -> float:
    """How often a member scores higher than another candidate; ties count half."""
    n_members = int(member.sum())
    ranks = rankdata(scores)[member].sum() - n_members * (n_members + 1) / 2
    return float(ranks / (n_members * (len(member) - n_members)))


def others_needed(rate: float) -> int:
    """How many others it takes for one of them to be no more than this rate of false alarms.

    With just so many the result hangs on one point; ten times as many are better.
    """
    return math.ceil(1 / rate - 1e-9)


def tpr_at(scores: Floats, member: Flags, rate: float) -> float | None:
    """The share of members found with false alarms at this rate at most; None if unknowable.

    Ties are never broken in the attacker's favour, and nothing is interpolated.
    """
    n_others = int((~member).sum())
    if n_others < others_needed(rate):
        return None
    allowed = math.floor(rate * n_others + 1e-9)
    return float(_hits(scores, member, np.array([allowed]))[0])


def curve(scores: Floats, member: Flags) -> Roc:
    """The ROC curve, at rates that are evenly spread on a logarithmic axis."""
    n_others = int((~member).sum())
    allowed = np.unique(np.geomspace(1, n_others, _VERTICES).round().astype(np.intp))
    hits = _hits(scores, member, allowed)
    return Roc((allowed / n_others).tolist(), hits.tolist())


def _hits(scores: Floats, member: Flags, allowed: NDArray[np.intp]) -> Floats:
    """The share of members above all but so many of the others."""
    others = np.append(np.sort(scores[~member])[::-1], -np.inf)
    above = np.searchsorted(np.sort(scores[member]), others[allowed], side="right")
    return 1.0 - above / member.sum()


def interval(
    scores: Floats, member: Flags, *, level: float = 0.95, draws: int = DRAWS, seed: int = 0
) -> tuple[float, float]:
    """A percentile bootstrap of the AUC; members and others are drawn apart."""
    random = data(seed, "bootstrap of an audit")
    values, places = np.unique(scores, return_inverse=True)
    block = max(_AT_ONCE // (len(scores) + len(values)), 1)
    found = []
    for start in range(0, draws, block):
        n = min(block, draws - start)
        mine, others = (_counts(places[side], len(values), n, random) for side in (member, ~member))
        below = others.cumsum(axis=1) - others / 2
        pairs = int(member.sum()) * int((~member).sum())
        found.append((mine * below).sum(axis=1) / pairs)
    tail = (1 - level) / 2
    low, high = np.quantile(np.concatenate(found), [tail, 1 - tail])
    return float(low), float(high)


def _counts(
    places: NDArray[np.intp], n_values: int, n_draws: int, random: np.random.Generator
) -> NDArray[np.intp]:
    """How often each value is among as many as there are, drawn with replacement; a row a draw."""
    drawn = places[random.integers(len(places), size=(n_draws, len(places)))]
    flat = (drawn + n_values * np.arange(n_draws)[:, None]).ravel()
    return np.bincount(flat, minlength=n_draws * n_values).reshape(n_draws, n_values)


def judge(attempt: Attempt, member: Flags, *, level: float = 0.95, seed: int = 0) -> Finding:
    """What an attempt is worth, given the truth."""
    low, high = interval(attempt.scores, member, level=level, seed=seed)
    return Finding(
        attack=attempt.attack,
        exposes=attempt.exposes,
        auc=roc_auc(attempt.scores, member),
        low=low,
        high=high,
        tpr={rate: tpr_at(attempt.scores, member, rate) for rate in RATES},
        n_members=int(member.sum()),
        n_others=int((~member).sum()),
        queries=attempt.queries,
    )
