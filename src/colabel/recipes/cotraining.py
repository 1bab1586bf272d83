"""Recipes of co-training: what may stand in one, and what runs from it.

[data]        which points, how many at the sites, in public and for the test
[split]       how many sites, and how points are dealt (in the words of `colabel split`)
[learners]    kind: of all sites; or kinds: one for each; "network" needs [model] and [local]
[cotraining]  rounds, period, rule, quorum, ties, votes, exchange
[privacy]     mechanism, epsilon (a round), unit, sensitivity
[run]         seeds
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.cotrain.consensus import ConsensusPlan, Rule, Ties
from colabel.cotrain.kinds import KINDS, learner
from colabel.cotrain.learners import Learner
from colabel.data import Benchmark, LabelMask, Sites, apply_split, load, make_split, parse_partition
from colabel.errors import InputError, Problem, did_you_mean
from colabel.federation.cotraining_plan import CotrainingPlan, Exchange, Votes
from colabel.jobs.cotrain import plan_for
from colabel.learning.plan import LocalPlan
from colabel.privacy.label_accounting import LabelPrivacy
from colabel.randomness import data as randomness
from colabel.recipes.format import Model
from colabel.recipes.keys import as_struct, problems_of
from colabel.recipes.reading import Mutable, merge, setting, words_of

NETWORK = "network"
Rows = NDArray[np.int64]


class CotrainData(msgspec.Struct, frozen=True, kw_only=True):
    """points: labelled ones, dealt to the sites; public: those without labels; test: drawn from
    the test part, if there is one. public_from: another data set for the public points.
    """

    name: str
    points: int
    public: int
    test: int
    public_from: str | None = None


class CotrainSplit(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds which points."""

    sites: int
    partition: str = "iid"


class Learners(msgspec.Struct, frozen=True, kw_only=True):
    """What the sites learn with."""

    kind: str | None = None
    kinds: tuple[str, ...] = ()

    def of_sites(self, n_sites: int) -> tuple[str, ...]:
        """One for each."""
        return self.kinds or (self.kind or "",) * n_sites


class CotrainSettings(msgspec.Struct, frozen=True, kw_only=True):
    """As in `CotrainingPlan`."""

    rounds: int = 10
    period: int = 1
    rule: Rule = "majority"
    quorum: float = 0.9
    ties: Ties = "abstain"
    votes: Votes = "masked"
    exchange: Exchange = "labels"


class CotrainRun(msgspec.Struct, frozen=True, kw_only=True):
    """seeds; delta: for which ε is told (0: rounds just add up)."""

    seeds: tuple[int, ...] = (0, 1, 2)
    delta: float = 1e-5
    noise: Literal["warn", "refuse"] = "warn"


class CotrainRecipe(msgspec.Struct, frozen=True, kw_only=True):
    """One co-training run."""

    title: str
    data: CotrainData
    split: CotrainSplit
    learners: Learners
    cotraining: CotrainSettings = CotrainSettings()
    model: Model | None = None
    local: LocalPlan = LocalPlan()
    privacy: LabelPrivacy | None = None
    run: CotrainRun = CotrainRun()


@dataclass(frozen=True)
class CotrainReady:
    """Everything that `jobs.cotrain.cotrain_sites` wants, and the truth about all points."""

    recipe: CotrainRecipe
    seed: int
    sites: Sites
    public: NDArray[np.generic]
    public_truth: Rows | None
    test: NDArray[np.generic]
    test_truth: Rows
    plan: CotrainingPlan

    def learners(self, door: str = "") -> dict[str, Learner]:
        """Fresh ones; `door` makes others of the same kind."""
        kinds = self.recipe.learners.of_sites(len(self.sites))
        return {
            name: self._learner(kind, name, 1000 * self.seed + number, door)
            for number, (name, kind) in enumerate(zip(self.sites.names, kinds, strict=True))
        }

    def _learner(self, kind: str, name: str, seed: int, door: str) -> Learner:
        n_classes = self.plan.n_classes
        if kind != NETWORK:
            return learner(kind, n_classes, seed)
        from colabel.learning.cotraining import NetworkLearner
        from colabel.learning.models import ModelPlan

        own = self.recipe.model or Model(name="")
        points = np.concatenate([site.points for site in self.sites.sites])
        axes = (0, *range(2, points.ndim)) if points.ndim == 4 else None
        std = np.atleast_1d(points.std(axis=axes, dtype=np.float64))
        model = ModelPlan(
            name=own.name,
            shape=points.shape[1:],
            n_classes=n_classes,
            norm=own.norm,
            mean=own.mean or tuple(np.atleast_1d(points.mean(axis=axes)).tolist()),
            std=own.std or tuple(np.where(std > 0, std, 1.0).tolist()),
        )
        steps = msgspec.structs.replace(self.recipe.local, steps=self.plan.period)
        return NetworkLearner(model, steps, self.seed, f"{name}{door}")


def read_cotraining(path: Path, changes: Sequence[str] = ()) -> CotrainRecipe:
    """A recipe from its file, as changed; every unknown key and wrong value is named at once."""
    words: Mutable = words_of(path)
    for change in changes:
        merge(words, setting(change))
    return checked(words)


def checked(words: Mapping[str, Any]) -> CotrainRecipe:
    """The recipe, or every problem with it."""
    if found := problems_of(words, CotrainRecipe):
        raise InputError(found)
    recipe = as_struct(words, CotrainRecipe)
    if found := list(_problems(recipe)):
        raise InputError(found)
    return recipe


def _problems(recipe: CotrainRecipe) -> list[Problem]:
    found, known = [], (*KINDS, NETWORK)
    given = recipe.learners
    if (given.kind is None) == (not given.kinds):
        found.append(Problem("learners has not one of kind and kinds", "Give one of them."))
    if given.kinds and len(given.kinds) != recipe.split.sites:
        what = f"learners.kinds names {len(given.kinds)} for {recipe.split.sites} sites"
        found.append(Problem(what, "Name one for each site."))
    for kind in dict.fromkeys(given.of_sites(recipe.split.sites)):
        if kind and kind not in known:
            found.append(Problem(f"learners has {kind!r}", did_you_mean(kind, known)))
    networks = NETWORK in given.of_sites(recipe.split.sites)
    if networks and recipe.model is None:
        found.append(Problem("a network, and no [model]", "Name one in model.name."))
    if recipe.privacy is not None:
        found += recipe.privacy.problems()
    if not 0 <= recipe.run.delta < 1:
        found.append(Problem(f"run.delta is {recipe.run.delta!r}", "Give 0, or less than 1."))
    return found


def ready(recipe: CotrainRecipe, seed: int, data_dir: str | Path | None = None) -> CotrainReady:
    """Draw, deal and plan."""
    benchmark = load(recipe.data.name, data_dir)
    rng = randomness(seed, "rows of a co-training recipe")
    own, public, test = _rows(recipe.data, benchmark, rng)
    flat = NETWORK not in recipe.learners.of_sites(recipe.split.sites)
    points, labels = _points(benchmark, own, flat), benchmark.labels[own]
    split = make_split(
        benchmark.name, points, labels, partition=parse_partition(recipe.split.partition),
        mask=LabelMask(fraction=1.0), n_sites=recipe.split.sites, seed=seed,
    )  # fmt: skip
    sites = apply_split(split, points, labels, benchmark.classes)
    shown = _points(benchmark, public, flat)
    truth: Rows | None = benchmark.labels[public]
    if recipe.data.public_from is not None:
        other = load(recipe.data.public_from, data_dir)
        shown = _points(other, rng.permutation(other.train_rows)[: recipe.data.public], flat)
        truth = None
    wanted = recipe.cotraining
    plan = plan_for(
        shown, len(benchmark.classes),
        rounds=wanted.rounds, period=wanted.period, exchange=wanted.exchange, votes=wanted.votes,
        consensus=ConsensusPlan(rule=wanted.rule, quorum=wanted.quorum, ties=wanted.ties),
        privacy=recipe.privacy, seed=seed,
    ).validate()  # fmt: skip
    tested = _points(benchmark, test, flat)
    return CotrainReady(recipe, seed, sites, shown, truth, tested, benchmark.labels[test], plan)


def _rows(
    wanted: CotrainData, benchmark: Benchmark, rng: np.random.Generator
) -> tuple[Rows, Rows, Rows]:
    """Rows for the sites, in public and for the test."""
    train, test = rng.permutation(benchmark.train_rows), rng.permutation(benchmark.test_rows)
    n_public = 0 if wanted.public_from is not None else wanted.public
    if not len(test):
        test, train = train[: wanted.test], train[wanted.test :]
    if len(test) < wanted.test or len(train) < wanted.points + n_public:
        what = (
            f"{wanted.name} has {len(benchmark.train_rows):,} and {len(benchmark.test_rows):,} "
            f"points, and {wanted.points:,} + {n_public:,} + {wanted.test:,} are wanted"
        )
        raise InputError(Problem(what, "Take fewer points, or put the whole data set in place."))
    ends = wanted.points, wanted.points + n_public
    return train[: ends[0]], train[ends[0] : ends[1]], test[: wanted.test]


def _points(benchmark: Benchmark, rows: Rows, flat: bool) -> NDArray[np.generic]:
    """Images with their channels first, or as rows of numbers."""
    points = np.asarray(benchmark.points[rows])
    if points.ndim == 3:
        points = points[:, None]
    elif points.ndim == 4:
        points = points.transpose(0, 3, 1, 2)
    plain: NDArray[np.generic] = np.ascontiguousarray(points)
    return plain.reshape(len(plain), -1) if flat else plain
