"""Film reviews, good or bad: FedCT's text experiment with a frozen language model and small heads.

python -m bench.imdb_minilm [--data-dir DATA] [--seeds 3] [--only "1000"] [--json FILE]

The paper fine-tunes GPT-2 (124 million parameters) on IMDB [FedCT App. D.2]; here MiniLM reads the
reviews once (their first 256 tokens), and what is trained is one hidden layer on its 384 numbers.
2,000 reviews of polarity 2.0; 10 sites, iid; sizes, period and rounds of table 11. A round is a
pass over a site's own points in batches of 16; all methods make as many passes, with Adam at the
paper's rate, which was not tuned here. Accuracy on the test reviews, averaged over the models where
there are many; with 150 of them every draw has a standard error of nearly 4 points.
"""

import hashlib
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.cells import arguments, report
from bench.tables import mean, table
from colabel.cotrain.learners import Learner
from colabel.data import Sites, load
from colabel.data.site import from_groups
from colabel.features import MiniLM
from colabel.jobs.cotrain import cotrain_sites, learn_alone, learn_pooled, plan_for
from colabel.jobs.fedavg_for_comparison import fedavg_sites
from colabel.learning.cotraining import NetworkLearner
from colabel.learning.models import ModelPlan
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.randomness import data

N_SITES, BATCH = 10, 16
ROUNDS, PERIOD = 100, 5  # [FedCT table 11]
PAPER = {"FedCT": 0.73, "FedAvg": 0.59}  # GPT-2, 1,450 of another 50,000 reviews
# rows of unit length: so their entries are about 1
MODEL = ModelPlan(name="mlp_head", shape=(384,), n_classes=2, std=(384**-0.5,))
METHODS = ("FedCT", "FedAvg", "no communication", "pooled")


class Cell(NamedTuple):
    """How many reviews for what."""

    labelled: int
    public: int
    test: int

    def __str__(self) -> str:
        return f"{self.labelled} labelled, {self.public} public, {self.test} test"


CELLS = (Cell(1450, 150, 150), Cell(1000, 500, 500))


class Drawn(NamedTuple):
    """One draw."""

    sites: Sites
    public: NDArray[np.float32]
    hidden: NDArray[np.int64]  # the public points' labels: nobody learns from them
    test: NDArray[np.float32]
    truth: NDArray[np.int64]


def embedded(data_dir: str | None) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """What MiniLM makes of all reviews, kept in the temporary folder; their labels."""
    benchmark = load("imdb", data_dir)
    texts = [str(text) for text in np.asarray(benchmark.points)]
    known = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"colabel-imdb-minilm-{known}.npy"
    if not path.exists():
        started = time.perf_counter()
        np.save(path, MiniLM().transform(texts))
        print(f"{len(texts)} reviews read in {(time.perf_counter() - started) / 60:.1f} min")
    return np.load(path), benchmark.labels


def draw(cell: Cell, seed: int, points: NDArray[np.float32], labels: NDArray[np.int64]) -> Drawn:
    """Rows drawn and dealt by the seed."""
    rows = data(seed, "bench imdb_minilm").permutation(len(labels))
    own, public, test = np.split(rows[: sum(cell)], np.cumsum(cell)[:-1])
    groups = [f"site-{number % N_SITES}" for number in range(len(own))]
    sites = from_groups(points[own], labels[own], groups, ("negative", "positive"))
    return Drawn(sites, points[public], labels[public], points[test], labels[test])


def local(n_points: int) -> LocalPlan:
    """What is done between two exchanges: as many passes over so many points as a period has."""
    steps = PERIOD * max(n_points // BATCH, 1)
    adam = OptimiserPlan(name="adam", rate=0.001)  # [FedCT App. E.3]
    return LocalPlan(steps=steps, labelled_batch=BATCH, optimiser=adam)


def accuracy(learners: Mapping[str, Learner], drawn: Drawn) -> float:
    """Mean over the models."""
    right = [(held.predict(drawn.test) == drawn.truth).mean() for held in learners.values()]
    return float(np.mean(right))


def measure(cell: Cell, seed: int, drawn: Drawn) -> dict[str, float]:
    """All methods on one draw."""
    plan = local(cell.labelled // N_SITES)
    turns = ROUNDS // PERIOD + 1  # co-training learns from the last consensus once more

    def learners() -> dict[str, Learner]:
        return {name: NetworkLearner(MODEL, plan, seed, name) for name in drawn.sites.names}

    together, alone = learners(), learners()
    settings = plan_for(drawn.public, 2, rounds=ROUNDS, period=PERIOD, seed=seed)
    fedct = cotrain_sites(drawn.sites, drawn.public, together, settings)
    fedavg = fedavg_sites(drawn.sites, MODEL, plan, turns, seed=seed)
    learn_alone(drawn.sites, alone, turns)
    pooled = NetworkLearner(MODEL, local(cell.labelled), seed, "pooled")
    learn_pooled(drawn.sites, pooled, turns)
    sent = [e.bytes_up for e in fedct.costs.exchanges if e.step == "label"]
    return {
        "FedCT": accuracy(together, drawn),
        "FedAvg": accuracy({"": fedavg.learner}, drawn),
        "no communication": accuracy(alone, drawn),
        "pooled": accuracy({"": pooled}, drawn),
        "consensus": float((fedct.result.consensus == drawn.hidden).mean()),
        "first consensus": float((fedct.history[0]["labels"] == drawn.hidden).mean()),
        "bytes up, FedCT": float(np.mean(sent)),
        "bytes up, FedAvg": fedavg.bytes_up,
    }


def main() -> None:
    options = arguments(__doc__)
    points, labels = embedded(options.data_dir)
    started, results, lines = time.perf_counter(), dict[str, dict[str, list[float]]](), []
    for cell in CELLS:
        if options.only not in str(cell):
            continue
        draws = [draw(cell, seed, points, labels) for seed in range(options.seeds)]
        runs = [measure(cell, seed, drawn) for seed, drawn in enumerate(draws)]
        found = results[str(cell)] = {what: [run[what] for run in runs] for what in runs[0]}
        shown = [mean(found[what]) for what in (*METHODS, "first consensus", "consensus")]
        sizes = [f"{np.mean(found[f'bytes up, {name}']):,.0f}" for name in ("FedCT", "FedAvg")]
        lines.append([str(cell), *shown, *sizes])
    names = ["first consensus", "last consensus", "bytes up a turn, FedCT", "bytes up, FedAvg"]
    print(*table(["IMDB", *METHODS, *names], lines), sep="\n")
    report(f"IMDB by MiniLM (paper, GPT-2: {PAPER})", results, started, options.json)


if __name__ == "__main__":
    main()
