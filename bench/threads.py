"""A training step with one and with two of torch's threads, on the machine as it is and kept busy.

python -m bench.threads [--seconds 1] [--json FILE]    (two minutes)

Steps of SGD on random points, medians in milliseconds; the numbers of threads take turns, twice.
"Busy": beside it run as many processes as there are cores, that only count.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from bench.cells import machine
from bench.tables import records
from colabel.learning.flops import of_one_point
from colabel.learning.models import ModelPlan, make
from colabel.learning.threads import LITTLE
from colabel.machine import n_threads

CASES = {
    "mlp_head": ((512,), 100),
    "fedct_mlp": ((1, 28, 28), 100),
    "small_cnn": ((3, 32, 32), 100),
    "fedct_cifar": ((3, 32, 32), 100),
    "cnn13": ((3, 32, 32), 20),
    "resnet9": ((3, 32, 32), 20),
}


@contextmanager
def busy(n: int) -> Iterator[None]:
    """So many processes that only count."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def measure(name: str, seconds: float) -> dict[str, Any]:
    """One model."""
    idle = steps(name, seconds)
    with busy(n_threads()):
        full = steps(name, seconds)
    shape, batch = CASES[name]
    plan = ModelPlan(name=name, shape=shape, n_classes=10)
    operations = batch * of_one_point(plan).products
    return {
        "model": name,
        "batch": batch,
        "parameters": sum(held.numel() for held in make(plan).parameters()),
        "GFLOP of a batch": operations / 1e9,
        "as it is: one thread ms": idle[1],
        "as it is: two threads ms": idle[2],
        "busy: one thread ms": full[1],
        "busy: two threads ms": full[2],
        "colabel takes": "one" if operations < LITTLE else "all",
    }


def steps(name: str, seconds: float) -> dict[int, float]:
    """Milliseconds of a step, for each number of threads."""
    shape, batch = CASES[name]
    plan = ModelPlan(name=name, shape=shape, n_classes=10)
    network = make(plan)
    points, labels = torch.randn(batch, *shape), torch.randint(10, (batch,))
    mover = torch.optim.SGD(network.parameters(), 0.01)
    taken: dict[int, list[float]] = {1: [], 2: []}
    for n in (1, 2, 1, 2):
        torch.set_num_threads(n)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            started = time.perf_counter()
            mover.zero_grad()
            cross_entropy(network(points), labels).backward()
            mover.step()
            taken[n].append(time.perf_counter() - started)
    return {n: 1000 * median(held) for n, held in taken.items()}


def main() -> None:
    """All models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement")
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    options = parser.parse_args()
    rows = [measure(name, options.seconds) for name in CASES]
    print(*records(rows), sep="\n")
    print(machine())
    if options.json is not None:
        content = {"machine": machine(), "models": rows}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
