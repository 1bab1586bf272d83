"""The paper's FEMNIST experiment [XCLP App. B.1] on MNIST's 539 writers, identity features.

Each writer is a site with training points, a fraction of them labelled, and new points of the
same writer to label. As in the paper, writers are dealt into groups that label together.

    python -m bench.writers --data-dir DATA
"""

import time
from functools import partial

import numpy as np

from bench.cells import PAPER, Task, arguments, both, chosen, measure, report
from colabel.data import load
from colabel.randomness import data

FEMNIST = {0.1: (33.74, 49.29), 0.2: (44.79, 53.93), 0.5: (50.99, 59.37), 1.0: (51.91, 62.35)}
N_GROUPS = 8  # about 67 writers each; the paper has 3,597 writers in 50 groups, 72 each
NEW = 0.2  # share of each writer's points that are new


def task(fraction: float, data_dir: str | None, seed: int) -> Task:
    """Labels are drawn from each writer's training points; the new points are judged."""
    benchmark = load("mnist", data_dir)
    rng = data(seed, "bench writers")
    rows = benchmark.train_rows
    writers = np.asarray(benchmark.natural_sites)[rows]
    visible = np.zeros(len(rows), dtype=np.bool_)
    judged = np.zeros(len(rows), dtype=np.bool_)
    names = np.unique(writers)
    for writer in names:
        own = rng.permutation(np.flatnonzero(writers == writer))
        new = round(NEW * len(own))
        judged[own[:new]] = True
        visible[own[new : new + max(1, round(fraction * (len(own) - new)))]] = True
    group_of = dict(zip(names, rng.permutation(len(names)) % N_GROUPS, strict=True))
    together = np.array([group_of[writer] for writer in writers])
    pixels = benchmark.points[rows].reshape(len(rows), -1) / 255.0
    classes = benchmark.classes
    return Task(pixels, benchmark.labels[rows], visible, judged, writers, classes, False, together)


def main() -> None:
    options = arguments(__doc__)
    started = time.perf_counter()
    cells = {
        f"{fraction:.0%} labelled (paper: {alone} alone, {across} across)": partial(
            task, fraction, options.data_dir
        )
        for fraction, (alone, across) in FEMNIST.items()
    }
    variants = [
        *both("paper", **PAPER, features="identity"),
        *both("default", features="identity"),
    ]
    results = measure(chosen(cells, options.only), variants, options.seeds)
    report("MNIST by writer", results, started, options.json)


if __name__ == "__main__":
    main()
