"""What distances by oblivious transfer take: one pair of sites, and each in a process of its own.

python -m bench.ot [--sizes 100 250 500] [--repeats 3] [--json FILE]

Random codes of 4096 bits. Seconds are medians, first those of the whole run in one process, then
the shares of the parties. The memory is the peak of each site in a process of its own, in one more
run (Python, its packages and the messages under way included).
"""

import argparse
import json
from pathlib import Path
from statistics import median
from typing import Any

from bench import pair
from bench.cells import machine
from colabel.protocols.hamming.ot import OtHamming

SIZES = [100, 250, 500]


def measure(n_points: int, seed: int) -> dict[str, Any]:
    """One pair of n_points × n_points."""
    way, bits = OtHamming(), pair.draw(n_points, seed)
    run = pair.compare(way, bits, pair.here(way, bits))
    costs = run.costs
    return {
        "n": n_points,
        "seconds": run.wall,
        "left s": costs.seconds("left"),
        "right s": costs.seconds("right"),
        "server s": costs.server_seconds,
        "estimated s": way.cost(pair.group_of(n_points), pair.N_BITS).seconds,
        "MB up": costs.bytes_up() / 1e6,
        "MB down": costs.bytes_down() / 1e6,
        "steps": costs.steps,
        "transfers": n_points * pair.N_BITS,
    }


def main() -> None:
    """Sizes one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    options = parser.parse_args()
    measure(2, 0)  # compiles
    rows = []
    for n_points in options.sizes:
        runs = [measure(n_points, seed) for seed in range(options.repeats)]
        row = {key: median(run[key] for run in runs) for key in runs[0]}
        rows.append(row | pair.memory(OtHamming(), n_points))
        print({key: round(value, 2) for key, value in rows[-1].items()}, flush=True)
    print(machine())
    if options.json is not None:
        content = {"machine": machine(), "n_bits": pair.N_BITS, "sizes": rows}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
