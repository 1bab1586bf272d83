"""The tables of bench/README.md, from the results of the studies: python -m bench.tables."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
_SITES = ["left peak MB", "right peak MB", "MB up", "MB down", "steps"]
_LATTICE = ["n", "product s", "both sites s", "ratio", "best ratio", "ratio of core seconds"]
COLUMNS = {
    "lattice": [*_LATTICE, "times the first", "times the first, core s", *_SITES],
    "ot": ["n", "transfers", "seconds", "left s", "right s", "estimated s", *_SITES],
    "rounds": [
        *("sites", "n", "way", "seconds", "core s", "server s", "MB up", "MB down", "steps"),
        *("runs", "estimated"),
    ],
    "cheetah": [
        *("n", "ring", "inputs", "seconds", "MB", "both processes' peak GB"),
        *("wrong entries, by at most", "ended for", "after seconds"),
    ],
}


PSEUDO = ("fedavg_network", "fedprop", "fedprop, our graph", "fedprop, predictions flow", "joint")


def accuracies(name: str) -> list[str]:
    """Cells as rows, variants as columns, mean ± sd over seeds in percent."""
    results = _read(name)["results"]
    variants = list(next(iter(results.values())))
    return table(
        ["data", *variants],
        ([cell, *(mean(row[variant]) for variant in variants)] for cell, row in results.items()),
    )


def records(rows: Sequence[Mapping[str, Any]], decimals: int | None = None) -> list[str]:
    """Rows with named columns; a missing value stays empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return table(names, ([_short(row.get(name, ""), decimals) for name in names] for row in rows))


def mean(values: Sequence[float]) -> str:
    """Mean ± sample sd, in percent."""
    percent = 100 * np.array(values)
    return f"{percent.mean():.1f} ± {percent.std(ddof=1) if len(percent) > 1 else 0:.1f}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table, one string per line."""
    lines = [" | ".join(columns), "|".join(["-"] * len(columns)), *(" | ".join(r) for r in rows)]
    return [f"| {line} |" if number != 1 else f"|{line}|" for number, line in enumerate(lines)]


def _short(value: Any, decimals: int | None = None) -> str:
    if isinstance(value, float) and decimals is not None:
        return f"{value:.{decimals}f}"
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _read(name: str) -> Any:
    return json.loads((HERE / "results" / f"{name}.json").read_text())


def chosen(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """Some of the columns."""
    return records([{name: row[name] for name in names if name in row} for row in rows])


def training(name: str) -> list[str]:
    """Methods as rows, cells as columns; the seed that rates were chosen by is left out."""
    found: dict[str, dict[str, list[float]]] = {}
    cells: dict[str, None] = {}
    for line in (HERE / "results" / f"training_{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["seed"] < 100:
            cells[row["cell"]] = None
            found.setdefault(row["method"], {}).setdefault(row["cell"], []).append(row["test"])
    rows = [
        [method, *(mean(own[cell]) if cell in own else "" for cell in cells)]
        for method, own in sorted(found.items())
    ]
    return table(["method", *cells], rows)


def labels_of_training(name: str, methods: Sequence[str]) -> list[str]:
    """How many pseudo-labels were right in the first and the last round that had some."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for line in (HERE / "results" / f"training_{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["seed"] < 100 and row["method"] in methods and row.get("pseudo"):
            ends = [row["pseudo"][0], row["pseudo"][-1]]
            found.setdefault(row["cell"], {}).setdefault(row["method"], []).append(ends)
    rows = []
    for cell, own in found.items():
        ends = [np.mean(own[m], axis=0) if m in own else None for m in methods]
        said = ["" if e is None else f"{100 * e[0]:.0f} → {100 * e[1]:.0f}" for e in ends]
        rows.append([cell, *said])
    return table(["cell", *methods], rows)


def protections() -> None:
    """Ways to compare codes, and sums: alone, in a round, and next to other libraries."""
    for name in ("lattice", "ot"):
        print(f"\n{name}\n", *chosen(_read(name)["sizes"], COLUMNS[name]), sep="\n")
    rounds = _read("rounds")
    for part in (part for part in ("round", "points", "sites") if part in rounds):
        print(f"\nrounds, {part}\n", *chosen(rounds[part], COLUMNS["rounds"]), sep="\n")
    print("\nsums\n", *records(_read("sums")["vectors"]), sep="\n")
    others = _read("compare_ways")
    libraries = [row for name in ("cheetah", "bfv", "paillier") for row in others[name]["rows"]]
    print("\ncompare_ways\n", *records(libraries), sep="\n")
    print("\ncompare_ways, sums\n", *records(others["sums"]["rows"]), sep="\n")
    products = others["cheetah"]["products"]
    print("\ncompare_ways, Cheetah\n", *chosen(products, COLUMNS["cheetah"]), sep="\n")


def main() -> None:
    for name in ("fashion_mnist", "ham10000", "writers"):
        print(f"\n{name}, {_read(name)['minutes']:.1f} min\n", *accuracies(name), sep="\n")
    propagation = _read("propagation")
    for part in ("sizes", "methods"):
        print(f"\npropagation, {part}\n", *records(propagation[part]), sep="\n")
    print("\nthreads\n", *records(_read("threads")["models"]), sep="\n")
    runs = [
        {k: v for k, v in row.items() if k != "all runs"} for row in _read("throughput")["runs"]
    ]
    print("\nthroughput\n", *records(runs), sep="\n")
    print("\nthroughput, ratios\n", *records(_read("throughput")["ratios"]), sep="\n")
    print("\nrounds_of_training\n", *records(_read("rounds_of_training")["rounds"]), sep="\n")
    print("\nmemory_of_training\n", *records(_read("memory_of_training")["runs"]), sep="\n")
    costs = _read("protofssl_costs")["methods"]
    print("\nprotofssl_costs\n", *records(costs, decimals=1), sep="\n")
    for name in ("fashion_mnist", "cifar10"):
        if (HERE / "results" / f"training_{name}.jsonl").exists():
            print(f"\ntraining, {name}\n", *training(name), sep="\n")
            print(*labels_of_training(name, PSEUDO), sep="\n")
    protections()


if __name__ == "__main__":
    main()
