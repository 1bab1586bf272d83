"""What distances by lattice encryption take: one pair of sites, next to one matrix product.

python -m bench.lattice [--sizes 500 1000] [--repeats 5] [--json FILE]

Random codes of 4096 bits. "Both sites" are the seconds of the two and of the server, one after the
other, each on all cores; "product" is one of (n + 2560) × 4096 by 4096 × n in float64, by the same
BLAS, timed before and after each run. Seconds and "ratio" are medians over the runs; "best ratio"
is that of the fastest run to the fastest product, and "ratio of core seconds" counts the time that
all cores worked, whatever else the machine did. Then once more with each site in a process of its
own, of which the peak memory is told (Python, its packages and the site's messages included;
"before" is without the work).
"""

import argparse
import json
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench import pair
from bench.cells import machine
from colabel.protocols.hamming.lattice import LatticeHamming
from colabel.randomness import data

SIZES = [500, 1000]
COLUMNS = 2560  # of the reference product, added to the points of a site


def product(n_points: int) -> tuple[float, float]:
    """Wall time, and time on all cores, of one product in float64 of zeros and ones."""
    rng = data(0, "bench product")
    left = rng.integers(0, 2, (n_points + COLUMNS, pair.N_BITS)).astype(np.float64)
    right = rng.integers(0, 2, (pair.N_BITS, n_points)).astype(np.float64)
    out = np.zeros((len(left), n_points))
    started, on_cores = time.perf_counter(), time.process_time()
    np.matmul(left, right, out=out)
    return time.perf_counter() - started, time.process_time() - on_cores


def measure(n_points: int, seed: int) -> dict[str, Any]:
    """One run, between two products."""
    way, bits = LatticeHamming(), pair.draw(n_points, seed)
    before = product(n_points)
    run = pair.compare(way, bits, pair.here(way, bits))
    costs, (wall, cores) = run.costs, np.mean([before, product(n_points)], axis=0).tolist()
    return {
        "n": n_points,
        "product s": wall,
        "both sites s": run.parties,
        "left s": costs.seconds("left"),
        "right s": costs.seconds("right"),
        "ratio": run.parties / wall,
        "core s": run.cores,
        "ratio of core seconds": run.cores / cores,
        "estimated s": way.cost(pair.group_of(n_points), pair.N_BITS).seconds,
        "MB up": costs.bytes_up() / 1e6,
        "MB down": costs.bytes_down() / 1e6,
        "steps": costs.steps,
    }


def main() -> None:
    """Sizes take turns, so that a busy moment does not fall on one of them only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    options = parser.parse_args()
    measure(2, 0)  # compiles
    runs = [measure(n, seed) for seed in range(options.repeats) for n in options.sizes]
    rows = []
    for n_points in options.sizes:
        own = [run for run in runs if run["n"] == n_points]
        row = {key: median(run[key] for run in own) for key in own[0]} | pair.memory(
            LatticeHamming(), n_points
        )
        row["best ratio"] = min(r["both sites s"] for r in own) / min(r["product s"] for r in own)
        first = rows[0] if rows else row
        row["times the first"] = row["both sites s"] / first["both sites s"]
        row["times the first, core s"] = row["core s"] / first["core s"]
        rows.append(row)
        print({key: round(value, 3) for key, value in row.items()}, flush=True)
    print(machine())
    if options.json is not None:
        content = {"machine": machine(), "n_bits": pair.N_BITS, "sizes": rows, "runs": runs}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
