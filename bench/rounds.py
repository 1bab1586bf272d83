"""A whole round of labelling on CIFAR-10, under every way to compare codes, side by side.

python -m bench.rounds [--parts round points sites] [--data-dir DIR] [--repeats 3] [--json FILE]

The round of the paper: 5 sites × 500 points, codes of 4096 bits, a tenth of the points labelled;
features are the raw pixels (3072 numbers), scaled with sums over all sites. From the first message
to the labels at the sites: keys, sums, codes, distances, graph, row sums. All sites and the server
take turns in one process, each on all cores; seconds are medians, "core s" count the time that all
cores worked, megabytes are those of a site, on average. The seed of the hyperplanes is public, so
that all ways use the same: their labels must be identical to those under `clear`, or it stops.
"points" and "sites" let the round grow. What is marked estimated was not run: it is `colabel cost`.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.cells import machine
from colabel.data import Sites, from_groups, load
from colabel.data.benchmarks.benchmark import Benchmark
from colabel.federation.cost import cost
from colabel.federation.plan import LabellingPlan
from colabel.jobs.label import label
from colabel.protocols.keys import Group, Welcome
from colabel.randomness import data

LABELLED, LONG = 0.1, 60.0
FAST = ("clear", "sketch", "dealer", "lattice")  # clear first: the others are compared with it
# part: (sites, points of each, ways that are run, ways that are estimated)
PARTS = {
    "round": [(5, 500, (*FAST, "ot"), ("paillier",))],
    "points": [
        (5, 100, (*FAST, "ot"), ()),
        (5, 250, (*FAST, "ot"), ()),
        (5, 500, FAST, ("ot",)),
        (5, 1000, FAST, ("ot",)),
        (5, 2000, FAST, ("ot",)),
    ],
    "sites": [
        (3, 500, FAST, ("ot",)),
        (5, 500, FAST, ("ot",)),
        (10, 500, FAST, ("ot",)),
        (20, 500, FAST, ("ot",)),
    ],
}


def deal(benchmark: Benchmark, n_sites: int, n_points: int, seed: int) -> Sites:
    """Rows of the training part, each site as many."""
    rng = data(seed, "bench rounds")
    rows = rng.permutation(benchmark.train_rows)[: n_sites * n_points]
    pixels = benchmark.points[rows].reshape(len(rows), -1).astype(np.float32) / 255
    labels = np.where(rng.random(len(rows)) < LABELLED, benchmark.labels[rows], -1)
    names = [f"site-{number % n_sites:02}" for number in range(len(rows))]
    return from_groups(pixels, labels, names, benchmark.classes)


def plan_of(way: str, n_classes: int, seed: int) -> LabellingPlan:
    """The defaults."""
    public = np.random.default_rng(seed).bytes(32)
    return LabellingPlan(n_classes=n_classes, hamming=way, seed=public)


def play(sites: Sites, plan: LabellingPlan) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """One round: what it took, and the labels of all points."""
    started, on_cores = time.perf_counter(), time.process_time()
    outcome = label(sites, plan)
    wall, cores = time.perf_counter() - started, time.process_time() - on_cores
    costs, own = outcome.costs, [outcome.own[name] for name in sites.names]
    said = estimate(sites, plan)
    took = costs.bytes_up() / len(sites) / 1e6, costs.bytes_down() / len(sites) / 1e6, costs.steps
    assert took == (said["MB up"], said["MB down"], said["steps"])
    row = said | {"seconds": wall, "core s": cores, "server s": costs.server_seconds}
    return row | {"estimated": ""}, np.concatenate([one.labels for one in own if one is not None])


def estimate(sites: Sites, plan: LabellingPlan) -> dict[str, Any]:
    """What it would take: exact bytes and steps, estimated seconds."""
    sizes = {
        site.name: Welcome(len(site), int(site.labelled.sum()), site.points.shape[1])
        for site in sites.sites
    }
    said = cost(Group(sizes), plan)
    return {
        "sites": len(sites),
        "n": len(sites.sites[0]),
        "way": plan.hamming,
        "seconds": said.seconds,
        "MB up": said.bytes_up / len(sites) / 1e6,
        "MB down": said.bytes_down / len(sites) / 1e6,
        "steps": said.steps,
        "estimated": "yes",
    }


def rows_of(benchmark: Benchmark, part: str, repeats: int) -> Iterator[dict[str, Any]]:
    """One part; the ways take turns. What takes long is run once."""
    for n_sites, n_points, measured, estimated in PARTS[part]:
        runs: dict[str, list[dict[str, Any]]] = {way: [] for way in measured}
        for seed in range(repeats):
            sites = deal(benchmark, n_sites, n_points, seed)
            found = {}
            for way in measured:
                if runs[way] and way != "clear" and runs[way][0]["seconds"] > LONG:
                    continue
                row, found[way] = play(sites, plan_of(way, len(benchmark.classes), seed))
                assert np.array_equal(found[way], found["clear"]), way
                runs[way].append(row)
        for own in runs.values():
            numbers = {
                key: median(row[key] for row in own)
                for key in ("seconds", "core s", "server s", "MB up", "MB down")
            }
            yield own[0] | numbers | {"runs": len(own)}
        for way in estimated:
            sites = deal(benchmark, n_sites, n_points, 0)
            yield estimate(sites, plan_of(way, len(benchmark.classes), 0))


def main() -> None:
    """Writes the parts that were asked for, and leaves the others in the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--data-dir", help="where the data sets are (or set COLABEL_DATA)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    options = parser.parse_args()
    benchmark = load("cifar10", options.data_dir)
    for way in FAST:  # compiles
        play(deal(benchmark, 2, 20, 0), plan_of(way, len(benchmark.classes), 0))
    for part in options.parts:
        rows = []
        for row in rows_of(benchmark, part, options.repeats):
            rows.append(row)
            print(part, row, flush=True)
        if options.json is not None:
            old = json.loads(options.json.read_text()) if options.json.exists() else {}
            options.json.write_text(json.dumps(old | {"machine": machine(), part: rows}, indent=1))
    print(machine())


if __name__ == "__main__":
    main()
