"""What an audit must find, and what it must not: else its other numbers mean nothing.

The model is a ridge regression with a narrow Gaussian kernel: one formula gives labels, scores,
losses and gradients, and it can learn anything by heart. *Positive*: it learnt random labels of
the members, which nobody can guess. *Negative*: for every point a model that never saw it, with
as many members as others among what it did see. *Blind*: no model at all; a forest tells members
from others by the points themselves [Das, Zhang and Tramèr 2024]. What is found in the last two is
how members differ from others before any training, and makes any VUL too large.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import log_softmax, softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from colabel.privacy.audit.label_only import LabelAnswers, copies
from colabel.privacy.audit.measures import Attempt, Candidates, Finding, Flags, Floats, Labels
from colabel.privacy.audit.scores import ScoreAnswers, Shadows, halves
from colabel.privacy.audit.white_box import UpdateAnswers
from colabel.randomness import data

Answers = LabelAnswers | ScoreAnswers | UpdateAnswers

FOUND = 0.75  # the AUC at which a positive control counts as found
_MOST = 500  # of each side: enough to be sure, and soon solved
_CLASSES = 10  # of random labels: with c, who guesses is right once in c times
_RIDGE, _SHARP = 1e-2, 10.0
_USUAL = 4  # pairs of models that say what is usual
_TREES = 100


@dataclass(frozen=True)
class Control:
    """Answers of a model that is known to give its members away, or to know none."""

    positive: bool
    candidates: Candidates
    answers: tuple[Answers, ...]


def passed(finding: Finding, *, positive: bool) -> bool:
    """Whether an attack found what there is, or nothing where nothing is."""
    if positive:
        return finding.auc >= FOUND and finding.low > 0.5
    return finding.low <= 0.5 <= finding.high


def built_in(
    candidates: Candidates, like: Iterable[Answers], budget: int, seed: int
) -> tuple[Control, Control]:
    """A positive and a negative control, on the candidates' own points.

    like: what the methods answered; the controls have as many copies and shadow models.
    """
    chosen, random = some(candidates, seed), data(seed, "labels of a control")
    guesses = random.integers(_CLASSES, size=len(chosen))
    by_heart = Candidates(chosen.points, guesses, chosen.member)
    manners = tuple(dict.fromkeys(_manner(each, budget) for each in like))
    made = []
    for positive, these in ((True, by_heart), (False, chosen)):
        pupil = _Pupil(these, positive, seed)
        made.append(Control(positive, these, tuple(pupil.answer(one) for one in manners)))
    return made[0], made[1]


class _Manner(NamedTuple):
    """What kind of answers a method gives, and how much an attacker has beside them."""

    exposes: str
    n_copies: int = 0
    usual: bool = False
    shadows: tuple[tuple[int, bool], ...] = ()  # how many models; whether some know the points


def _manner(answers: Answers, budget: int) -> _Manner:
    if isinstance(answers, LabelAnswers):
        few = min(answers.n_copies, budget - 1)
        return _Manner(answers.exposes, few, answers.usual is not None)
    if isinstance(answers, ScoreAnswers):
        each = tuple((len(one.scores), bool(one.member.any())) for one in answers.shadows)
        return _Manner(answers.exposes, shadows=each)
    return _Manner(answers.exposes)


def blind(candidates: Candidates, seed: int) -> Attempt:
    """Whether the points alone give members away: each is judged by a forest that never saw it."""
    forest = RandomForestClassifier(
        _TREES, random_state=int(data(seed, "blind control").integers(2**31))
    )
    flat = candidates.points.reshape(len(candidates), -1)
    said = cross_val_predict(
        forest, flat, candidates.member, cv=StratifiedKFold(2), method="predict_proba"
    )
    return Attempt("blind", "nothing", said[:, 1], 0)


def some(candidates: Candidates, seed: int) -> Candidates:
    """No more candidates than a control needs."""
    random, rows = data(seed, "candidates of a control"), []
    for side in (candidates.member, ~candidates.member):
        among = side.nonzero()[0]
        rows.append(random.choice(among, min(len(among), _MOST), replace=False))
    kept = np.sort(np.concatenate(rows))
    return Candidates(candidates.points[kept], candidates.labels[kept], candidates.member[kept])


class _Pupil:
    """A model that learns by heart, and what it answers."""

    def __init__(self, candidates: Candidates, positive: bool, seed: int) -> None:
        self.candidates, self.positive, self.seed = candidates, positive, seed
        self.flat = candidates.points.reshape(len(candidates), -1).astype(np.float64)
        far = cdist(self.flat, self.flat, "sqeuclidean")
        self.scale = _nearest(far)
        self.kernel = np.exp(-far / self.scale)
        n_classes = max(int(candidates.labels.max()) + 1, 2)
        self.targets = np.eye(n_classes)[candidates.labels] - 1 / n_classes

    def answer(self, manner: _Manner) -> Answers:
        """What the model says, in the manner of a method."""
        if manner.exposes == LabelAnswers.exposes:
            return self._labels(manner.n_copies, manner.usual)
        logits = self._target(self.kernel)
        if manner.exposes == ScoreAnswers.exposes:
            shadows = tuple(self._shadows(*each) for each in manner.shadows)
            return ScoreAnswers(_scores(logits)[None], shadows)
        return self._updates(logits)

    def _labels(self, n_copies: int, usual: bool) -> LabelAnswers:
        found = self._target(self.kernel).argmax(axis=1)
        changed = self._changed(n_copies) if n_copies else None
        right = None
        if usual:
            said = [self._unseen(self.kernel, i).argmax(axis=1) for i in range(_USUAL)]
            right = np.mean(np.array(said) == self.candidates.labels, axis=0)
        return LabelAnswers(found[None], None if changed is None else changed[None], right)

    def _changed(self, n_copies: int) -> Labels:
        """What the target calls copies of the candidates: n × copies."""
        made = copies(self.candidates.points, n_copies, self.seed)
        said = []
        for i in range(n_copies):
            flat = made[:, i].reshape(len(made), -1).astype(np.float64)
            near = np.exp(-cdist(flat, self.flat, "sqeuclidean") / self.scale)
            said.append(self._target(near).argmax(axis=1))
        return np.stack(said, axis=1)

    def _shadows(self, n_models: int, online: bool) -> Shadows:
        if not online:
            said = [_scores(self._unseen(self.kernel, i)) for i in range(n_models)]
            return Shadows(np.stack(said), np.zeros((n_models, len(self.flat)), dtype=bool))
        member = halves(len(self.flat), max(n_models, 2), self.seed)[:n_models]
        return Shadows(np.stack([_scores(self._learn(self.kernel, one)) for one in member]), member)

    def _updates(self, logits: Floats) -> UpdateAnswers:
        """For one step from a model that knows nothing; a point's gradient is residual ⊗ φ(x)."""
        labels, lengths = self.candidates.labels, np.linalg.norm(self.targets, axis=1)
        losses = -log_softmax(_SHARP * logits, axis=1)[np.arange(len(labels)), labels]
        left = _scores(logits)
        left[np.arange(len(labels)), labels] -= 1
        # the step's own length is the same for all, and k(x, x) = 1
        along = (self.targets * logits).sum(axis=1) / lengths
        return UpdateAnswers(losses[None], along[None], np.linalg.norm(left, axis=1)[None])

    def _target(self, kernel: Floats) -> Floats:
        if self.positive:
            return self._learn(kernel, self.candidates.member)
        return self._unseen(kernel, -1)

    def _unseen(self, kernel: Floats, number: int) -> Floats:
        """For each point what that of two models says which learnt without it."""
        random, half = data(self.seed, f"unseen {number}"), np.zeros(len(self.flat), dtype=bool)
        for side in (self.candidates.member, ~self.candidates.member):
            among = random.permutation(side.nonzero()[0])
            half[among[: len(among) // 2]] = True
        return np.where(half[:, None], self._learn(kernel, ~half), self._learn(kernel, half))

    def _learn(self, kernel: Floats, with_: Flags) -> Floats:
        held = self.kernel[np.ix_(with_, with_)] + _RIDGE * np.eye(int(with_.sum()))
        return kernel[:, with_] @ np.linalg.solve(held, self.targets[with_])


def _scores(logits: Floats) -> Floats:
    return softmax(_SHARP * logits, axis=1)


def _nearest(far: NDArray[Any]) -> float:
    """The usual squared distance to the nearest other point that is not the same."""
    near = np.where(far > 0, far, np.inf).min(axis=1)
    return float(np.median(near[np.isfinite(near)])) if np.isfinite(near).any() else 1.0
