"""The papers' methods by name: each is a plan, made from a base that says everything else.

The base says which model, graph, rates and rounds; a method says what the last stage does (those
before it stay, e.g. a warm-up on labels only) and what goes with it. `data` says who has labels in
the method's setting: some points at the "sites", "all" points at the sites, or the "server".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from msgspec.structs import replace

from colabel.errors import InputError, Problem, did_you_mean
from colabel.federation.presets import Preset, as_in
from colabel.federation.training_plan import Labels, Stage, TrainingPlan
from colabel.learning.models.network import Norm
from colabel.learning.plan import ServerPlan
from colabel.learning.terms import (
    AnyTerm,
    CrossEntropy,
    FedMatch,
    FixMatch,
    FixMix,
    MeanTeacher,
    MixMatch,
    Prototypes,
    Proximal,
    Scaffold,
    Siamese,
)

Data = Literal["sites", "all", "server"]
Change = Callable[[TrainingPlan], Mapping[str, Any]]


def _nothing(base: TrainingPlan) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Method:
    """Pseudo-labels, terms, what else of the plan changes, and who has labels."""

    labels: Labels = "none"
    terms: tuple[AnyTerm, ...] = (CrossEntropy(),)
    change: Change = _nothing
    data: Data = "sites"


def _with_norm(norm: Norm) -> Change:
    return lambda base: {"model": replace(base.model, norm=norm)}


def _without_head(base: TrainingPlan) -> Mapping[str, Any]:
    return {"model": replace(base.model, head=len(base.stages) > 1)}  # a warm-up needs one


def _at_server(turn: Literal["after", "beside"], norm: Norm, **settings: Any) -> Change:
    def change(base: TrainingPlan) -> Mapping[str, Any]:
        own = base.server or ServerPlan(local=base.local)
        model = replace(base.model, norm=norm)
        return {"server": replace(own, turn=turn), "model": model, **settings}

    return change


_CE = CrossEntropy()

METHODS: Mapping[str, Method] = {
    # labels only: the papers' lower bounds, and the upper ones where all points have labels
    "fedavg": Method(),
    "fedprox": Method(terms=(_CE, Proximal())),
    "scaffold": Method(terms=(_CE, Scaffold())),
    "fedavg_supervised": Method(data="all"),
    "fedprox_supervised": Method(terms=(_CE, Proximal()), data="all"),
    "scaffold_supervised": Method(terms=(_CE, Scaffold()), data="all"),
    # pseudo-labels [XCLP Table 4; FedProp Table 1]
    "fedavg_network": Method(labels="network"),
    "fedsem": Method(labels="once"),
    "fedavg_lp": Method(labels="site"),
    "fedprop": Method(labels="graph"),
    # consistency
    "fedavg_mt": Method(terms=(_CE, MeanTeacher())),
    "fedprop_mt": Method(labels="graph", terms=(_CE, MeanTeacher())),
    "fedsiam": Method(terms=(_CE, Siamese())),
    "fedmatch": Method(terms=(FedMatch(),)),
    "fixmatch_fedavg": Method(terms=(_CE, FixMatch())),
    "fixmatch_fedprox": Method(terms=(_CE, FixMatch(), Proximal())),
    "mixmatch_fedavg": Method(terms=(MixMatch(),)),
    "mixmatch_fedprox": Method(terms=(MixMatch(), Proximal())),
    "protofssl_fedavg": Method(terms=(Prototypes(),), change=_without_head),
    "protofssl_fedprox": Method(terms=(Prototypes(), Proximal()), change=_without_head),
    "protofssl_global": Method(terms=(Prototypes(prototypes="helpers"),), change=_without_head),
    # FedRGD with labels at the sites, as ProtoFSSL compares with it [ProtoFSSL Table 3], and in its
    # own setting
    "fedrgd": Method(
        terms=(_CE, FixMatch()),
        change=lambda base: {**_with_norm("group")(base), "averaging": "groups"},
    ),
    "fedrgd_server": Method(
        terms=(FixMatch(),),
        change=_at_server("beside", "group", averaging="groups"),
        data="server",
    ),
    "semifl": Method(terms=(FixMix(),), change=_at_server("after", "static"), data="server"),
}


def method(name: str, base: TrainingPlan, *, preset: Preset | None = None) -> TrainingPlan:
    """The plan of a method. `preset`: labels along the graph as the paper or the authors' code
    makes and weighs them; without it as the base says.
    """
    if name not in METHODS:
        hint = did_you_mean(name, tuple(METHODS))
        raise InputError(Problem(f"there is no method called {name!r}", hint))
    if not base.stages:
        raise InputError(Problem("the base plan has no stages", "Give one with its rounds."))
    chosen = METHODS[name]
    stage = Stage(rounds=base.stages[-1].rounds, labels=chosen.labels, terms=chosen.terms)
    plan = replace(base, stages=(*base.stages[:-1], stage), **chosen.change(base))
    return as_in(preset, plan).validate()
