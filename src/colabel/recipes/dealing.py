"""The data of a recipe: drawn, dealt to sites, masked; the same for the same seed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from colabel.data import Benchmark, LabelMask, Sites, apply_split, load, make_split, parse_partition
from colabel.errors import InputError, Problem
from colabel.randomness import data as randomness
from colabel.recipes.format import Data, Deal, Recipe

Rows = NDArray[np.int64]
Points = NDArray[np.generic]
LabelsAt = Literal["sites", "all", "server"]


class Part(NamedTuple):
    """Points and their true labels."""

    points: Points
    labels: Rows


class Dealt(NamedTuple):
    """Sites, the truth about their points (if it is known of all), and what no site has.

    server: labelled points of the server, where only it has labels. shape: of one point.
    """

    sites: Sites
    truth: Mapping[str, Rows] | None
    server: Part | None
    validation: Part | None
    test: Part
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one point, as models see it."""
        return tuple(self.test.points.shape[1:])


def deal(recipe: Recipe, seed: int, labels_at: LabelsAt, data_dir: str | Path | None) -> Dealt:
    """Everything drawn for a run. `labels_at`: "sites", "all" (their points) or the "server".

    Training points are drawn first, then those that the best round is chosen by, then the test.
    """
    benchmark = load(recipe.data.name, data_dir, side=recipe.data.side)
    train, validation, test = _draw(recipe.data, benchmark, seed)
    whole = _part(benchmark, train)
    server = None
    if labels_at == "server":
        mine = _mask(recipe.split, labels_at).choose(whole.labels, randomness(seed, "label mask"))
        server = Part(whole.points[mine], whole.labels[mine])
        train, whole = train[~mine], Part(whole.points[~mine], whole.labels[~mine])
    sites, truth = _sites(recipe.split, benchmark, train, whole, seed, labels_at)
    mean, std = _moments(whole.points)
    parts = [_part(benchmark, rows) for rows in (validation, test)]
    known = bool((whole.labels >= 0).all())
    return Dealt(
        sites, truth if known else None, server, parts[0] if len(validation) else None, parts[1],
        mean, std,
    )  # fmt: skip


def _part(benchmark: Benchmark, rows: Rows) -> Part:
    """Images with their channels first; rows of numbers as they are."""
    points = np.asarray(benchmark.points[rows])
    if points.dtype.kind not in "biuf":
        what = f"the points of {benchmark.name} are not numbers"
        raise InputError(Problem(what, "Take a data set of numbers or images."))
    if points.ndim == 3:
        points = points[:, None]
    elif points.ndim == 4:
        points = points.transpose(0, 3, 1, 2)
    return Part(np.ascontiguousarray(points), benchmark.labels[rows])


def _draw(data: Data, benchmark: Benchmark, seed: int) -> tuple[Rows, Rows, Rows]:
    """Rows for training, validation and test.

    Points without a label, in sets that have some, are only for training, after all others.
    """
    rng = randomness(seed, "rows of a recipe")
    train, test = benchmark.train_rows, benchmark.test_rows
    if data.merge_test or not len(test):
        train, test = np.arange(len(benchmark)), np.empty(0, np.int64)
    drawn = rng.permutation(train)
    known = drawn[benchmark.labels[drawn] >= 0]
    others = drawn[benchmark.labels[drawn] < 0]
    if not len(test):
        if data.test is None:
            what = f"{data.name} has no test part here, and data.test is not given"
            raise InputError(Problem(what, "Give the number of points to test on."))
        _enough(data, "test", data.test, len(known))
        test, known = known[: data.test], known[data.test :]
    else:
        _enough(data, "test", data.test, len(test))
        test = rng.permutation(test)[: data.test]
    _enough(data, "validation", data.validation, len(known) - 1)
    left = len(known) - data.validation
    _enough(data, "points", data.points, left + len(others))
    validation, known = known[left:], known[:left]
    return np.concatenate([known, others])[: data.points], validation, test


def _enough(data: Data, key: str, wanted: int | None, there: int) -> None:
    least = 0 if key == "validation" else 1
    if wanted is not None and not least <= wanted <= there:
        what = f"data.{key} is {wanted}, and {data.name} has {max(there, 0):,} such points here"
        fix = f"Give {least} to {there:,}, or put the whole data set in place."
        raise InputError(Problem(what, fix))


def _mask(split: Deal, labels_at: LabelsAt) -> LabelMask:
    if labels_at == "all":
        return LabelMask(fraction=1.0)
    given = (split.labels, split.label_fraction, split.labels_per_site)
    if sum(value is not None for value in given) != 1:
        what = "split does not say how many labels there are"
        fix = "Give one of labels, label_fraction and labels_per_site."
        raise InputError(Problem(what, fix))
    if labels_at == "server":
        n = split.labels if split.labels_per_site is None else split.labels_per_site * split.sites
        return LabelMask(n_labels=n, fraction=split.label_fraction, stratified=True)
    return LabelMask(
        n_labels=split.labels,
        fraction=split.label_fraction,
        labels_per_site=split.labels_per_site,
        n_sites_with_labels=split.labelled_sites,
        stratified=split.stratified,
        every_class=split.every_class,
    )


def _sites(
    split: Deal, benchmark: Benchmark, rows: Rows, whole: Part, seed: int, labels_at: LabelsAt
) -> tuple[Sites, dict[str, Rows]]:
    """The sites and the truth about all their points."""
    natural = benchmark.natural_sites
    apart = split.unlabelled_partition if labels_at == "sites" else None
    made = make_split(
        benchmark.name,
        whole.points,
        whole.labels,
        partition=parse_partition(_of_unlabelled(split, labels_at)),
        unlabelled_partition=parse_partition(apart) if apart else None,
        mask=LabelMask(n_labels=1) if labels_at == "server" else _mask(split, labels_at),
        n_sites=split.sites,
        seed=seed,
        groups=None if natural is None else natural[rows],
    )
    if labels_at == "server":  # the one label that a split must show
        made = replace(made, labelled_rows=((),) * len(made.sites))
    sites = apply_split(made, whole.points, whole.labels, benchmark.classes)
    truth = {
        name: whole.labels[np.array(held, np.int64)]
        for name, held in zip(made.sites, made.rows, strict=True)
    }
    return sites, truth


def _of_unlabelled(split: Deal, labels_at: LabelsAt) -> str:
    """How points are dealt; where no site is without labels, or none has any, there is one way."""
    if labels_at == "sites" or split.unlabelled_partition is None:
        return split.partition
    return split.unlabelled_partition


def _moments(points: Points) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation: of each channel of images, of all numbers of rows."""
    axes = (0, *range(2, points.ndim)) if points.ndim == 4 else None
    mean = np.atleast_1d(points.mean(axis=axes, dtype=np.float64))
    std = np.atleast_1d(points.std(axis=axes, dtype=np.float64))
    return tuple(mean.tolist()), tuple(np.where(std > 0, std, 1.0).tolist())
