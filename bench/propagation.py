"""How long the graph and the propagation take, against the dense inverse and LabelSpreading.

python -m bench.propagation --data-dir DATA [--sizes 2500 5000 10000 20000 50000]

Fashion-MNIST, raw pixels centred, 10 % labelled, 4096 bits, k = 10, α = 0.99. Peaks of memory are
what a step adds to what was held before it, its result included (read from Linux).
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.semi_supervised import LabelSpreading

from bench.cells import machine
from colabel.data import load
from colabel.graph import scores
from colabel.graph.codes import codes, hyperplanes
from colabel.graph.distances import CodeDistances
from colabel.graph.neighbours import Neighbours, nearest
from colabel.graph.propagate import influence, solve
from colabel.graph.weights import adjacency, normalise
from colabel.randomness import data

N_BITS, K, ALPHA = 4096, 10, 0.99
SIZES = [2500, 5000, 10_000, 20_000, 50_000]
MOST_INVERTED = 10_000
REPEATS = 3
N_COMPARED = 10_000

Floats = NDArray[np.float64]
T = TypeVar("T")


def timed(step: Callable[[], T]) -> tuple[T, float]:
    """The result, and the seconds."""
    started = time.perf_counter()
    result = step()
    return result, time.perf_counter() - started


def peak(step: Callable[[], object]) -> float:
    """The megabytes that a step adds at most, in a run of its own."""
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    step()
    return (_status("VmHWM") - before) / 1024


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


def sample(n: int, data_dir: str | None) -> tuple[Floats, NDArray[np.int64], int]:
    """Centred pixels, labels, and how many classes there are."""
    benchmark = load("fashion_mnist", data_dir)
    rows = data(0, "bench propagation").choice(benchmark.train_rows, n, replace=False)
    pixels = benchmark.points[rows].reshape(n, -1) / 255.0
    return pixels - pixels.mean(axis=0), benchmark.labels[rows], len(benchmark.classes)


def find_neighbours(packed: NDArray[np.uint8], k: int = K) -> Neighbours:
    return nearest(CodeDistances(packed, packed, N_BITS), k)


def size_row(n: int, data_dir: str | None) -> dict[str, float]:
    """The columns of the first table for one number of points."""
    points, _, _ = sample(n, data_dir)
    planes = hyperplanes(bytes(32), N_BITS, points.shape[1])
    packed, row_codes = timed(lambda: codes(points, planes))
    found, row_neighbours = timed(lambda: find_neighbours(packed))
    graph = normalise(adjacency(found))
    row = {
        "n": n,
        "l": n // 10,
        "codes s": row_codes,
        "codes MB": peak(lambda: codes(points, planes)),
        "neighbours s": row_neighbours,
        "neighbours MB": peak(lambda: find_neighbours(packed)),
    }
    return row | against_inverse(graph)


def against_inverse(graph: csr_array) -> dict[str, float]:
    """Medians of interleaved runs."""
    n = graph.shape[0]
    rows, columns = np.arange(n), np.arange(n // 10)

    def ours() -> Floats:
        return influence(graph, ALPHA, rows, columns)

    row = {"influence MB": peak(ours)}
    identity_minus = None if n > MOST_INVERTED else np.eye(n) - ALPHA * graph.toarray()
    quick: list[float] = []
    slow: list[float] = []
    for _ in range(REPEATS if n <= 2 * MOST_INVERTED else 1):
        quick += [timed(ours)[1] for _ in range(3 if n <= MOST_INVERTED else 1)]
        if identity_minus is not None:
            exact, seconds = timed(lambda: np.linalg.inv(identity_minus))
            slow.append(seconds)
    row["influence s"] = median(quick)
    row["10 columns s"] = median(
        timed(lambda: influence(graph, ALPHA, rows, columns[:10]))[1] for _ in range(5)
    )
    if slow:
        row |= {"inverse s": median(slow), "ratio": median(slow) / median(quick)}
        row["difference"] = float(np.abs(ours() - exact[:, columns]).max() / np.abs(exact).max())
    return row


def against_label_spreading(data_dir: str | None) -> list[dict[str, Any]]:
    """The whole path from points to labels, ours and scikit-learn's."""
    points, truth, n_classes = sample(N_COMPARED, data_dir)
    known = np.zeros(N_COMPARED, dtype=bool)
    known[data(0, "bench labels").choice(N_COMPARED, N_COMPARED // 10, replace=False)] = True
    partial = np.where(known, truth, -1)

    def row(name: str, step: Callable[[], NDArray[np.int64]]) -> dict[str, Any]:
        predicted, _ = timed(step)
        seconds = median(timed(step)[1] for _ in range(REPEATS))
        hits = (predicted == truth)[~known]
        return {"method": name, "seconds": seconds, "accuracy": float(hits.mean())}

    rows = [
        row(
            f"LabelSpreading, k = {k}, α = {alpha}",
            lambda k=k, alpha=alpha: (
                LabelSpreading(kernel="knn", n_neighbors=k, alpha=alpha)
                .fit(points, partial)
                .transduction_
            ),
        )
        for k, alpha in ((7, 0.2), (10, 0.2), (7, 0.9), (10, 0.9))
    ]
    return rows + [
        row(
            f"colabel, k = {k}, α = {alpha}, sharpness {power}",
            lambda k=k, alpha=alpha, power=power: spread(
                points, partial, n_classes, k, alpha, power
            ),
        )
        for k, alpha, power in ((10, 0.9, 1.0), (10, 0.99, 1.0), (20, 0.9, 4.0))
    ]


def spread(
    points: Floats,
    partial: NDArray[np.int64],
    n_classes: int,
    k: int,
    alpha: float,
    sharpness: float,
) -> NDArray[np.int64]:
    """Pooled labelling with balanced classes; the defaults' density correction goes with k = 20."""
    packed = codes(points, hyperplanes(bytes(32), N_BITS, points.shape[1]))
    weights = adjacency(find_neighbours(packed, k), sharpness=sharpness, density_correction=k == 20)
    sources = scores.one_hot(partial, n_classes)
    reached = solve(normalise(weights), alpha, sources / np.maximum(sources.sum(axis=0), 1.0))
    return scores.labels(scores.distributions(reached))


def print_row(row: dict[str, Any]) -> None:
    def cell(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.4g}"
        return str(value)

    cells = " | ".join(f"{name} {cell(value)}" for name, value in row.items())
    print(f"| {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="where the data sets are (or set COLABEL_DATA)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # LabelSpreading's default 30 rounds do not converge
    print(machine(), flush=True)
    influence(csr_array((300, 300)), 0.9, np.arange(300), np.arange(100))  # compiles
    influence(csr_array((300, 300)), 0.9, np.arange(300), np.arange(2))
    sizes = []
    for n in options.sizes:
        sizes.append(size_row(n, options.data_dir))
        print_row(sizes[-1])
    methods = against_label_spreading(options.data_dir)
    for method in methods:
        print_row(method)
    if options.json:
        results = {"machine": machine(), "sizes": sizes, "methods": methods}
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
