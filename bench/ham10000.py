"""HAM10000 features, 4 hospitals, lesion-disjoint test set, balanced accuracy.

python -m bench.ham10000 --data-dir DATA
"""

import time
from functools import partial

import numpy as np

from bench.cells import PAPER, PLAIN, Task, arguments, both, chosen, measure, report
from colabel.data import LabelMask, load
from colabel.randomness import data


def task(fraction: float, data_dir: str | None, seed: int) -> Task:
    """A share of the training points is labelled; the test points are there without labels."""
    benchmark = load("ham10000_features", data_dir)
    rng = data(seed, "bench ham10000")
    visible = np.zeros(len(benchmark), dtype=np.bool_)
    rows = benchmark.train_rows
    mask = LabelMask(fraction=fraction, every_class=True)
    visible[rows] = mask.choose(benchmark.labels[rows], rng)
    judged = np.zeros(len(benchmark), dtype=np.bool_)
    judged[benchmark.test_rows] = True
    hospitals = benchmark.natural_sites
    assert hospitals is not None
    points = benchmark.points.astype(np.float64)
    return Task(points, benchmark.labels, visible, judged, hospitals, benchmark.classes, True)


def main() -> None:
    options = arguments(__doc__)
    started = time.perf_counter()
    cells = {
        f"{fraction:.0%} labelled": partial(task, fraction, options.data_dir)
        for fraction in (0.05, 0.1, 0.2, 1.0)
    }
    variants = [
        *both("k = 10, α = 0.99", **PLAIN, features="identity"),
        *both("default"),
        *both("auto", n_neighbors="auto", alpha="auto"),
        *both("paper", **PAPER, features="identity"),
    ]
    results = measure(chosen(cells, options.only), variants, options.seeds)
    report("HAM10000", results, started, options.json)


if __name__ == "__main__":
    main()
