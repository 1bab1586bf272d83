"""How long the tables of `colabel reproduce` take: the `minutes` in their files, for one seed.

python -m bench.recipe_minutes [TABLE …] [--data-dir DATA] [--speed]

cpu: every row is timed for a few rounds of each stage in its first column, and these times the
rounds of all cells are added up. full: operations by formula (see colabel.recipes.foretelling),
divided by what this machine computes in a second (--speed measures that, on all its cores); a GPU
is not used. Methods that look at a batch several times are weighted as there.
"""

import argparse
import time
from collections.abc import Mapping

import numpy as np
import torch

from bench.cells import machine
from colabel.jobs.train import train_sites
from colabel.learning.flops import forward
from colabel.learning.models import ModelPlan, make
from colabel.protocols.keys import Group, Welcome
from colabel.recipes.building import make_plan, ready
from colabel.recipes.foretelling import TRAINING_PASSES, expected
from colabel.recipes.reading import Cell, Source, recipe
from colabel.recipes.shipped import find, names

SHAPES = {"mini_imagenet": (3, 84, 84), "stl10": (3, 96, 96), "fashion_mnist": (1, 28, 28)}
CLASSES = {"mini_imagenet": 100, "cifar100": 100}
TIMED = 3  # rounds of each stage; the first of them is not counted


def seconds_at_cpu_scale(source: Source, data_dir: str | None) -> float:
    """Of one seed of all cells."""
    total, by_row = 0.0, dict[str, tuple[float, list[float]]]()
    for cell in source.cells("cpu"):
        if cell.row not in by_row:
            by_row[cell.row] = _timed(source, cell, data_dir)
        around, each = by_row[cell.row]
        wanted = recipe(cell).training
        rounds = [wanted.warm_up, wanted.rounds] if wanted.warm_up else [wanted.rounds]
        total += around + sum(n * one for n, one in zip(rounds, each, strict=True))
    return total


def _timed(source: Source, cell: Cell, data_dir: str | None) -> tuple[float, list[float]]:
    """Seconds around training, and of a round in each stage."""
    warm = recipe(cell).training.warm_up
    changes = [f"training.rounds={TIMED}", f"training.warm_up={TIMED if warm else 0}"]
    short = recipe(source.cell(cell.name, "cpu", changes))
    began = time.perf_counter()
    made = ready(short, 0, data_dir)
    outcome = train_sites(
        made.dealt.sites, made.plan, judge=made.validation, truth=made.dealt.truth
    )
    state, terms = outcome.state, made.plan.stages[-1].terms
    made.test(state.model, state.kept, terms)
    whole = time.perf_counter() - began
    took: dict[int, list[float]] = {}
    for event in outcome.history:
        took.setdefault(event["stage"], []).append(sum(event["seconds"].values()))
    each = [float(np.mean(laps[1:])) for laps in took.values()]
    return max(whole - sum(map(sum, took.values())), 0.0), each


def seconds_at_full_scale(source: Source) -> float:
    """Of one seed of all cells, by formula."""
    return sum(_by_formula(cell) for cell in source.cells("full"))


def _by_formula(cell: Cell) -> float:
    wanted = recipe(cell)
    data, split = wanted.data, wanted.split
    classes = CLASSES.get(data.name, 10)
    plan = make_plan(wanted, SHAPES.get(data.name, (3, 32, 32)), classes, 0)
    n_points, labels = data.points or 0, split.labels or 0
    if wanted.method.name.endswith("_supervised"):
        labels = n_points
    having = split.labelled_sites or split.sites
    sizes = {
        f"site-{n}": Welcome(
            n_points // split.sites, labels // having if n < having else 0, make(plan.model).width
        )
        for n in range(split.sites)
    }
    return expected(plan, Group(sizes))[0]


def speed() -> Mapping[str, float]:
    """Operations in a second of training steps with 40 points."""
    found = {}
    for name in ("cnn13", "resnet9", "resnet18"):
        plan = ModelPlan(name=name, shape=(3, 32, 32), n_classes=10)
        network, points = make(plan), torch.randn(40, 3, 32, 32)
        mover = torch.optim.SGD(network.parameters(), 0.1)
        laps = []
        for _ in range(6):
            began = time.perf_counter()
            mover.zero_grad()
            torch.nn.functional.cross_entropy(network(points), torch.zeros(40).long()).backward()
            mover.step()
            laps.append(time.perf_counter() - began)
        operations = TRAINING_PASSES * 40 * forward(network, plan.shape).flops
        found[name] = operations / float(np.median(laps))
    return found


def main() -> None:
    """All tables, or some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=[])
    parser.add_argument("--data-dir")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if options.speed:
        for name, found in speed().items():
            print(f"{name}: {found / 1e9:.1f} GFLOP/s")
        return
    for name in options.tables or names():
        source = find(name)
        if source.can_run:
            cpu = seconds_at_cpu_scale(source, options.data_dir) / 60
            full = seconds_at_full_scale(source) / 60
            print(f"{name}: minutes = {{ cpu = {cpu:.1f}, full = {full:.0f} }}", flush=True)
    print(machine())


if __name__ == "__main__":
    main()
