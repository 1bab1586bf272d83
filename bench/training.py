"""Federated semi-supervised training: every method of the papers, and ours, on the same data.

python -m bench.training fashion_mnist|cifar10 [--data-dir DATA] [--seeds 3] [--methods …]
    [--cells …] [--workers 2] [--out bench/results/training_NAME.jsonl]

100 sites (50 on CIFAR-10), 5 take part in a round; 20,000 points in the sites, 2,000 to choose
the best round and the learning rate by, 5,000 to test. Non-iid: 5 classes at each site, for
labelled and unlabelled points alike. "Silos": 5 sites of 1,000 points with 10 labels each, which
take part in every round, so that all labels are in the graph, and the warm-up is 10 rounds, not 40.
Every method sees the same draws, has the same number of rounds and of steps in a round; its
learning rate is the one of RATES that is best on the validation points of seed 100, which is used
for nothing else (`--tune`: iid, all sites with labels, the mean of 1 % and 5 % labelled; ours take
the rate of FedProp). A warm-up is run once for all methods that begin with it at the same rate.

Results are appended run by run: a run that is there already is not repeated.
"""

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from bench.cells import machine
from colabel.data import LabelMask, Sites, apply_split, load, make_split, parse_partition
from colabel.errors import Diverged
from colabel.federation.methods import METHODS, method
from colabel.federation.presets import paper_graph
from colabel.federation.training_plan import Stage, TrainingPlan
from colabel.jobs.checkpoint import Checkpoint
from colabel.jobs.train import train_sites
from colabel.learning.judging import Judge
from colabel.learning.models import ModelPlan
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.randomness import data as data_randomness

RATES = (0.003, 0.01, 0.03, 0.1)
TUNING_SEED = 100
N_POINTS, N_VALIDATION, N_TEST = 20_000, 2_000, 5_000
N_IN_SILOS, PER_ROUND = 5_000, 5
WARM_UP, ALL_ROUNDS, STEPS = 40, 70, 10
N_SITES = {"fashion_mnist": 100, "cifar10": 50}
PAPERS = (
    "fedavg",
    "fedavg_network",
    "fedsem",
    "fedavg_lp",
    "fedsiam",
    "fedmatch",
    "fixmatch_fedavg",
    "fedavg_mt",
    "fedprop",
    "fedprop_mt",
    "protofssl_fedavg",
)


class Cell(NamedTuple):
    """One setting of the data."""

    partition: str
    share: float
    half: bool = False
    silos: bool = False

    def __str__(self) -> str:
        sites = "half of the sites" if self.half else "5 silos" if self.silos else "all sites"
        kind = "iid" if self.partition == "iid" else "non-iid"
        return f"{kind}, {self.share:.0%} labelled, at {sites}"

    @property
    def n_points(self) -> int:
        """At all sites together."""
        return N_IN_SILOS if self.silos else N_POINTS

    @property
    def warm_up(self) -> int:
        """Rounds on labels only."""
        return 10 if self.silos else WARM_UP

    def n_sites(self, name: str) -> int:
        """How many there are."""
        return PER_ROUND if self.silos else N_SITES[name]


CELLS = (
    *(Cell(*c) for c in product(("iid", "classes:5"), (0.01, 0.05), (False, True))),
    *(Cell(partition, 0.01, silos=True) for partition in ("iid", "classes:5")),
)


TUNING_CELLS = tuple(Cell("iid", share) for share in (0.01, 0.05))


class Federation(NamedTuple):
    """Sites, the truth about their points, and the judges."""

    sites: Sites
    truth: Mapping[str, np.ndarray]
    validation: Judge
    test: Judge
    model: ModelPlan


@lru_cache(maxsize=2)
def federation(name: str, cell: Cell, seed: int, data_dir: str | None) -> Federation:
    """Rows drawn, dealt and masked by the seed."""
    benchmark = load(name, data_dir)
    images = benchmark.points
    images = images[:, None] if images.ndim == 3 else images.transpose(0, 3, 1, 2)
    rng = data_randomness(seed, "bench training")
    n_points, n_sites = cell.n_points, cell.n_sites(name)
    drawn = rng.permutation(benchmark.train_rows)[: n_points + N_VALIDATION]
    held = {"train": drawn[:n_points], "validation": drawn[n_points:]}
    held["test"] = rng.permutation(benchmark.test_rows)[:N_TEST]
    points = {part: np.ascontiguousarray(images[rows]) for part, rows in held.items()}
    labels = {part: benchmark.labels[rows] for part, rows in held.items()}
    mask = LabelMask(
        n_labels=round(cell.share * n_points),
        n_sites_with_labels=n_sites // 2 if cell.half else n_sites,
        every_class=True,
    )
    partition = parse_partition(cell.partition)
    split = make_split(
        name, points["train"], labels["train"],
        partition=partition, mask=mask, n_sites=n_sites, seed=seed,
    )  # fmt: skip
    sites = apply_split(split, points["train"], labels["train"], benchmark.classes)
    truth = {
        site: labels["train"][list(rows)]
        for site, rows in zip(split.sites, split.rows, strict=True)
    }
    spread = points["train"].reshape(n_points, points["train"].shape[1], -1).astype(np.float64)
    model = ModelPlan(
        name="tiny_cnn",
        shape=points["train"].shape[1:],
        n_classes=len(benchmark.classes),
        norm="group",  # a batch may hold two labelled points: too few for statistics of a batch
        mean=tuple(spread.mean(axis=(0, 2)).tolist()),
        std=tuple(spread.std(axis=(0, 2)).tolist()),
    )
    judges = (Judge(model, points[part], labels[part]) for part in ("validation", "test"))
    return Federation(sites, truth, *judges, model)


def base(model: ModelPlan, warm_up: int, rate: float, seed: int) -> TrainingPlan:
    """What all methods share."""
    graph = replace(paper_graph(model.n_classes, hamming="clear", seed=bytes(32)), keep_labels=True)
    return TrainingPlan(
        model=model,
        stages=(Stage(rounds=warm_up), Stage(rounds=ALL_ROUNDS - warm_up)),
        local=LocalPlan(
            steps=STEPS,
            labelled_batch=10,
            augmentation="translate" if model.shape[0] == 1 else "translate_flip",
            optimiser=OptimiserPlan(rate=rate, weight_decay=2e-4, cosine_rounds=120),
        ),
        graph=graph,
        sites_per_round=PER_ROUND,
        judge_every=5,
        seed=seed,
    )


def ours(base_plan: TrainingPlan) -> dict[str, TrainingPlan]:
    """Options beyond the papers, each with XCLP's graph or with the library's own."""
    n_classes = base_plan.model.n_classes
    graph = replace(
        paper_graph(n_classes, hamming="clear", seed=bytes(32)),
        n_neighbors=20, alpha="share", sharpness=4.0, class_weighting="balanced", keep_labels=True,
    )  # fmt: skip
    soft = replace(graph, seeds="predictions", alpha=0.9)
    warm, last = base_plan.stages[0], base_plan.stages[1]
    along = (warm, replace(last, labels="graph"))
    joint = (warm, replace(last, labels="joint"))
    return {
        "fedprop, our graph": replace(base_plan, stages=along, graph=graph),
        "fedprop, predictions flow": replace(base_plan, stages=along, graph=soft),
        "joint": replace(base_plan, stages=joint, graph=graph),
    }


def plan_of(name: str, base_plan: TrainingPlan) -> TrainingPlan:
    """A method of the papers, or one of ours."""
    if name not in METHODS:
        return ours(base_plan)[name].validate()
    plan = method(name, base_plan)
    if name == "fedavg":  # labels only from the first round to the last
        return plan
    if name.startswith("protofssl"):  # it knows no head, so no warm-up with one either
        stages = (Stage(rounds=ALL_ROUNDS, terms=plan.stages[-1].terms),)
        return replace(plan, stages=stages, model=replace(plan.model, head=False)).validate()
    return plan


class Run(NamedTuple):
    """One training run."""

    data: str
    cell: Cell
    method: str
    rate: float
    seed: int

    @property
    def key(self) -> str:
        """What it is known by in the file of results."""
        return f"{self.cell} | {self.method} | {self.rate} | {self.seed}"


@lru_cache(maxsize=4)
def warmed_up(
    data: str, cell: Cell, seed: int, data_dir: str | None, plan: TrainingPlan
) -> Checkpoint:
    """The rounds on labels only, which most methods begin with."""
    found, kept = federation(data, cell, seed, data_dir), []
    train_sites(found.sites, plan, judge=found.validation, truth=found.truth, keep=kept.append)
    return kept[-1]


def train_once(run: Run, data_dir: str | None) -> dict[str, Any]:
    """Train, and judge the round that is best on the validation points by the test points."""
    said = {**run._asdict(), "key": run.key, "cell": str(run.cell)}
    found = federation(run.data, run.cell, run.seed, data_dir)
    plain = base(found.model, run.cell.warm_up, run.rate, run.seed)
    plan = plan_of(run.method, plain)
    validation = Judge(plan.model, found.validation.points.numpy(), found.validation.labels)
    test = Judge(plan.model, found.test.points.numpy(), found.test.labels)
    started = time.perf_counter()
    try:
        begin = None
        if len(plan.stages) > 1 and plan.stages[0] == plain.stages[0]:
            warm = replace(plain, stages=plain.stages[:1])
            begin = warmed_up(run.data, run.cell, run.seed, data_dir, warm)
        outcome = train_sites(found.sites, plan, judge=validation, truth=found.truth, state=begin)
    except Diverged:
        return {**said, "test": 0.1, "validation": 0.0, "diverged": True}
    state, history = outcome.state, outcome.history
    best = state.model if state.best is None else state.best
    kept = state.kept if state.best is None else state.best_kept
    terms = plan.stages[-1].terms
    told = [event for event in history if "pseudo_accuracy" in event]
    return {
        **said,
        "test": test(best, kept, terms)["accuracy"],
        "last": test(state.model, state.kept, terms)["accuracy"],
        "validation": state.best_score,
        "pseudo": [round(float(event["pseudo_accuracy"]), 4) for event in told],
        "coverage": [round(float(event["pseudo_coverage"]), 4) for event in told],
        "seconds": round(time.perf_counter() - started, 1),
    }


def tuned(rows: list[dict[str, Any]], name: str) -> float:
    """The rate that is best on the validation points of the tuning seed."""
    like = name if name in METHODS else "fedprop"
    tried: dict[float, float] = {}
    for row in rows:
        if (row["method"], row["seed"]) == (like, TUNING_SEED):
            tried[row["rate"]] = tried.get(row["rate"], 0.0) + row["validation"]
    return max(tried, key=lambda rate: tried[rate]) if tried else RATES[1]


def wanted(options: argparse.Namespace, rows: list[dict[str, Any]]) -> Iterator[Run]:
    """The runs that are asked for and not there yet."""
    there = {row["key"] for row in rows}
    cells = [CELLS[number] for number in options.cells]
    if options.tune:
        cells = list(TUNING_CELLS)
    seeds = [TUNING_SEED] if options.tune else range(options.seeds)
    names = [name for name in options.methods if name in METHODS or not options.tune]
    for seed, cell, name in product(seeds, cells, names):
        rates = RATES if options.tune else (tuned(rows, name),)
        for rate in rates:
            run = Run(options.data, cell, name, rate, seed)
            if run.key not in there:
                yield run


def together(runs: Iterator[Run]) -> list[list[Run]]:
    """Those that begin with the same warm-up, for one process."""
    found: dict[tuple[Cell, int, float], list[Run]] = {}
    for run in runs:
        found.setdefault((run.cell, run.seed, run.rate), []).append(run)
    return list(found.values())


def _work(task: tuple[list[Run], str | None]) -> list[dict[str, Any]]:
    return [train_once(run, task[1]) for run in task[0]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", choices=tuple(N_SITES))
    parser.add_argument("--data-dir")
    parser.add_argument("--seeds", type=int, default=3)
    names = (*PAPERS, "fedprop, our graph", "fedprop, predictions flow", "joint")
    parser.add_argument("--methods", nargs="+", default=list(names))
    parser.add_argument("--cells", nargs="+", type=int, default=list(range(len(CELLS))))
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    out = options.out or Path("bench/results") / f"training_{options.data}.jsonl"
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    tasks = [(runs, options.data_dir) for runs in together(wanted(options, rows))]
    started = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for found in pool.imap_unordered(_work, tasks):
            with out.open("a") as stream:
                stream.writelines(json.dumps(row) + "\n" for row in found)
            for row in found:
                print(f"{row['key']}: {row['test']:.3f} {row.get('seconds')}", flush=True)
    print(f"{(time.perf_counter() - started) / 60:.1f} min on {machine()}")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
