"""Settings of XCLP's experiments: as the paper says (App. A.2), and as the authors' code has it.

They differ in: rates; what labels along a graph come from (similarities cubed, classes balanced by
their labels) and what they weigh in the loss (confidences divided by the largest, classes
balanced). Not offered: that the code embeds points for the graph with random changes, and the
mean teacher's second head. ProtoFSSL's code takes another distance, and lets gradients flow through
its pseudo-labels.
"""

from typing import Literal

from msgspec.structs import replace

from colabel.errors import InputError, Problem, did_you_mean
from colabel.federation.plan import LabellingPlan
from colabel.federation.training_plan import Stage, TrainingPlan
from colabel.learning.plan import Augmentation, LocalPlan, OptimiserPlan
from colabel.learning.terms import AnyTerm, CrossEntropy, Prototypes

Preset = Literal["paper", "code"]
DataSet = Literal["cifar10", "cifar100", "mini_imagenet"]

PAPER_RATES: dict[str, float] = {"cifar10": 0.3, "cifar100": 0.5, "mini_imagenet": 1.0}
CODE_RATE = 0.3
COSINE_ROUNDS = 2000


def paper_local(data: DataSet = "cifar10", *, preset: Preset = "paper") -> LocalPlan:
    """What a site does in a round [XCLP App. A.2]."""
    for value, known in ((data, tuple(PAPER_RATES)), (preset, ("paper", "code"))):
        if value not in known:
            raise InputError(Problem(f"{value!r} is not known", did_you_mean(value, known)))
    in_code = preset == "code"
    augmentation: Augmentation = "rotate_flip" if data == "mini_imagenet" else "translate_flip"
    optimiser = OptimiserPlan(
        rate=CODE_RATE if in_code else PAPER_RATES[data],
        rate_below=((20, 0.05), (50, 0.1)) if in_code else ((50, 0.1),),
        weight_decay=2e-4,
        cosine_rounds=COSINE_ROUNDS,
    )
    return LocalPlan(
        epochs=5,
        labelled_batch=50,
        augmentation=augmentation,
        optimiser=optimiser,
        scale_weights=in_code,
    )


def paper_graph(
    n_classes: int, *, preset: Preset = "paper", seed: bytes | None = None, hamming: str = "lattice"
) -> LabellingPlan:
    """How labels are propagated [XCLP App. A.2]: k = 10, α = 0.99, L = 4096."""
    return LabellingPlan(
        n_classes=n_classes,
        n_neighbors=10,
        alpha=0.99,
        n_bits=4096,
        hamming=hamming,
        features="identity",
        equalise=False,
        sharpness=3.0 if preset == "code" else 1.0,
        density_correction=False,
        class_weighting="balanced" if preset == "code" else "none",
        keep_labels=False,
        confidence="entropy",
        seed=seed,
    )


def as_in(preset: Preset | None, plan: TrainingPlan) -> TrainingPlan:
    """The same plan with labels along graphs made and weighed as there."""
    if preset is None:
        return plan
    if preset not in ("paper", "code"):
        hint = did_you_mean(preset, ("paper", "code"))
        raise InputError(Problem(f"there is no preset called {preset!r}", hint))
    in_code, graph = preset == "code", plan.graph
    if graph is not None:
        graph = paper_graph(graph.n_classes, preset=preset, seed=graph.seed, hamming=graph.hamming)
    local = replace(plan.local, scale_weights=in_code)
    stages = tuple(_weighed(stage, in_code) for stage in plan.stages)
    return replace(plan, graph=graph, local=local, stages=stages)


def _weighed(stage: Stage, in_code: bool) -> Stage:
    if not in_code:
        return stage
    weighs = stage.labels in ("site", "graph")
    return replace(stage, terms=tuple(_as_in_code(term, weighs) for term in stage.terms))


def _as_in_code(term: AnyTerm, weighs: bool) -> AnyTerm:
    if isinstance(term, CrossEntropy) and weighs:
        return replace(term, class_weights=True)
    if isinstance(term, Prototypes):
        return replace(term, distance="mean_square", through_target=True)
    return term
