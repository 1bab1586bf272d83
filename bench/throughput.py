"""Rounds per minute of FedAvg with 100 sites: colabel, Flower's simulation and Apple's pfl.

python -m bench.throughput --venvs DIR [--repeats 3] [--json FILE]    (a few minutes)

Fashion-MNIST, dealt iid; 10 sites a round, one local epoch of SGD, the layers of `tiny_cnn`
(207,178 parameters) or `mlp_head` (203,530), the same first parameters and points for all. Each
library may use both cores in every way that it offers: torch's threads, and processes for the sites
of a round.
All ways take turns, `--repeats` times. A run's figure is the mean over its rounds after the first
ten, so that nobody's start counts; a way's is its best run. The accuracy on 2,000 test points
after the last round says that all did the same job.

Flower and pfl run in virtual environments of their own below `--venvs`; they may tell nobody.
"""

import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.others import apart
from bench.tables import records
from colabel.data import Site, Sites, load
from colabel.federation.training_plan import Stage, TrainingPlan
from colabel.jobs.train import initial, train_sites
from colabel.learning.judging import Judge
from colabel.learning.models import ModelPlan
from colabel.learning.plan import LocalPlan, OptimiserPlan

N_SITES, PER_ROUND, RATE, N_TEST, SKIPPED = 100, 10, 0.05, 2000, 10
CASES = {  # model, points of a site, batch
    "tiny_cnn, 60 points, batch 10": ("tiny_cnn", 60, 10),
    "tiny_cnn, 200 points, batch 20": ("tiny_cnn", 200, 20),
    "mlp_head, 60 points, batch 10": ("mlp_head", 60, 10),
}
SHAPE = (1, 28, 28)
FLOWER = ("flower-sim", "flwr[simulation]==1.41.*", "torch==2.13.0")
PFL = ("apple-pfl", "pfl==0.6.*", "torch==2.13.0")
# torch's threads, processes; colabel chooses the threads itself
WAYS = {"colabel": ((1, 1), (1, 2)), "pfl": ((1, 1), (2, 1), (1, 2)), "Flower": ((1, 1), (1, 2))}


def write_job(
    path: Path, model: str, n_points: int, batch: int, rounds: int, data_dir: str | None
) -> None:
    """The points of every site, as stored and normalised, and the first parameters."""
    data = load("fashion_mnist", data_dir)
    rows = np.random.default_rng(0).permutation(data.train_rows)
    size = N_SITES * n_points
    x = np.asarray(data.points[rows[: size + N_TEST]]).reshape(-1, *SHAPE)
    y = np.asarray(data.labels[rows[: size + N_TEST]])
    mean, std = float(x[:size].mean()), float(x[:size].std())
    normal = (x.astype(np.float32) - np.float32(mean)) / np.float32(std)
    start = list(initial(plan(model, mean, std, batch, rounds)).model.values())
    settings = {
        "rounds": rounds,
        "per_round": PER_ROUND,
        "batch": batch,
        "rate": RATE,
        "model": model,
    }
    np.savez(
        path,
        raw=x,
        scale=np.array([mean, std]),
        points=normal[:size].reshape(N_SITES, n_points, *SHAPE),
        labels=y[:size].reshape(N_SITES, n_points),
        test_x=normal[size:],
        test_y=y[size:],
        settings=json.dumps(settings | {"parameters": len(start)}),
        **{f"start_{number}": held for number, held in enumerate(start)},
    )


def plan(name: str, mean: float, std: float, batch: int, rounds: int) -> TrainingPlan:
    """FedAvg on labelled points."""
    model = ModelPlan(name=name, shape=SHAPE, n_classes=10, norm="none", mean=(mean,), std=(std,))
    local = LocalPlan(epochs=1, labelled_batch=batch, optimiser=OptimiserPlan(rate=RATE))
    return TrainingPlan(
        model=model,
        stages=(Stage(rounds=rounds),),
        local=local,
        sites_per_round=PER_ROUND,
        judge_every=rounds,
    )


def worker(path: str, processes: int) -> None:
    """The job with colabel."""
    with np.load(path) as held:
        raw, labels, test_y = held["raw"], held["labels"].astype(np.int64), held["test_y"]
        mean, std = held["scale"].tolist()
        settings = json.loads(str(held["settings"]))
    n = labels.shape[1]
    sites = [
        Site(f"site-{number:02}", raw[number * n : (number + 1) * n], labels[number])
        for number in range(N_SITES)
    ]
    own = plan(settings["model"], mean, std, settings["batch"], settings["rounds"])
    ends: list[float] = []
    outcome = train_sites(
        Sites(tuple(sites), tuple("0123456789")),
        own,
        listen=lambda event: ends.append(time.perf_counter()),
        workers=processes,
    )
    judge = Judge(own.model, raw[N_SITES * n :], test_y.astype(np.int64))
    accuracy = judge(outcome.model)["accuracy"]
    print(json.dumps({"ends": ends, "accuracy": accuracy, "version": "this"}))


def run(library: str, job: Path, threads: int, processes: int, venvs: Path) -> dict[str, Any]:
    """One library, one way."""
    if library == "colabel":
        return apart.answer(Path(sys.executable), "bench.throughput", str(job), str(processes))
    if library == "Flower":
        python = apart.python_of(venvs, *FLOWER)
        arguments = str(job), str(threads), str(processes)
        return apart.answer(python, "bench.others.flower_fedavg", *arguments)
    python = apart.python_of(venvs, *PFL)
    return apart.answer(
        python, "bench.others.pfl_fedavg", str(job), str(threads), processes=processes
    )


def rounds_per_minute(ends: list[float]) -> float:
    """After the first rounds."""
    return 60 * (len(ends) - 1 - SKIPPED) / (ends[-1] - ends[SKIPPED])


def measure(case: str, rounds: int, repeats: int, venvs: Path, data_dir: str | None) -> Any:
    """All ways in turn; a row for each."""
    runs: dict[tuple[str, int, int], list[Mapping[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.npz"
        write_job(job, *CASES[case], rounds, data_dir)
        for _ in range(repeats):
            for library, ways in WAYS.items():
                for way in ways:
                    found = run(library, job, *way, venvs)
                    runs.setdefault((library, *way), []).append(found)
                    print(library, *way, rounds_per_minute(found["ends"]), found["accuracy"])
    rows = []
    for (library, threads, processes), found in runs.items():
        speeds = [rounds_per_minute(each["ends"]) for each in found]
        rows.append(
            {
                "case": case,
                "library": library,
                "version": found[0]["version"],
                "threads": threads,
                "processes": processes,
                "rounds per minute": max(speeds),
                "all runs": speeds,
                "accuracy": float(np.mean([each["accuracy"] for each in found])),
            }
        )
    return rows


def ratio(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Our best way over the best way of the faster one of the others."""
    best: dict[str, float] = {}
    for row in rows:
        speed = row["rounds per minute"]
        best[row["library"]] = max(best.get(row["library"], 0.0), speed)
    ours = best.pop("colabel")
    fastest = max(best, key=lambda name: best[name])
    return {"case": rows[0]["case"], "faster of the others": fastest, "ratio": ours / best[fastest]}


def main() -> None:
    """All cases."""
    parser = apart.options(__doc__)
    parser.add_argument("--data-dir", help="where the data sets are (or set COLABEL_DATA)")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--case", choices=CASES, action="append", help="only this one")
    options = parser.parse_args()
    if options.worker:
        worker(options.worker[0], int(options.worker[1]))
        return
    rows, ratios = [], []
    for case in options.case or CASES:
        found = measure(case, options.rounds, options.repeats, options.venvs, options.data_dir)
        rows += found
        ratios.append(ratio(found))
    shown = [{k: v for k, v in row.items() if k != "all runs"} for row in rows]
    print(*records(shown), sep="\n")
    print(*records(ratios), sep="\n")
    if options.json is not None and options.json.exists():  # keep the cases that were not run
        held = json.loads(options.json.read_text())
        done = {row["case"] for row in rows}
        rows = [row for row in held["runs"] if row["case"] not in done] + rows
        ratios = [row for row in held["ratios"] if row["case"] not in done] + ratios
    apart.write({"runs": rows, "ratios": ratios}, options.json)


if __name__ == "__main__":
    main()
