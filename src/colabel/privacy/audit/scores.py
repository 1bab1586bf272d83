"""Attacks on soft labels: confidences of all classes, as distillation and its kin share them.

| attack | compares | needs |
|---|---|---|
| gap, confidence [Yeom et al. 2018] | the label; the true class's confidence | nothing |
| shadow [Shokri et al. 2017] | scores with those of models whose members are known | 1 model |
| lira [Carlini et al. 2022] | confidence with that of models with and without the point | 4 |
| lira, offline | confidence with that of models without the point | 2 |
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colabel.errors import InputError, Problem
from colabel.privacy.audit.budget import combined, newest
from colabel.privacy.audit.label_only import gap
from colabel.privacy.audit.measures import Attempt, Flags, Floats, Labels
from colabel.randomness import data

Scores = NDArray[np.floating]
_TINY = 1e-12  # below it a float32 softmax is noise
_TOP = 10  # of a row of scores, that a classifier looks at


@dataclass(frozen=True)
class Shadows:
    """Models that the attacker trained, and what they say.

    scores: models × points × classes. member: models × points, who was trained with what.
    labels: of the points, if they are the attacker's own; None if they are the candidates.
    """

    scores: Scores
    member: Flags
    labels: Labels | None = None

    def __post_init__(self) -> None:
        bad = self.scores.ndim != 3 or self.member.shape != self.scores.shape[:2]
        if bad or (self.labels is not None and self.labels.shape != self.scores.shape[1:2]):
            fix = "Give models × points × classes, models × points, and a label for each point."
            raise InputError(Problem("shadow models of other shapes", fix))
        _check(self.scores)

    @property
    def both(self) -> bool:
        """Whether there are both members and others to learn from."""
        return bool(self.member.any() and not self.member.all())


@dataclass(frozen=True)
class ScoreAnswers:
    """Class probabilities of the candidates: rounds × n × classes, oldest round first."""

    exposes: ClassVar[str] = "scores"

    scores: Scores
    shadows: tuple[Shadows, ...] = ()

    def __post_init__(self) -> None:
        if self.scores.ndim != 3 or 0 in self.scores.shape:
            raise InputError(Problem("scores of another shape", "Give rounds × n × classes."))
        _check(self.scores)
        for each in self.shadows:
            other = each.labels is None and each.scores.shape[1] != self.n_candidates
            if other or each.scores.shape[2] != self.scores.shape[2]:
                what = "shadow models for other candidates or classes"
                raise InputError(Problem(what, "Score the same ones, or give labels of others."))

    @property
    def n_candidates(self) -> int:
        """Whom it is about."""
        return self.scores.shape[1]

    @property
    def most(self) -> int:
        """How many answers there are about a candidate."""
        return len(self.scores)


def _check(scores: Scores) -> None:
    if not np.isfinite(scores).all() or scores.min(initial=0) < 0:
        raise InputError(Problem("scores that are no probabilities", "Give a softmax's output."))


def resolution(*scores: Scores) -> float:
    """What stands for a probability of 0: half the least other one.

    A forest, or a server that rounds, says 0 and means little; a network means what it says.
    """
    least = min(part[part > 0].min(initial=1.0) for part in scores)
    return max(float(least) / 2, _TINY)


def confidence(scores: Scores, labels: Labels, least: float = _TINY) -> Floats:
    """log(p / (1 − p)) of the true class [Carlini et al. 2022]; nearly Gaussian, unlike p."""
    mine = np.arange(scores.shape[-1]) == labels[:, None]
    right = np.where(mine, scores, 0.0).sum(axis=-1, dtype=np.float64)
    # 1 − p would be 0 where a float32 softmax rounds p to 1
    rest = np.where(mine, 0.0, scores).sum(axis=-1, dtype=np.float64)
    return np.log(np.maximum(right, least)) - np.log(np.maximum(rest, least))


def halves(n: int, n_models: int, seed: int) -> Flags:
    """Which points each shadow model is to be trained with: every point with half the models."""
    random = data(seed, "members of shadow models")
    order = random.random((n_models, n)).argsort(axis=0)
    return order < n_models // 2


def shadow_attack(target: Scores, labels: Labels, shadows: Shadows) -> Floats:
    """What a classifier says that learnt to tell the shadow models' members. rounds × n."""
    known = labels if shadows.labels is None else shadows.labels
    least = resolution(target, shadows.scores)
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    classifier.fit(_features(shadows.scores, known, least), shadows.member.ravel())
    found: Floats = classifier.decision_function(_features(target, labels, least))
    return found.reshape(target.shape[:2])


def _features(scores: Scores, labels: Labels, least: float) -> Floats:
    """One row for each model and point: sorted scores, and how much the true class got."""
    logs = np.log(np.maximum(np.sort(scores, axis=-1)[..., ::-1][..., :_TOP], least))
    right = (scores.argmax(axis=-1) == labels)[..., None]
    rows = np.concatenate([logs, confidence(scores, labels, least)[..., None], right], axis=-1)
    return rows.reshape(-1, rows.shape[-1])


def lira(
    target: Floats, inside: Floats | None, outside: Floats, *, own_variance: bool = False
) -> Floats:
    """log p(confidence | trained with) − log p(confidence | trained without), both Gaussian.

    target: … × n; inside, outside: models × n, with NaN where a model does not count. Without
    `inside` it is the offline attack: how far above what is usual without the point.
    own_variance: a variance for each point, which takes some 64 models; else one for all.
    """
    usual, spread = _gaussian(outside, own_variance)
    if inside is None:  # in the order of the one-sided test's p-values, which would round to 1
        return (target - usual) / spread
    mean, width = _gaussian(inside, own_variance)
    ratio: Floats = norm.logpdf(target, mean, width) - norm.logpdf(target, usual, spread)
    return ratio


def _gaussian(values: Floats, own_variance: bool) -> tuple[Floats, Floats]:
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    free = count - 1
    if (count < 1 + own_variance).any() or free.sum() < 1:
        fix = "Train more shadow models, each with a half that `halves` gives."
        raise InputError(Problem("too few shadow models with, or without, some candidate", fix))
    mean = np.where(known, values, 0.0).sum(axis=0) / count
    squares = np.where(known, values - mean, 0.0) ** 2
    variance = squares.sum(axis=0) / free if own_variance else squares.sum() / free.sum()
    return mean, np.sqrt(np.maximum(variance, _TINY))


def attempts(answers: ScoreAnswers, labels: Labels, budget: int) -> Iterator[Attempt]:
    """Every attack that fits."""
    seen, kind = newest(answers.scores, budget), answers.exposes
    least = resolution(seen, *(each.scores for each in answers.shadows))
    sure = confidence(seen, labels, least)
    yield Attempt("gap", kind, gap(seen.argmax(axis=2), labels), len(seen))
    yield Attempt("confidence", kind, combined(sure), len(seen))
    for shadows in answers.shadows:
        if shadows.both:
            found = shadow_attack(seen, labels, shadows)
            yield Attempt("shadow", kind, combined(found), len(seen))
        online = bool(shadows.member.any())
        if shadows.labels is None and len(shadows.scores) >= (4 if online else 2):
            usual = confidence(shadows.scores, labels, least)
            inside = np.where(shadows.member, usual, np.nan) if online else None
            found = lira(sure, inside, np.where(shadows.member, np.nan, usual))
            name = "lira" if online else "lira, offline"
            yield Attempt(name, kind, combined(found), len(seen))
