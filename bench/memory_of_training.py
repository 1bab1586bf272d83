"""Memory of a training run with 100 and with 1,000 sites: what grows is the data.

python -m bench.memory_of_training [--json FILE]    (two minutes)

The 13-layer CNN (12.5 MB), 20 points of 32 × 32 × 3 at each site, 3 rounds of 5 sites and one step
each. Every run is a process of its own. "Data" are the points and labels; "peak" is the largest
resident memory less that of a process which has imported everything and made the data; "kept" is
what all sites would save between the rounds, and "kept after one" the same after the first round.
"""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from bench.cells import machine
from bench.tables import records
from colabel.data import Site, Sites
from colabel.engines.local import LocalEngine
from colabel.federation.presets import paper_graph
from colabel.federation.training import State, train
from colabel.federation.training_plan import Stage, TrainingPlan
from colabel.federation.training_role import training_role
from colabel.jobs.train import initial
from colabel.learning.models import ModelPlan
from colabel.learning.parameters import n_bytes
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.randomness import data

SHAPE, N_CLASSES, N_POINTS, N_LABELLED, ROUNDS, PER_ROUND = (3, 32, 32), 10, 20, 5, 3, 5
CASES = [
    (n_sites, labels, protection)
    for labels, protection in (("none", "none"), ("graph", "none"), ("none", "masked"))
    for n_sites in (100, 1000)
]


def federation(n_sites: int) -> Sites:
    """Random images."""
    rng = data(0, "bench memory_of_training")
    labels = np.where(np.arange(N_POINTS) < N_LABELLED, np.arange(N_POINTS) % N_CLASSES, -1)
    found = [
        Site(
            f"site-{number:04}",
            rng.integers(0, 256, (N_POINTS, *SHAPE), dtype=np.uint8),
            labels.astype(np.int64),
        )
        for number in range(n_sites)
    ]
    return Sites(tuple(found), tuple(str(c) for c in range(N_CLASSES)))


def measure(n_sites: int, labels: str, protection: str) -> dict[str, Any]:
    """One run in this process."""
    model = ModelPlan(name="cnn13", shape=SHAPE, n_classes=N_CLASSES)
    plan = TrainingPlan(
        model=model,
        stages=(Stage(rounds=ROUNDS, labels=labels),),  # type: ignore[arg-type]
        graph=paper_graph(N_CLASSES, hamming="clear"),
        local=LocalPlan(steps=1, labelled_batch=2, optimiser=OptimiserPlan(rate=0.01)),
        sites_per_round=PER_ROUND,
        protection=protection,  # type: ignore[arg-type]
    )
    sites, state = federation(n_sites), initial(plan)
    held = sum(site.points.nbytes + site.labels.nbytes for site in sites.sites)
    before = peak()
    engine = LocalEngine(sites.sites, training_role())
    kept: list[int] = []

    def look(state: State) -> None:
        kept.append(sum(len(session.save()) for session in engine.sessions.values()))

    engine.run(train(sites.names, plan, state, keep=look))
    return {
        "sites": n_sites,
        "labels": labels,
        "protection": protection,
        "one model MB": n_bytes(state.model) / 1e6,
        "all models would be MB": n_sites * n_bytes(state.model) / 1e6,
        "data MB": held / 1e6,
        "peak MB": peak(),
        "of it for the run MB": peak() - before,
        "kept after one MB": kept[0] / 1e6,
        "kept MB": kept[-1] / 1e6,
    }


def peak() -> float:
    """Largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Every case in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        print(json.dumps(measure(*CASES[options.case])))
        return
    rows = []
    for number in range(len(CASES)):
        command = [sys.executable, "-m", "bench.memory_of_training", "--case", str(number)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
    print(*records(rows), sep="\n")
    print(machine())
    if options.json is not None:
        content = {"machine": machine(), "runs": rows}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
