"""Tables 1 and 2 of ProtoFSSL: what a round costs one site, by formula and as it was sent.

python -m bench.protofssl_costs [--json FILE]    (a minute)

ResNet-9 (ProtoFSSL: ResNet-8) without normalisation on 32 × 32 × 3 points, 10 classes, 50 labelled
and 490 unlabelled points, 2 helpers, 2 augmentations. The paper's operations come out with one
local epoch, two operations for a product, and one for every number that a bias, pooling or a skip
makes (here ReLUs stand for the biases, which table 6 does not have; they are as many). Its
megabytes (10⁶ bytes) are those of layers with biases; "with biases" adds them.

"Sent" are the bytes of one site in the third round of a run in this process, with all envelopes.
For labels along the graph (FedProp) the labelling is added as computed for 5 sites of 540 points.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from bench.tables import records
from colabel.data import Site, Sites
from colabel.engines.costs import by_kind
from colabel.federation.cost import cost
from colabel.federation.methods import method
from colabel.federation.presets import paper_graph
from colabel.federation.training_plan import Stage, TrainingPlan
from colabel.jobs.train import train_sites
from colabel.learning.flops import forward
from colabel.learning.models import ModelPlan, make
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.learning.round_costs import TABLE_1, RoundCost, Setting, fedavg, fedprop
from colabel.protocols.keys import Group, Welcome
from colabel.randomness import data

PAPER = {
    "MixMatch-FedAvg": (782.0, 52.6),
    "FedRGD (or FixMatch-FedAvg)": (782.0, 52.6),
    "FedMatch": (1526.0, 115.6),
    "ProtoFSSL": (447.9, 52.6),
}
OURS = {
    "FedAvg, labels only": "fedavg",
    "MixMatch-FedAvg": "mixmatch_fedavg",
    "FedRGD (or FixMatch-FedAvg)": "fixmatch_fedavg",
    "FedMatch": "fedmatch",
    "ProtoFSSL": "protofssl_fedavg",
}
SHAPE, N_CLASSES, N_SITES, N_POINTS, N_LABELLED = (3, 32, 32), 10, 5, 540, 50
BIASES = 64 + 3 * 128 + 256 + 3 * 512


def setting_for(name: str, *, biases: bool) -> Setting:
    plan = model_plan(head=name != "ProtoFSSL")
    network = make(plan)
    size = sum(held.numel() for held in network.parameters())
    size += biases * (BIASES + N_CLASSES * plan.head)
    return Setting(forward=forward(network, SHAPE).flops, model_bytes=4 * size)


def model_plan(*, head: bool) -> ModelPlan:
    return ModelPlan(name="resnet9", shape=SHAPE, n_classes=N_CLASSES, norm="none", head=head)


def labelling_bytes(way: str) -> float:
    """Of one site, for the labels of one round; sites have met and hold the model."""
    plan = paper_graph(N_CLASSES, seed=None if way == "lattice" else bytes(32), hamming=way)
    sizes = {f"site-{n}": Welcome(N_POINTS, N_LABELLED, 512) for n in range(N_SITES)}
    whole = cost(Group(sizes), plan)
    return (whole.bytes_up + whole.bytes_down) / N_SITES


def sent(name: str) -> dict[str, float]:
    """Megabytes of a site in the third round, by kind: bytes do not depend on the points."""
    draw = data(0, "bench protofssl costs")
    labels = np.r_[np.tile(np.arange(N_CLASSES), 2), np.full(12, -1)]
    sites = tuple(
        Site(f"site-{n}", draw.standard_normal((32, *SHAPE)).astype(np.float32), labels)
        for n in range(3)
    )
    base = TrainingPlan(
        model=model_plan(head=True),
        stages=(Stage(rounds=3),),
        local=LocalPlan(steps=1, labelled_batch=4, optimiser=OptimiserPlan(rate=1e-4)),
        sites_per_round=3,
    )
    plan = method(name, base)
    if name == "protofssl_fedavg":  # as in table 2
        plan = _with_two_helpers(plan)
    classes = tuple(str(c) for c in range(N_CLASSES))
    outcome = train_sites(Sites(sites, classes), plan)
    last = max(e.number for e in outcome.costs.exchanges)
    own = [e for e in outcome.costs.exchanges if e.number == last and e.site == "site-0"]
    traffic, found = by_kind(own), {}
    for way in (traffic.down, traffic.up):
        for kind, size in way.items():
            found[kind] = found.get(kind, 0.0) + size / 1e6
    return found


def _with_two_helpers(plan: TrainingPlan) -> TrainingPlan:
    stage = plan.stages[-1]
    terms = tuple(replace(term, helpers=2) for term in stage.terms)
    return replace(plan, stages=(*plan.stages[:-1], replace(stage, terms=terms)))


def row(name: str, plain: RoundCost, biased: RoundCost | None, kinds: dict[str, float]) -> Any:
    gflop, megabytes = PAPER.get(name, ("", ""))
    return {
        "method": name,
        "paper GFLOP": gflop,
        "GFLOP": round(plain.flops / 1e9, 1),
        "paper MB": megabytes,
        "MB": round(plain.bytes / 1e6, 2),
        "MB with biases": "" if biased is None else round(biased.bytes / 1e6, 1),
        "MB sent": round(sum(kinds.values()), 2) if kinds else "",
        "of it beside the model": "; ".join(
            f"{kind} {size:.3f}" for kind, size in kinds.items() if kind != "model"
        ),
    }


def rows() -> list[Any]:
    """One for each method of table 2, and ours."""
    found = []
    for name, formula in {**TABLE_1, "FedAvg, labels only": fedavg}.items():
        plain = formula(setting_for(name, biases=False))
        biased = formula(setting_for(name, biases=True))
        found.append(row(name, plain, biased, sent(OURS[name])))
    for way in ("clear", "lattice"):
        extra = labelling_bytes(way)
        plain = fedprop(setting_for("FedProp", biases=False), extra)
        made = row(f"FedProp, labels by `{way}`", plain, None, {})
        made["of it beside the model"] = f"labelling {extra / 1e6:.3f}"
        found.append(made)
    return found


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    options = parser.parse_args()
    found = rows()
    print(*records(found, decimals=1), sep="\n")
    if options.json is not None:
        options.json.write_text(json.dumps({"methods": found}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
