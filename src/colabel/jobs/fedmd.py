"""FedMD (Li and Wang 2019): soft labels on public points that have true labels.

Each site first learns the public points with their labels, then its own; after that, in turns:
all share their class scores on the public points, learn the mean of all scores ("digest"), and
their own points again ("revisit"). Server and sites learn what they do in co-training by scores
(`federation/cotraining.py`); that public points have labels tells nobody anything new.

What differs from the paper: scores are probabilities, and are digested by cross entropy (its code
takes the absolute difference of logits); the subset of public points on which scores are shared
is drawn once and not anew in every turn.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.cotrain.learners import Arrays, Examples, Labels, Learner, Points, Shares
from colabel.data import Sites
from colabel.engines.faults import Fault
from colabel.errors import InputError, Problem
from colabel.jobs.cotrain import CotrainOutcome, Judge, cotrain_sites, plan_for
from colabel.randomness import data


class Passes(msgspec.Struct, frozen=True, kw_only=True):
    """How often a site's learner is called for each part: a turn of it has steps of its own."""

    public: int = 1
    own: int = 1
    digest: int = 1
    revisit: int = 1

    def problems(self) -> list[Problem]:
        """Everything that is wrong with these settings."""
        return [
            Problem(f"passes.{name} is {number}", "Give 0 or more.")
            for name, number in msgspec.structs.asdict(self).items()
            if number < 0
        ]


ONCE_EACH = Passes()


class MdLearner(Learner):
    """What a site does in a turn of FedMD, with a learner that goes on from its last state."""

    def __init__(self, inner: Learner, public: Examples, passes: Passes) -> None:
        self.inner, self.public, self.passes = inner, public, passes
        self.takes_shares = inner.takes_shares

    def learn(self, own: Examples, public: Examples, turn: int) -> None:
        """[FedMD Alg. 1]: transfer learning in the first turn, then digest and revisit."""
        passes, nothing = self.passes, Examples.nothing(own.points)
        if turn == 0:
            self._repeat(self.public, nothing, 0, passes.public)
            self._repeat(own, nothing, passes.public, passes.own)
            return
        # turns of the inner learner draw differently: no number comes twice
        first = passes.public + passes.own + (turn - 1) * (passes.digest + passes.revisit)
        self._repeat(nothing, public, first, passes.digest)
        self._repeat(own, nothing, first + passes.digest, passes.revisit)

    def _repeat(self, own: Examples, public: Examples, first: int, times: int) -> None:
        for turn in range(first, first + times):
            self.inner.learn(own, public, turn)

    def predict(self, points: Points) -> Labels:
        """The inner learner's."""
        return self.inner.predict(points)

    def shares(self, points: Points) -> Shares:
        """The inner learner's."""
        return self.inner.shares(points)

    def save(self) -> Arrays:
        """The inner learner's."""
        return self.inner.save()

    def load(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """The inner learner's."""
        self.inner.load(saved)


def fedmd_sites(
    sites: Sites,
    public: Examples,
    learners: Mapping[str, Learner],
    *,
    rounds: int = 10,
    passes: Passes = ONCE_EACH,
    n_shared: int = 0,
    votes: Literal["masked", "clear"] = "masked",
    seed: int = 0,
    judge: Judge | None = None,
    faults: Sequence[Fault] = (),
) -> CotrainOutcome:
    """`n_shared`: on how many of the public points scores are shared; 0: on all of them."""
    if found := _problems(sites, public, n_shared, passes):
        raise InputError(found)
    drawn = data(seed, "FedMD's shared points").permutation(len(public))
    shared = public.points[np.sort(drawn[: n_shared or len(public)])]
    wrapped = {name: MdLearner(held, public, passes) for name, held in learners.items()}
    plan = plan_for(
        shared, len(sites.classes), rounds=rounds, exchange="scores", votes=votes, seed=seed
    )
    outcome = cotrain_sites(sites, shared, wrapped, plan, judge=judge, faults=faults)
    return dataclasses.replace(outcome, learners=learners)


def _problems(sites: Sites, public: Examples, n_shared: int, passes: Passes) -> list[Problem]:
    found, n_classes = passes.problems(), len(sites.classes)
    if len(public) and not 0 <= public.labels.min() <= public.labels.max() < n_classes:
        fix = f"FedMD's public points are labelled, with 0 to {n_classes - 1}."
        found.append(Problem("a public point without a label of these classes", fix))
    if not 0 <= n_shared <= len(public):
        what = f"scores are shared on {n_shared} of {len(public)} public points"
        found.append(Problem(what, "Give fewer, or 0 for all."))
    return found


def one_fine_class_each(
    fine: Labels, coarse: Labels, n_sites: int, rng: np.random.Generator
) -> Labels:
    """Deal rows so that a site has of every coarse class one fine class only; −1: nobody's.

    The setting of FedMD [FedCT App. D.4]: all have vehicles, some only cars, others only bicycles.
    Sites that have the same fine class share its rows; a fine class may be left to nobody.
    """
    site_of_row = np.full(len(fine), -1)
    for group in np.unique(coarse):
        members = rng.permutation(np.unique(fine[coarse == group]))
        holders = rng.permutation(n_sites)
        for place, member in enumerate(members[:n_sites]):
            rows = rng.permutation(np.flatnonzero((coarse == group) & (fine == member)))
            those = holders[place :: len(members)]
            if len(rows) < len(those):
                what = f"{len(rows)} points of fine class {member} for {len(those)} sites"
                raise InputError(Problem(what, "Ask for fewer sites."))
            site_of_row[rows] = those[np.arange(len(rows)) % len(those)]
    return site_of_row
