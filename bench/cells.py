"""A table of accuracies: cells (settings of the data) × variants (settings of the method)."""

import argparse
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.tables import mean
from colabel.data import Sites, from_groups
from colabel.federation.plan import LabellingPlan
from colabel.jobs.label import Outcome, label, label_alone, label_pooled
from colabel.machine import n_threads

Job = Callable[[Sites, LabellingPlan], Outcome]


@dataclass(frozen=True)
class Variant:
    """A method with its settings."""

    name: str
    job: Job
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """Rows dealt to sites, with some labels visible and some rows judged.

    `together` names for each row the group of sites that label together (all, if None).
    """

    points: NDArray[np.generic]
    truth: NDArray[np.int64]
    visible: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    site_of_row: NDArray[np.generic]
    classes: tuple[str, ...]
    balanced: bool = False
    together: NDArray[np.generic] | None = None


# Algorithm 1 with class weighting, and to the letter; the data say which features
PLAIN = {
    "n_neighbors": 10,
    "alpha": 0.99,
    "equalise": False,
    "sharpness": 1.0,
    "density_correction": False,
    "confidence": "entropy",
}
PAPER = {**PLAIN, "class_weighting": "none", "keep_labels": False}


def both(name: str, **settings: Any) -> list[Variant]:
    """The same settings across sites and at each site alone."""
    return [
        Variant(f"across sites, {name}", label, settings),
        Variant(f"each site alone, {name}", label_alone, settings),
    ]


def pooled(name: str, **settings: Any) -> Variant:
    """The same settings with all points in one place."""
    return Variant(f"pooled, {name}", label_pooled, settings)


def accuracy(task: Task, variant: Variant, seed: int) -> float:
    """(Balanced) accuracy over the judged rows of all sites; a row without a label is wrong."""
    together = np.zeros(len(task.truth)) if task.together is None else task.together
    predicted = np.full(len(task.truth), -1)
    for group in np.unique(together):
        rows = np.flatnonzero(together == group)
        predicted[rows] = _predict(task, rows, variant, seed)
    truth, found = task.truth[task.judged], predicted[task.judged]
    if task.balanced:
        return float(np.mean([(found[truth == c] == c).mean() for c in np.unique(truth)]))
    return float((found == truth).mean())


def _predict(task: Task, rows: NDArray[np.intp], variant: Variant, seed: int) -> NDArray[np.int64]:
    labels = np.where(task.visible, task.truth, -1)[rows]
    names = task.site_of_row[rows].astype(str)
    sites = from_groups(task.points[rows], labels, names, task.classes)
    public = np.random.default_rng(seed).bytes(32)
    # labels are the same under every protection (bench/protocols.py)
    plan = LabellingPlan(
        n_classes=len(task.classes), seed=public, hamming="clear", **variant.settings
    )
    outcome = variant.job(sites, plan)
    predicted = np.full(len(rows), -1)
    for name in sites.names:
        own = outcome.own[name]
        if own is not None:
            predicted[names == name] = own.labels
    return predicted


def measure(
    cells: Mapping[str, Callable[[int], Task]], variants: Sequence[Variant], seeds: int
) -> dict[str, dict[str, list[float]]]:
    """Every cell × variant × seed, printed as a table row as soon as it is there."""
    results: dict[str, dict[str, list[float]]] = {}
    print("| data | " + " | ".join(variant.name for variant in variants) + " |")
    print("|---|" + "---|" * len(variants))
    for cell, make in cells.items():
        tasks = [make(seed) for seed in range(seeds)]
        row = {
            variant.name: [accuracy(task, variant, seed) for seed, task in enumerate(tasks)]
            for variant in variants
        }
        results[cell] = row
        print(
            f"| {cell} | " + " | ".join(mean(values) for values in row.values()) + " |", flush=True
        )
    return results


def chosen(
    cells: Mapping[str, Callable[[int], Task]], words: str
) -> dict[str, Callable[[int], Task]]:
    """The cells whose names hold these words; all, if none is given."""
    return {name: make for name, make in cells.items() if words in name}


def machine() -> str:
    """What the numbers were measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":")[1].strip() if names else model
    return (
        f"{n_threads()} cores {model}, Python {platform.python_version()}, NumPy {np.__version__}"
    )


def arguments(doc: str) -> argparse.Namespace:
    """The options that every study has."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--data-dir", help="where the data sets are (or set COLABEL_DATA)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="only the cells whose names hold these words")
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    return parser.parse_args()


def report(title: str, results: Mapping[str, Any], started: float, path: Path | None) -> None:
    """The line under the table, and the file."""
    minutes = (time.perf_counter() - started) / 60
    print(f"\n{title}: {minutes:.1f} min on {machine()}. Mean ± sd over seeds, in percent.")
    if path is not None:
        content = {"title": title, "minutes": minutes, "machine": machine(), "results": results}
        path.write_text(json.dumps(content, indent=1) + "\n")
