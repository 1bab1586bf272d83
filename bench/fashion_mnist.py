"""Fashion-MNIST, raw pixels centred over all sites: 10 sites × 250 points, few labels each.

python -m bench.fashion_mnist --data-dir DATA
"""

import time
from functools import partial

from bench.cells import PAPER, PLAIN, Task, arguments, both, chosen, measure, pooled, report
from colabel.data import LabelMask, load, parse_partition
from colabel.randomness import data

N_SITES, N_POINTS = 10, 250


def task(spec: str, n_labels: int, data_dir: str | None, seed: int) -> Task:
    """Rows drawn from the training set, dealt by the partition, labels drawn at each site."""
    benchmark = load("fashion_mnist", data_dir)
    rng = data(seed, "bench fashion_mnist")
    rows = rng.choice(benchmark.train_rows, N_SITES * N_POINTS, replace=False)
    truth = benchmark.labels[rows]
    site_of_row = parse_partition(spec).deal(truth, N_SITES, rng)
    visible = LabelMask(labels_per_site=n_labels).choose(truth, rng, site_of_row)
    pixels = benchmark.points[rows].reshape(len(rows), -1) / 255.0
    return Task(pixels, truth, visible, ~visible, site_of_row, benchmark.classes)


def main() -> None:
    options = arguments(__doc__)
    started = time.perf_counter()
    cells = {
        f"{name}, {n_labels} labels per site": partial(task, spec, n_labels, options.data_dir)
        for name, spec in (("iid", "iid"), ("Dirichlet 0.3", "dirichlet:0.3:equal"))
        for n_labels in (10, 50)
    }
    auto = {"n_neighbors": "auto", "alpha": "auto"}
    variants = [
        *both("k = 10, α = 0.99", **PLAIN, features="centred"),
        *both("default"),
        *both("auto", **auto),
        pooled("default"),
        *both("paper", **PAPER, features="identity"),
        *both("paper, centred", **PAPER, features="centred"),
    ]
    results = measure(chosen(cells, options.only), variants, options.seeds)
    report("Fashion-MNIST", results, started, options.json)


if __name__ == "__main__":
    main()
