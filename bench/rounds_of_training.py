"""Seconds of a round of FedProp by phase, at the paper's sizes for CIFAR-10.

python -m bench.rounds_of_training [--batch 50] [--hamming clear] [--steps 3] [--json FILE]

The 13-layer CNN, 5 sites × 500 points of random images, 50 labels each (10 for batches of 10 + 10),
k = 10, 4,096 bits. One round is run, after one with little data that warms up, with so many steps
at each site instead of the paper's 5 epochs: nothing but training depends on them, so "training" is
what was measured times the steps of 5 epochs, over those run (this network is slow on a CPU).
"Labelling" is embeddings, codes and all that follows, of the sites one after the other and of the
server; "aggregation" is all the rest that the server does.
"""

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.cells import machine
from bench.tables import records
from colabel.data import Site, Sites
from colabel.federation.presets import paper_graph
from colabel.federation.training_plan import Stage, TrainingPlan
from colabel.jobs.train import train_sites
from colabel.learning import pseudo_labels
from colabel.learning.models import ModelPlan
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.randomness import data

SHAPE, N_CLASSES, N_SITES, N_POINTS, EPOCHS = (3, 32, 32), 10, 5, 500, 5


def federation(n_labelled: int, n_sites: int = N_SITES, n_points: int = N_POINTS) -> Sites:
    """Random images: what they show does not change how long they take."""
    rng = data(0, "bench rounds_of_training")
    found = []
    for number in range(n_sites):
        points = rng.integers(0, 256, (n_points, *SHAPE)).astype(np.uint8)
        labels = np.full(n_points, -1)
        labels[:n_labelled] = rng.integers(0, N_CLASSES, n_labelled)
        found.append(Site(f"site-{number}", points, labels))
    return Sites(tuple(found), tuple(str(c) for c in range(N_CLASSES)))


@contextmanager
def stopwatch(taken: list[float]) -> Iterator[None]:
    """Counts the seconds of embedding by the way."""
    inner = pseudo_labels.embed

    def timed(*arguments: Any) -> Any:
        started = time.perf_counter()
        found = inner(*arguments)
        taken.append(time.perf_counter() - started)
        return found

    pseudo_labels.embed = timed  # type: ignore[assignment]
    try:
        yield
    finally:
        pseudo_labels.embed = inner


def measure(batch: int, hamming: str, steps: int) -> dict[str, Any]:
    """One round."""
    model = ModelPlan(
        name="cnn13", shape=SHAPE, n_classes=N_CLASSES, mean=(127.5,) * 3, std=(64.0,) * 3
    )
    graph = paper_graph(N_CLASSES, hamming=hamming)
    plan = TrainingPlan(
        model=model,
        stages=(Stage(rounds=1, labels="graph"),),
        graph=graph,
        local=LocalPlan(
            steps=steps,
            labelled_batch=batch,
            augmentation="translate_flip",
            optimiser=OptimiserPlan(rate=0.05, momentum=0.9, weight_decay=2e-4),
        ),
        sites_per_round=N_SITES,
        judge_every=10**6,
    )
    train_sites(federation(4, n_sites=2, n_points=20), plan)
    taken: list[float] = []
    with stopwatch(taken):
        outcome = train_sites(federation(batch), plan)
    event = outcome.history[0]
    in_all = EPOCHS * ((N_POINTS - batch) // batch)
    seconds, kinds = event["seconds"], event["bytes"]
    training = seconds["training"] * in_all / steps
    labelling = seconds["labelling"]
    whole = training + labelling + seconds["keys"] + seconds["server"]
    embedding = sum(taken)
    moved = sum(sum(way.values()) for way in kinds.values())
    models = sum(way.get("model", 0) for way in kinds.values())
    return {
        "batch": f"{batch} + {batch}",
        "labels by": hamming,
        "steps run": steps,
        "of": in_all,
        "training s": training,
        "embedding s": embedding,
        "rest of labelling s": labelling - embedding,
        "keys s": seconds["keys"],
        "aggregation s": seconds["server"],
        "round s": whole,
        "labelling %": 100 * labelling / whole,
        "MB of labelling, all sites": (moved - models) / 1e6,
    }


def main() -> None:
    """One setting; its row is added to the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--hamming", default="clear")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--json", type=Path, help="add the row to this file")
    options = parser.parse_args()
    row = measure(options.batch, options.hamming, options.steps)
    print(*records([row]), sep="\n")
    print(machine())
    if options.json is not None:
        held = json.loads(options.json.read_text())["rounds"] if options.json.exists() else []
        same = ("batch", "labels by")
        held = [old for old in held if [old[n] for n in same] != [row[n] for n in same]]
        content = {"machine": machine(), "rounds": [*held, row]}
        options.json.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
