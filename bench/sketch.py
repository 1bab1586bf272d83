"""Very many points: `sketch` with an index of codes, against scikit-learn on the pooled points.

python -m bench.sketch [--data-dir DATA] [--seeds 2] [--json FILE]
python -m bench.sketch --only all [--data-dir DATA]    all 581,012 points, without scikit-learn

100,000 points of Covertype at 10 sites, 1 % labelled. "Plain" is the library with 1,024 bits,
k = 10, no class weights and the paper's confidence: made for plain accuracy, as LabelSpreading is,
on points standardised over all. Each method runs once before it is timed. Recall: of 500 points,
the share of the 20 neighbours found that are as near as the 20 true ones.
"""

import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from bench.cells import arguments, report
from colabel import CrossClientLabelPropagation
from colabel.data import load
from colabel.graph.codes import codes, hyperplanes
from colabel.graph.distances import CodeDistances, hamming
from colabel.graph.index import nearest_by_index
from colabel.randomness import data

N_POINTS, N_SITES, SHARE = 100_000, 10, 0.01
PLAIN = {"n_bits": 1024, "n_neighbors": 10, "class_weighting": "none", "confidence": "entropy"}
SKLEARN = ((7, 0.2), (7, 0.9), (10, 0.9))
Predict = Callable[[], NDArray[np.int64]]


def ours(points: Any, seen: Any, groups: Any, **settings: Any) -> Predict:
    model = CrossClientLabelPropagation(hamming="sketch", random_state=0, **settings)
    return lambda: model.fit(points, seen, groups).transduction_


def theirs(points: Any, seen: Any, k: int, alpha: float) -> Predict:
    def fit() -> NDArray[np.int64]:
        scaled = StandardScaler().fit_transform(points)
        model = LabelSpreading(kernel="knn", n_neighbors=k, alpha=alpha)
        return model.fit(scaled, seen).transduction_

    return fit


def measure(seed: int, data_dir: str | None, *, every: bool = False) -> list[dict[str, Any]]:
    """All methods on the same draw; ours alone on every point that there is."""
    benchmark = load("covertype", data_dir)
    rng, n_points = data(seed, "bench sketch"), len(benchmark) if every else N_POINTS
    rows = rng.choice(len(benchmark), n_points, replace=False)
    points, truth = benchmark.points[rows].astype(np.float64), benchmark.labels[rows]
    visible = np.zeros(n_points, dtype=bool)
    visible[rng.choice(n_points, round(SHARE * n_points), replace=False)] = True
    seen = np.where(visible, truth, -1)
    groups = (np.arange(n_points) % N_SITES).astype(str)
    methods: dict[str, Predict] = {
        "sketch, default": ours(points, seen, groups),
        "sketch, plain": ours(points, seen, groups, **PLAIN),
        **{
            f"LabelSpreading, k = {k}, α = {alpha}": theirs(points, seen, k, alpha)
            for k, alpha in SKLEARN * (not every)
        },
    }
    found = []
    for name, predict in methods.items():
        if seed == 0 and name.startswith("sketch") and not every:
            predict()  # the first run compiles
        started = time.perf_counter()
        labels = predict()[~visible]
        row = {
            "method": name,
            "seed": seed,
            "seconds": time.perf_counter() - started,
            "accuracy": accuracy_score(truth[~visible], labels),
            "balanced": balanced_accuracy_score(truth[~visible], labels),
            "peak MB so far": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        print(row, flush=True)
        found.append(row)
    return found


def recall(data_dir: str | None, k: int = 20, n_asked: int = 500) -> float:
    """Of the neighbours that the index finds, how many are as near as the true ones."""
    benchmark = load("covertype", data_dir)
    rows = data(0, "bench sketch").choice(len(benchmark), N_POINTS, replace=False)
    points = StandardScaler().fit_transform(benchmark.points[rows].astype(np.float64))
    held = codes(points, hyperplanes(bytes(32), 4096, points.shape[1]))
    found = nearest_by_index(CodeDistances(held, held, 4096), k)
    asked = np.arange(0, N_POINTS, N_POINTS // n_asked)
    exact = np.sort(hamming(held[asked], held), axis=1)[:, k]  # the point itself is first
    return float((found.distances[asked] <= exact[:, None]).mean())


def main() -> None:
    options = arguments(__doc__)
    started = time.perf_counter()
    if options.only == "all":
        report(
            "Covertype, all points",
            measure(0, options.data_dir, every=True),
            started,
            options.json,
        )
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [row for seed in range(options.seeds) for row in measure(seed, options.data_dir)]
    results = {"methods": rows, "recall": recall(options.data_dir)}
    print(f"recall {results['recall']:.4f}")
    report("Covertype, 100,000 points", results, started, options.json)


if __name__ == "__main__":
    main()
