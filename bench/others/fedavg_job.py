"""The job that all libraries of `bench.throughput` do: one model, the same points, FedAvg.

Read from a file, so that a worker needs torch and NumPy only. `network` has the layers of our
`tiny_cnn` or `mlp_head`; its parameters are read in the same order.
"""

import json
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy


@dataclass(frozen=True)
class Job:
    """points, labels: sites × points of each; start: the first parameters, in order."""

    points: torch.Tensor
    labels: torch.Tensor
    test_points: torch.Tensor
    test_labels: torch.Tensor
    start: list[np.ndarray]
    model: str
    rounds: int
    per_round: int
    batch: int
    rate: float


@lru_cache(maxsize=1)
def read(path: str) -> Job:
    """The job; points are normalised already."""
    with np.load(path) as held:
        settings = json.loads(str(held["settings"]))
        arrays = [torch.from_numpy(held[n]) for n in ("points", "labels", "test_x", "test_y")]
        start = [held[f"start_{number}"] for number in range(settings.pop("parameters"))]
    return Job(*arrays, start=start, **settings)


def network(job: Job) -> nn.Module:
    """As `tiny_cnn` without normalisation, or `mlp_head`; with the first parameters."""
    return put(_mlp() if job.model == "mlp_head" else _cnn(), job.start)


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))


def _cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 49, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def put(module: nn.Module, arrays: list[np.ndarray]) -> nn.Module:
    """Parameters in order."""
    with torch.no_grad():
        for held, array in zip(module.parameters(), arrays, strict=True):
            held.copy_(torch.from_numpy(np.array(array)))
    return module


def train(module: nn.Module, points: torch.Tensor, labels: torch.Tensor, job: Job) -> None:
    """One epoch, plainly: for libraries that leave it to their user."""
    mover = torch.optim.SGD(module.parameters(), job.rate)
    module.train()
    order = torch.randperm(len(labels))
    for rows in order.split(job.batch):
        mover.zero_grad()
        cross_entropy(module(points[rows]), labels[rows]).backward()
        mover.step()


def accuracy(module: nn.Module, job: Job) -> float:
    """On the test points."""
    module.eval()
    with torch.no_grad():
        found = module(job.test_points).argmax(dim=1)
    return float((found == job.test_labels).float().mean())


def answer(ends: list[float], module: nn.Module, job: Job, **more: Any) -> None:
    """Print what the driver wants to know; `ends`: when each round was over."""
    print(json.dumps({"ends": ends, "accuracy": accuracy(module, job)} | more), flush=True)


now = time.perf_counter
