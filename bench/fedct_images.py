"""FedCT and what it compares with on Fashion-MNIST: accuracy, bytes, and a privacy audit.

python -m bench.fedct_images [--data-dir DATA] [--seeds 3] [--only FedCT] [--json FILE]

Five sites with 2,000 labelled images each, 10,000 public images, 10,000 to test; the paper's MLP
(669,706 parameters), Adam at 0.001, batches of 64 own and 64 public images, labels or models
exchanged after every 50 steps, 1,000 steps (the paper: 20,000). Accuracy is the mean over the
sites' models; bytes are those that a site sends in a turn.

The audit asks about 1,000 images of the first site and 1,000 that nobody has, with five answers
about each for every method: the labels or scores that the site's model gives in the last five
turns (once, and for four shifted copies, of a PATE teacher, who answers once); its last five
updates in FedAvg, of which only the sum over sites is seen where it is masked. The attacker has
eight shadow models, each trained on half of the candidates and on images of its own. VUL is the
AUC of the strongest attack; the interval holds for all attacks on the method together.

"DP-FedCT, as in the paper": XOR with ε = 0.1 a turn by Corollary 1, sensitivity 3,000, an estimate.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.cells import arguments, report
from bench.tables import mean, table
from colabel.cotrain.learners import Examples, Learner
from colabel.data import Sites, load
from colabel.data.site import from_groups
from colabel.federation.released import release, rows_of
from colabel.federation.training_plan import PrivacyPlan, Stage, TrainingPlan
from colabel.jobs.cotrain import cotrain_sites, learn_alone, learn_pooled, plan_for
from colabel.jobs.fedavg_for_comparison import fedavg_sites
from colabel.jobs.pate import pate_sites
from colabel.jobs.train import train_sites
from colabel.learning.aggregation import mean as mean_of_models
from colabel.learning.audited import seen
from colabel.learning.cotraining import NetworkLearner
from colabel.learning.models import ModelPlan, make
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.privacy.audit.audit import AuditReport, Exposure, audit
from colabel.privacy.audit.label_only import LabelAnswers, copies
from colabel.privacy.audit.measures import Candidates
from colabel.privacy.audit.scores import ScoreAnswers, Shadows, halves
from colabel.privacy.audit.white_box import UpdateAnswers
from colabel.privacy.gnmax import Gnmax
from colabel.privacy.label_accounting import LabelPrivacy, statement
from colabel.randomness import data

N_SITES, N_EACH, N_PUBLIC, N_TEST, N_ASKED = 5, 2_000, 10_000, 10_000, 1_000
STEPS, TURNS, ANSWERS, N_SHADOWS = 50, 20, 5, 8
PAPER = {  # accuracy and VUL of table 1; of "alone", table 10
    "FedCT": (0.84, 0.51), "DP-FedCT, as in the paper": (0.80, 0.52), "FedAvg": (0.83, 0.72),
    "DP-FedAvg": (0.69, 0.71), "DD": (0.82, 0.60), "PATE": (0.73, 0.59), "DP-PATE": (0.73, 0.57),
    "alone": (0.79, None),
}  # fmt: skip
CLIP, NOISE, VOTE_NOISE = 1.0, 0.5, 1.0


class World(NamedTuple):
    """One draw."""

    seed: int
    sites: Sites
    public: NDArray[np.uint8]
    public_truth: NDArray[np.int64]
    test: NDArray[np.uint8]
    truth: NDArray[np.int64]
    asked: Candidates
    model: ModelPlan
    shadows: Shadows


class Found(NamedTuple):
    """What a method gave: accuracy, bytes of a turn, what it exposes, and what else to say."""

    accuracy: float
    bytes_up: float
    exposure: Exposure | None
    said: str = ""


def world(seed: int, data_dir: str | None) -> World:
    """Images drawn and dealt by the seed."""
    held = load("fashion_mnist", data_dir)
    rng = data(seed, "bench fedct images")
    rows = rng.permutation(held.train_rows)
    ends = np.cumsum([N_SITES * N_EACH, N_PUBLIC, N_ASKED, 6 * N_EACH])
    own, public, others, attacker = np.split(rows, ends)[:4]
    test = rng.permutation(held.test_rows)[:N_TEST]
    images, labels = held.points, held.labels
    points = np.asarray(images[own])[:, None]
    names = np.repeat([f"site-{number}" for number in range(N_SITES)], N_EACH)
    sites = from_groups(points, labels[own], names, held.classes)
    both = np.concatenate([own[:N_ASKED], others])
    member = np.arange(2 * N_ASKED) < N_ASKED
    asked = Candidates(np.asarray(images[both])[:, None], labels[both], member)
    model = ModelPlan(
        name="fedct_mlp", shape=(1, 28, 28), n_classes=10, norm="none",
        mean=(float(points.mean()),), std=(float(points.std()),),
    )  # fmt: skip
    shadows = _shadows(asked, np.asarray(images[attacker])[:, None], labels[attacker], model, seed)
    return World(
        seed, sites, np.asarray(images[public])[:, None], labels[public],
        np.asarray(images[test])[:, None], labels[test], asked, model, shadows,
    )  # fmt: skip


def plan_of() -> LocalPlan:
    """Adam, 50 steps between two exchanges."""
    return LocalPlan(
        steps=STEPS, labelled_batch=64, optimiser=OptimiserPlan(name="adam", rate=1e-3)
    )


def learner(own: World, name: str) -> NetworkLearner:
    """A site's."""
    return NetworkLearner(own.model, plan_of(), own.seed, name)


def learners(own: World) -> dict[str, Learner]:
    """One for each site."""
    return {name: learner(own, name) for name in own.sites.names}


def _shadows(
    asked: Candidates,
    points: NDArray[np.uint8],
    labels: NDArray[np.int64],
    model: ModelPlan,
    seed: int,
) -> Shadows:
    """Models of as many points as a site has: half of the candidates, the rest of one's own."""
    member = halves(len(asked), N_SHADOWS, seed)
    n_own, said = N_EACH - len(asked) // 2, []
    for number, flags in enumerate(member):
        part = slice(number * n_own, (number + 1) * n_own)
        held = NetworkLearner(model, plan_of(), 1000 + seed, f"shadow {number}")
        x = np.concatenate([asked.points[flags], points[part]])
        y = np.concatenate([asked.labels[flags], labels[part]])
        for turn in range(TURNS):
            held.learn(Examples(x, y), Examples.nothing(x), turn)
        said.append(held.shares(asked.points))
    return Shadows(np.stack(said), member)


def accuracy(own: World, held: Mapping[str, Learner]) -> float:
    """Mean over the sites' models."""
    return float(np.mean([(one.predict(own.test) == own.truth).mean() for one in held.values()]))


def labels_exposed(own: World, method: str, answers: list[NDArray[np.int64]]) -> Exposure:
    """Hard labels of the last turns."""
    return Exposure(method, (LabelAnswers(np.stack(answers), None, usual_of(own)),))


def usual_of(own: World) -> NDArray[np.float64]:
    """How often shadow models without a candidate give it its label."""
    right = own.shadows.scores.argmax(axis=2) == own.asked.labels
    found: NDArray[np.float64] = np.nanmean(np.where(own.shadows.member, np.nan, right), axis=0)
    return found


def cotrained(
    method: str, exchange: str = "labels", privacy: LabelPrivacy | None = None
) -> Callable[[World], Found]:
    """FedCT, its private variants, and DD."""

    def run(own: World) -> Found:
        plan = plan_for(
            own.public, 10, rounds=TURNS, votes="clear", exchange=exchange, privacy=privacy,
            seed=own.seed,
        )  # fmt: skip
        held, labels, scores = learners(own), [], []
        ties = data(own.seed, f"ties of answers of {method}")

        def ask(now: Mapping[str, Learner]) -> dict[str, Any]:
            first = now["site-0"]
            if exchange == "scores":
                scores.append(first.shares(own.asked.points))
            else:
                # as many labels as there are public points, so that the noise is the same
                said = np.zeros(N_PUBLIC, np.int64)
                said[: len(own.asked)] = first.predict(own.asked.points)
                votes = rows_of(release(said, plan, 1), plan)[: len(own.asked)]
                labels.append((votes + 0.5 * ties.random(votes.shape)).argmax(axis=1))
            return {}

        outcome = cotrain_sites(own.sites, own.public, held, plan, judge=ask)
        sent = [e.bytes_up for e in outcome.costs.exchanges if e.step == "label"]
        shown = (ScoreAnswers(np.stack(scores[-ANSWERS:]), (own.shadows,)),) if scores else ()
        exposure = (
            Exposure(method, shown) if shown else labels_exposed(own, method, labels[-ANSWERS:])
        )
        agreed = outcome.result.consensus
        right = (agreed == own.public_truth)[agreed >= 0].mean()
        said = f"consensus right on {100 * right:.1f} %"
        if privacy is not None:
            said += "; " + statement(privacy, N_PUBLIC, 10, N_SITES, TURNS, 1e-5)[3]
        return Found(accuracy(own, held), max(sent), exposure, said)

    return run


def fedavg(method: str, privacy: PrivacyPlan | None) -> Callable[[World], Found]:
    """The last rounds are played by hand, to keep what an attacker sees of them."""

    def run(own: World) -> Found:
        masked = privacy is not None
        begun = fedavg_sites(
            own.sites, own.model, plan_of(), TURNS - ANSWERS * (not masked), seed=own.seed,
            protection="masked" if masked else "none", privacy=privacy,
        )  # fmt: skip
        held, network = begun.learner, make(own.model)
        if masked:  # the server sees the model of each round only: its last change is asked about
            return _masked(own, method, begun, privacy)
        model, rounds, scores = dict(begun.training.model), [], []
        for number in range(ANSWERS):
            after = {}
            for site in own.sites.sites:
                one = NetworkLearner(own.model, plan_of(), own.seed, f"{site.name} {number}")
                one.load(model)
                one.learn(Examples(site.points, site.labels), Examples.nothing(site.points), number)
                after[site.name] = {k: v for k, v in one.save().items() if "/" not in k}
                if site.name == "site-0":  # who has a model has its scores
                    scores.append(one.shares(own.asked.points))
            rounds.append(
                seen(network, model, after["site-0"], own.asked.points, own.asked.labels, own.model)
            )
            model = mean_of_models(list(after.values()), [1.0] * len(after))
        held.load(model)
        return Found(
            accuracy(own, {"": held}), begun.bytes_up, models_exposed(own, method, rounds, scores)
        )

    return run


def models_exposed(own: World, method: str, rounds: list[Any], scores: list[Any]) -> Exposure:
    """Losses and gradients under the models, and what the models say."""
    updates = UpdateAnswers(*(np.stack([getattr(r, k) for r in rounds]) for k in _PARTS))
    return Exposure(method, (updates, ScoreAnswers(np.stack(scores), (own.shadows,))))


_PARTS = ("losses", "alignments", "norms")


def _masked(own: World, method: str, begun: Any, privacy: PrivacyPlan | None) -> Found:
    """Only the model after the sum is seen; five rounds more, one by one."""
    network, before, rounds, scores = make(own.model), begun.training.model, [], []
    state = begun.training.state
    for _ in range(ANSWERS):
        plan = TrainingPlan(
            model=own.model, stages=(Stage(rounds=state.round + 1),), local=plan_of(),
            sites_per_round=N_SITES, protection="masked", privacy=privacy, seed=own.seed,
        )  # fmt: skip
        state = train_sites(own.sites, plan, state=state).state
        rounds.append(
            seen(network, before, state.model, own.asked.points, own.asked.labels, own.model)
        )
        before = state.model
        begun.learner.load(before)
        scores.append(begun.learner.shares(own.asked.points))
    said = f"{begun.spent} before the audit's rounds"
    exposed = models_exposed(own, method, rounds, scores)
    return Found(accuracy(own, {"": begun.learner}), begun.bytes_up, exposed, said)


def pate(method: str, gnmax: Gnmax | None) -> Callable[[World], Found]:
    """Teachers learn to the end first, answer once, and a student learns from the answers."""

    def run(own: World) -> Found:
        long = LocalPlan(
            steps=STEPS * TURNS, labelled_batch=64, optimiser=OptimiserPlan(name="adam", rate=1e-3)
        )
        teachers: dict[str, Learner] = {
            name: NetworkLearner(own.model, long, own.seed, name) for name in own.sites.names
        }
        student = NetworkLearner(own.model, long, own.seed, "student")
        plan = plan_for(own.public, 10, rounds=1, votes="clear", seed=own.seed)
        outcome = pate_sites(own.sites, own.public, teachers, student, plan, gnmax=gnmax)
        sent = [e.bytes_up for e in outcome.costs.exchanges if e.step == "label"]
        first = teachers["site-0"]
        changed = copies(own.asked.points, ANSWERS - 1, own.seed)
        flat = changed.reshape(-1, *changed.shape[2:])
        perturbed = first.predict(flat).reshape(changed.shape[:2])
        said_of = first.predict(own.asked.points)[None]
        answers = LabelAnswers(said_of, perturbed[None], usual_of(own))
        said = "" if outcome.spent is None else f"{outcome.spent} for what the student shows"
        return Found(accuracy(own, {"": student}), max(sent), Exposure(method, (answers,)), said)

    return run


def without(own: World) -> Found:
    """Each site on its own."""
    held = learners(own)
    learn_alone(own.sites, held, TURNS)
    return Found(accuracy(own, held), 0.0, None)


def pooled(own: World) -> Found:
    """All labelled images in one place."""
    held = learn_pooled(own.sites, learner(own, "pool"), TURNS)
    return Found(accuracy(own, {"": held}), 0.0, None)


PRIVATE = LabelPrivacy(
    mechanism="xor", epsilon=0.1, sensitivity=3000, estimated=True, rule="corollary"
)
METHODS: dict[str, Callable[[World], Found]] = {
    "FedCT": cotrained("FedCT"),
    "DP-FedCT, as in the paper": cotrained("DP-FedCT, as in the paper", privacy=PRIVATE),
    "FedCT, response, ε = 3 a label": cotrained(
        "FedCT, response, ε = 3 a label",
        privacy=LabelPrivacy(mechanism="response", epsilon=3.0 * N_PUBLIC),
    ),
    "DD": cotrained("DD", exchange="scores"),
    "FedAvg": fedavg("FedAvg", None),
    "DP-FedAvg": fedavg("DP-FedAvg", PrivacyPlan(clip=CLIP, noise=NOISE)),
    "PATE": pate("PATE", None),
    "DP-PATE": pate("DP-PATE", Gnmax(noise=VOTE_NOISE)),
    "alone": without,
    "centralised": pooled,
}


def main() -> None:
    options = arguments(__doc__)
    started, results = time.perf_counter(), dict[str, Any]()
    names = [name for name in METHODS if options.only in name]
    for seed in range(options.seeds):
        own, found = world(seed, options.data_dir), dict[str, Found]()
        print(f"seed {seed}: shadows {time.perf_counter() - started:.0f} s", flush=True)
        for name in names:
            found[name] = METHODS[name](own)
            took = time.perf_counter() - started
            print(
                seed,
                name,
                round(found[name].accuracy, 4),
                found[name].said,
                f"{took:.0f} s",
                flush=True,
            )
        shown = [one.exposure for one in found.values() if one.exposure is not None]
        audited = audit(own.asked, shown, budget=ANSWERS, seed=seed) if shown else None
        if audited is not None:
            print(audited.table(every=True), flush=True)
        _note(results, found, audited)
        report("FedCT on Fashion-MNIST", results, started, options.json)
    rows = [_row(name, results[name]) for name in names]
    columns = [
        "method",
        "paper",
        "accuracy",
        "paper, VUL",
        "VUL",
        "95 %",
        "attack",
        "kB up",
        "note",
    ]
    print(*table(columns, rows), sep="\n")


def _note(results: dict[str, Any], found: Mapping[str, Found], audited: AuditReport | None) -> None:
    attacks = {} if audited is None else {one.method: one.strongest for one in audited.methods}
    if audited is not None:
        results.setdefault("valid", []).append(audited.valid)
    for name, one in found.items():
        own = results.setdefault(name, {"accuracy": [], "vul": [], "bytes": 0.0, "said": ""})
        own["accuracy"].append(one.accuracy)
        own["bytes"], own["said"] = one.bytes_up, one.said
        if name in attacks:
            best = attacks[name]
            own["vul"].append([best.auc, best.low, best.high, best.attack])


def _row(name: str, own: Mapping[str, Any]) -> list[str]:
    known = PAPER.get(name, (None, None))
    vul = own["vul"]
    return [
        name,
        "" if known[0] is None else f"{100 * known[0]:.0f}",
        mean(own["accuracy"]),
        "" if known[1] is None else f"{known[1]:.2f}",
        f"{np.mean([v[0] for v in vul]):.3f}" if vul else "",
        f"{min(v[1] for v in vul):.2f} to {max(v[2] for v in vul):.2f}" if vul else "",
        ", ".join(dict.fromkeys(v[3] for v in vul)),
        f"{own['bytes'] / 1e3:,.1f}" if own["bytes"] else "",
        own["said"],
    ]


if __name__ == "__main__":
    main()
