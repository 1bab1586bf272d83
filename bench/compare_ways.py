"""This project next to other libraries at the same work, one after the other, with ratios.

python -m bench.compare_ways --venvs DIR [--only cheetah bfv paillier sums] [--json FILE]

`lattice` against SecretFlow SPU's Cheetah (the product of 0/1 matrices at 200 × 200, and larger
until it dies), TenSEAL's BFV and python-paillier (both extrapolated from a sample); hiding rows of
a sum against Flower's SecAgg+. Ours is measured before and after each of the others, on the same
machine; the median of these runs counts. Seconds are those of both sites and the server, megabytes
those that the sites send. `bench/others/` says what each of the others does.
"""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from bench import pair, sums
from bench.others import apart, bfv, cheetah, secagg_plus, unpacked_paillier
from colabel.protocols.hamming.lattice import LatticeHamming

REPEATS = 2  # before, and again after


def lattice(n_points: int) -> Callable[[], dict[str, float]]:
    """One pair of n_points × n_points."""

    def once() -> dict[str, float]:
        way, bits = LatticeHamming(), pair.draw(n_points, 0)
        run = pair.compare(way, bits, pair.here(way, bits))
        return {"seconds": run.parties, "MB": run.costs.bytes_up() / 1e6}

    return once


def around(ours: Callable[[], dict[str, float]], theirs: Callable[[], Any]) -> tuple[Any, Any]:
    """Ours, theirs, ours again: medians of ours, and theirs."""
    runs = [ours() for _ in range(REPEATS)]
    found = theirs()
    runs += [ours() for _ in range(REPEATS)]
    return {key: median(run[key] for run in runs) for key in runs[0]}, found


def row(
    what: str, ours: dict[str, float], theirs: dict[str, float], wanted: tuple[float, float]
) -> dict[str, Any]:
    """How many times as much they take, next to how many times was aimed at."""
    return {
        "other": what,
        "ours s": ours["seconds"],
        "other s": theirs["seconds"],
        "times the seconds": theirs["seconds"] / ours["seconds"],
        "at least": wanted[0],
        "ours MB": ours["MB"],
        "other MB": theirs["MB"],
        "times the bytes": theirs["MB"] / ours["MB"],
        "at least (bytes)": wanted[1],
    }


def against_cheetah(venvs: Path | None, limit_gb: float) -> dict[str, Any]:
    """At 200 × 200 in all settings; then larger, with the settings that took least memory."""
    python = apart.python_of(venvs, "venv-spu", cheetah.PACKAGE)
    settings = [(ring, inputs) for inputs in ("owned", "shared") for ring in ("FM32", "FM64")]

    def theirs() -> list[dict[str, Any]]:
        return [cheetah.multiply(python, 200, *setting, limit_gb, 200) for setting in settings]

    ours, products = around(lattice(200), theirs)
    there = [one for one in products if "seconds" in one]
    rows = [
        row(f"SPU Cheetah, 200 × 200, {one['ring']}, inputs {one['inputs']}", ours, one, (3, 10))
        for one in there
    ]
    least = min(there, key=lambda one: one["both processes' peak GB"])
    for n_points in (300, 400, 500):
        products.append(
            cheetah.multiply(python, n_points, least["ring"], least["inputs"], limit_gb, 200)
        )
        if "ended for" in products[-1]:
            break
    return {"rows": rows, "package": cheetah.PACKAGE, "limit GB": limit_gb, "products": products}


def against_bfv(venvs: Path | None, limit_gb: float) -> dict[str, Any]:
    """At 500 × 500."""
    ours, theirs = around(lattice(500), lambda: bfv.measure(venvs))
    what = "TenSEAL BFV, 500 × 500, extrapolated"
    return {"rows": [row(what, ours, theirs["extrapolated"], (500, 1))], **theirs}


def against_paillier(venvs: Path | None, limit_gb: float) -> dict[str, Any]:
    """At 500 × 500."""
    ours, theirs = around(lattice(500), lambda: unpacked_paillier.measure(venvs))
    what = "phe, 3072 bits, 500 × 500, extrapolated"
    return {"rows": [row(what, ours, theirs["extrapolated"], (5000, 1))], **theirs}


def against_secagg(venvs: Path | None, limit_gb: float) -> dict[str, Any]:
    """Vectors of as many values."""
    size, rows = max(secagg_plus.SIZES), []
    for kind in sums.KINDS:

        def once(kind: str = kind) -> dict[str, float]:
            run = sums.measure(kind, size, 0)
            return {key: run[key] for key in sums.MEASURED}

        ours, theirs = around(once, lambda: secagg_plus.measure(venvs))
        other = next(vector for vector in theirs["vectors"] if vector["values"] == size)
        found = {
            "other": f"Flower SecAgg+, {size:,} values; ours: {kind}",
            "ours s": ours["seconds"],
            "other s": other["seconds"],
            "times the seconds": ours["MB/s"] / other["MB/s"],
            "at least": 5,
            "ours MB/s": ours["MB/s"],
            "other MB/s": other["MB/s"],
        }
        rows.append(found)
    return {"rows": rows, **theirs}


OTHERS = {
    "cheetah": against_cheetah,
    "bfv": against_bfv,
    "paillier": against_paillier,
    "sums": against_secagg,
}


def main() -> None:
    """Writes what was asked for, and leaves the others in the file."""
    parser = apart.options(__doc__)
    parser.add_argument("--only", nargs="+", choices=OTHERS, default=list(OTHERS))
    parser.add_argument("--limit-gb", type=float, default=18.0, help="for both of Cheetah's sites")
    options = parser.parse_args()
    lattice(2)()  # compiles
    found: dict[str, Any] = {}
    if options.json and options.json.exists():
        found = json.loads(options.json.read_text())
    for name in options.only:
        found[name] = OTHERS[name](options.venvs, options.limit_gb)
    apart.write(found, options.json)
    for part in found.values():
        for one in part["rows"] if isinstance(part, dict) else ():
            print({key: round(v, 2) if isinstance(v, float) else v for key, v in one.items()})


if __name__ == "__main__":
    main()
