"""More of FedCT's experiments, smaller: non-iid sites, many sites, size and kind of the public set.

python -m bench.fedct_more [--data-dir DATA] [--seeds 1] [--only "non-iid"] [--json FILE]

Fashion-MNIST with the paper's MLP, 10,000 labelled images at all sites together, 5,000 to test,
batches of 64 own and 64 public images, Adam at 0.001; 500 steps with an exchange after every 50
(the paper: 20,000 steps), 100 for many sites. Accuracy of the sites' models, on average.
- non-iid [table 2]: 10 sites; half of the labelled images are dealt by Dirichlet 100, the other
  half by Dirichlet 2 or 0.01; or all of them by Dirichlet 0.01. 5,000 public images.
- sites [figure 9]: the same 10,000 images dealt to 5 … 80 sites.
- public [figure 12; there on Pneumonia]: 5 sites of 20 labelled images, more or fewer public ones.
- other [table 4; there with CIFAR-100]: 8,500 images of CIFAR-10 at 5 sites, a small CNN, 8,500
  public images that are iid, skewed (Dirichlet 1 and 0.5), skin lesions, or clothes.
- sum: one turn, votes in clear and masked: the consensus must be the same.
"""

import time
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.cells import arguments, report
from bench.tables import mean, table
from colabel.cotrain.consensus import ConsensusPlan
from colabel.data import LabelMask, Sites, load, make_split, parse_partition
from colabel.data.site import from_groups
from colabel.jobs.cotrain import cotrain_sites, learn_alone, plan_for
from colabel.jobs.fedavg_for_comparison import fedavg_sites
from colabel.learning.cotraining import NetworkLearner
from colabel.learning.models import ModelPlan
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.randomness import data

N_LABELLED, N_PUBLIC, N_TEST, STEPS, TURNS = 10_000, 5_000, 5_000, 50, 10
Images = NDArray[np.uint8]
Labels = NDArray[np.int64]


class World(NamedTuple):
    """One draw; rows of a pool of labelled images for whatever is dealt from it."""

    seed: int
    pool: Images
    labels: Labels
    public: Images
    test: Images
    truth: Labels
    model: ModelPlan
    steps: int = STEPS


def clothes(seed: int, data_dir: str | None, n_public: int = N_PUBLIC) -> World:
    """Fashion-MNIST."""
    held = load("fashion_mnist", data_dir)
    rng = data(seed, "bench fedct more")
    own, public = np.split(rng.permutation(held.train_rows)[: N_LABELLED + n_public], [N_LABELLED])
    test = rng.permutation(held.test_rows)[:N_TEST]
    pool = np.asarray(held.points[own])[:, None]
    model = ModelPlan(
        name="fedct_mlp", shape=(1, 28, 28), n_classes=10, norm="none",
        mean=(float(pool.mean()),), std=(float(pool.std()),),
    )  # fmt: skip
    return World(
        seed, pool, held.labels[own], np.asarray(held.points[public])[:, None],
        np.asarray(held.points[test])[:, None], held.labels[test], model,
    )  # fmt: skip


def local(own: World) -> LocalPlan:
    """Of a turn."""
    return LocalPlan(
        steps=own.steps, labelled_batch=64, optimiser=OptimiserPlan(name="adam", rate=1e-3)
    )


def iid(own: World, n_sites: int, rows: slice = slice(None)) -> Sites:
    """In turns."""
    labels = own.labels[rows]
    names = [f"site-{number % n_sites:02}" for number in range(len(labels))]
    return from_groups(own.pool[rows], labels, names, [str(c) for c in range(10)])


def mixed(own: World, first: float, second: float, n_sites: int) -> Sites:
    """Half dealt by one Dirichlet distribution, half by another [FedCT §5]."""
    names = np.empty(len(own.labels), dtype="<U8")
    half = len(names) // 2
    for number, (at, alpha) in enumerate(((slice(None, half), first), (slice(half, None), second))):
        labels = own.labels[at]
        split = make_split(
            "half", np.zeros((len(labels), 1)), labels,
            partition=parse_partition(f"dirichlet:{alpha:g}"), mask=LabelMask(fraction=1.0),
            n_sites=n_sites, seed=2 * own.seed + number,
        )  # fmt: skip
        for place, rows in enumerate(split.rows):
            names[np.arange(len(names))[at][list(rows)]] = f"site-{place:02}"
    return from_groups(own.pool, own.labels, names, [str(c) for c in range(10)])


def accuracy(own: World, held: Mapping[str, NetworkLearner]) -> float:
    """Mean over the sites' models."""
    return float(np.mean([(one.predict(own.test) == own.truth).mean() for one in held.values()]))


def fedct(own: World, sites: Sites, public: Images | None = None, **settings: Any) -> float:
    """FedCT, or with exchange="scores" DD."""
    held = _learners(own, sites)
    shown = own.public if public is None else public
    wanted = {"rounds": TURNS, "votes": "clear", "seed": own.seed, **settings}
    cotrain_sites(sites, shown, held, plan_for(shown, 10, **wanted))
    return accuracy(own, held)


def fedavg(own: World, sites: Sites) -> float:
    """As many steps, as many exchanges."""
    found = fedavg_sites(
        sites, own.model, local(own), TURNS, seed=own.seed, protection="none"
    ).learner
    return float((found.predict(own.test) == own.truth).mean())


def alone(own: World, sites: Sites) -> float:
    """Without communication."""
    held = _learners(own, sites)
    learn_alone(sites, held, TURNS)
    return accuracy(own, held)


def _learners(own: World, sites: Sites) -> dict[str, NetworkLearner]:
    return {name: NetworkLearner(own.model, local(own), own.seed, name) for name in sites.names}


QUORUM = ConsensusPlan(rule="qualified", quorum=0.9)
Cells = dict[str, Callable[[int, str | None], float]]


def _non_iid() -> Cells:
    """Table 2, and the paper's figures."""
    paper = {
        (100, 2): (79.75, 79.68, 81.50, 76.84),
        (100, 0.01): (79.05, 78.08, 79.50, 72.19),
        (0.01, 0.01): (62.52, 73.58, 73.46, 55.80),
    }
    ways: dict[str, Callable[[World, Sites], float]] = {
        "FedCT": lambda own, sites: fedct(own, sites),
        "FedCT, quorum 0.9": lambda own, sites: fedct(own, sites, consensus=QUORUM),
        "FedAvg": fedavg,
        "DD": lambda own, sites: fedct(own, sites, exchange="scores"),
    }
    found: Cells = {}
    for (alphas, figures), (place, (name, way)) in product(paper.items(), enumerate(ways.items())):

        def run(seed: int, at: str | None, way: Any = way, alphas: Any = alphas) -> float:
            own = clothes(seed, at)
            return float(way(own, mixed(own, *alphas, 10)))

        found[f"non-iid {alphas[0]:g} / {alphas[1]:g}, {name} (paper: {figures[place]:.1f})"] = run
    return found


def _many() -> Cells:
    found: Cells = {}
    for n_sites, (name, way) in product(
        (5, 10, 20, 40, 80), (("FedCT", fedct), ("FedAvg", fedavg))
    ):

        def run(seed: int, at: str | None, n: int = n_sites, way: Any = way) -> float:
            own = clothes(seed, at)._replace(steps=STEPS // 5)
            return float(way(own, iid(own, n)))

        found[f"sites {n_sites}, {name}"] = run
    return found


def _public() -> Cells:
    def run(seed: int, at: str | None, n: int) -> float:
        own = clothes(seed, at, 10_000)
        sites = iid(own, 5, slice(None, 100))
        return fedct(own, sites, own.public[:n]) if n else alone(own, sites)

    return {
        f"public {n:,}": lambda seed, at, n=n: run(seed, at, n)  # type: ignore[misc]
        for n in (0, 30, 100, 300, 1_000, 3_000, 10_000)
    }


def _other() -> Cells:
    figures = {
        "iid": 77.0, "Dirichlet 1": 74.0, "Dirichlet 0.5": 72.0, "skin lesions": None,
        "clothes": None, "none": None,
    }  # fmt: skip

    def run(seed: int, at: str | None, kind: str) -> float:
        own, public = photographs(seed, at, kind)
        sites = iid(own, 5)
        return alone(own, sites) if kind == "none" else fedct(own, sites, public)

    return {
        f"other, {kind}" + (f" (paper: {paper:.0f})" if paper else ""): (
            lambda seed, at, kind=kind: run(seed, at, kind)  # type: ignore[misc]
        )
        for kind, paper in figures.items()
    }


def photographs(seed: int, data_dir: str | None, kind: str) -> tuple[World, Images]:
    """CIFAR-10 at the sites, and another public set."""
    held, n = load("cifar10", data_dir), 8_500
    rng = data(seed, "bench fedct other")
    drawn = rng.permutation(held.train_rows)
    own, rest = drawn[:n], drawn[n:]
    if kind.startswith("Dirichlet"):  # so many of each class as the distribution says
        shares = rng.dirichlet([float(kind.split()[1])] * 10)
        weights = shares[held.labels[rest]]
        rest = rng.choice(rest, n, replace=False, p=weights / weights.sum())
    public = _channels_first(np.asarray(held.points[rest[:n]]))
    if kind == "skin lesions":
        other = load("ham10000", data_dir)
        images = np.asarray(other.points[rng.permutation(len(other))[:n]])
        public = _channels_first(images.reshape(len(images), 32, 32, 3))
    if kind == "clothes":
        other = load("fashion_mnist", data_dir)
        grey = np.asarray(other.points[rng.permutation(other.train_rows)[:n]])
        public = np.repeat(np.pad(grey, ((0, 0), (2, 2), (2, 2)))[:, None], 3, axis=1)
    test = rng.permutation(held.test_rows)[:N_TEST]
    pool = _channels_first(np.asarray(held.points[own]))
    model = ModelPlan(
        name="tiny_cnn", shape=(3, 32, 32), n_classes=10, norm="none",
        mean=tuple(pool.mean(axis=(0, 2, 3)).tolist()),
        std=tuple(pool.std(axis=(0, 2, 3)).tolist()),
    )  # fmt: skip
    images = _channels_first(np.asarray(held.points[test]))
    return World(seed, pool, held.labels[own], public, images, held.labels[test], model), public


def _channels_first(images: NDArray[np.generic]) -> Images:
    return np.ascontiguousarray(images.transpose(0, 3, 1, 2)).astype(np.uint8)


def sums(seed: int, data_dir: str | None) -> dict[str, Any]:
    """The same turn with votes in clear and masked."""
    own = clothes(seed, data_dir, 10_000)._replace(steps=100)
    sites, found = iid(own, 5), {}
    for votes in ("clear", "masked"):
        began = time.perf_counter()
        plan = plan_for(own.public, 10, rounds=1, votes=votes, seed=seed)
        outcome = cotrain_sites(sites, own.public, _learners(own, sites), plan)
        found[votes] = outcome.result.consensus
        up = sum(e.bytes_up for e in outcome.costs.exchanges) / 5
        down = sum(e.bytes_down for e in outcome.costs.exchanges) / 5
        took = time.perf_counter() - began
        print(f"sum, {votes}: {up / 1e3:.1f} kB up, {down / 1e3:.1f} kB down, {took:.1f} s,"
              f" {outcome.costs.steps} steps")  # fmt: skip
        found[f"{votes}, kB"] = [up / 1e3, down / 1e3, took, outcome.costs.steps]
    assert np.array_equal(found.pop("clear"), found.pop("masked"))
    return found


def main() -> None:
    options = arguments(__doc__)
    started, results, lines = time.perf_counter(), dict[str, Any](), []
    cells = {**_non_iid(), **_many(), **_public(), **_other()}
    for name, run in cells.items():
        if options.only not in name:
            continue
        results[name] = [run(seed, options.data_dir) for seed in range(options.seeds)]
        lines.append([name, mean(results[name])])
        print(lines[-1], f"{time.perf_counter() - started:.0f} s", flush=True)
    if options.only in "sum":
        results["sum"] = sums(0, options.data_dir)
    report("More of FedCT", results, started, options.json)
    print(*table(["", "accuracy"], lines), sep="\n")


if __name__ == "__main__":
    main()
