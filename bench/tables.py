"""The tables of bench/README.md, from the results of the studies: python -m bench.tables."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


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


if __name__ == "__main__":
    main()
