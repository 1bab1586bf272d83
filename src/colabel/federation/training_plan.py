"""The settings of a training run, the same for the server and every site."""

from typing import Literal, get_args

import msgspec

from colabel.errors import InputError, Problem, did_you_mean
from colabel.federation.plan import N_SUMS, LabellingPlan
from colabel.learning.models import MODELS, ModelPlan
from colabel.learning.plan import LocalPlan, ServerPlan
from colabel.learning.terms import AnyTerm, CrossEntropy

Labels = Literal["none", "network", "once", "site", "graph", "joint"]
WITH_GRAPH = ("graph", "joint")
Averaging = Literal["equal", "points", "groups"]
Buffers = Literal["averaged", "local"]
Protection = Literal["none", "masked"]


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """Some rounds with the same method.

    labels: where pseudo-labels come from: nowhere; the model's own predictions, anew in every
    round or once, at the beginning of the stage (FedSem+); propagation along each site's own
    graph, or along the graph of all sites that take part in the round (XCLP); or what the model
    and that graph say together ("joint").
    terms: what the loss is made of.
    """

    rounds: int
    labels: Labels = "none"
    terms: tuple[AnyTerm, ...] = (CrossEntropy(),)


class PrivacyPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Differential privacy of what the server and everybody else see of a site (DP-FedAvg).

    Each site's change of the model is shortened to the length `clip`, and noise is added to the
    sum: N(0, (noise · clip)²) per number, of which every site adds its share.
    """

    clip: float
    noise: float
    delta: float = 1e-5


class TrainingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What Algorithm 2 runs with.

    graph: how points are compared and labels propagated, where `labels` says so.
    averaging: whether every site counts the same or as many times as it has points; "groups":
    the same, but only within its group, of which there are `groups`, dealt anew in every round.
    buffers: whether running statistics are averaged or stay at each site.
    protection: whether the server sees each site's model or only their sum.
    server: what the server trains on its own labelled points, if it has any.
    """

    model: ModelPlan
    stages: tuple[Stage, ...]
    local: LocalPlan = LocalPlan()
    graph: LabellingPlan | None = None
    sites_per_round: int = 5
    averaging: Averaging = "equal"
    groups: int = 2
    buffers: Buffers = "averaged"
    protection: Protection = "none"
    server: ServerPlan | None = None
    privacy: PrivacyPlan | None = None
    judge_every: int = 10
    seed: int = 0

    @property
    def rounds(self) -> int:
        """How many rounds there are in all stages."""
        return sum(stage.rounds for stage in self.stages)

    def masks_for(self, stage: Stage) -> int | None:
        """How many protected sums a round needs at most (−1: none, but sites meet; None: they
        need not meet).
        """
        graph = self.graph if stage.labels in WITH_GRAPH else None
        if self.protection == "masked":
            return 1 + (N_SUMS if graph is not None else 0)
        return None if graph is None else graph.n_masks

    def problems(self) -> list[Problem]:
        """Everything that is wrong with these settings."""
        found = list(self.graph.problems()) if self.graph is not None else []

        def need(good: bool, what: str, fix: str) -> None:
            if not good:
                found.append(Problem(what, fix))

        for name, value, known in (
            ("model.name", self.model.name, tuple(MODELS)),
            ("averaging", self.averaging, get_args(Averaging)),
            ("buffers", self.buffers, get_args(Buffers)),
            ("protection", self.protection, get_args(Protection)),
        ):
            need(value in known, f"{name} is {value!r}", did_you_mean(str(value), known))
        need(bool(self.stages), "there are no stages", "Give at least one.")
        need(self.sites_per_round >= 1, "sites_per_round is below 1", "Give at least 1.")
        for number, stage in enumerate(self.stages, 1):
            where = f"stage {number}"
            need(stage.rounds >= 0, f"{where} has {stage.rounds} rounds", "Give 0 or more.")
            need(
                stage.labels in get_args(Labels),
                f"{where} has labels {stage.labels!r}",
                did_you_mean(stage.labels, get_args(Labels)),
            )
            need(
                stage.labels not in (*WITH_GRAPH, "site") or self.graph is not None,
                f"{where} propagates labels, and there is no plan for the graph",
                "Give `graph`.",
            )
            found += [problem for term in stage.terms for problem in term.problems()]
            needs_head = stage.labels in ("network", "once")
            needs_head |= any(term.needs_head for term in stage.terms)
            need(
                self.model.head or not needs_head,
                f"{where} needs the head of the model, which has none",
                "Set model.head, or take a term that needs none.",
            )
            need(
                self.protection == "none" or all(term.linear for term in stage.terms),
                f"{where} has a term that needs more than the sum of the sites' models",
                "Train it without protection, or leave the term out.",
            )
            need(
                self.averaging != "groups" or stage.labels not in WITH_GRAPH,
                f"{where} compares embeddings that groups of sites make with different models",
                "Average over all sites.",
            )
        need(self.groups >= 1, f"groups is {self.groups}", "Give at least 1.")
        need(
            self.averaging != "groups" or self.protection == "none",
            "the models of groups cannot be had from one sum",
            "Average over all sites, or without protection.",
        )
        found += self._privacy_problems()
        if self.graph is not None:
            need(
                self.graph.n_classes == self.model.n_classes,
                f"the graph has {self.graph.n_classes} classes, the model {self.model.n_classes}",
                "Give the same number.",
            )
        return found

    def _privacy_problems(self) -> list[Problem]:
        if self.privacy is None:
            return []
        clip, noise, stages = self.privacy.clip, self.privacy.noise, self.stages
        wrong = (
            (clip <= 0, f"privacy.clip is {clip}", "Give a length above 0."),
            (noise <= 0, f"privacy.noise is {noise}", "Give a number above 0."),
            (
                not 0 < self.privacy.delta < 1,
                f"privacy.delta is {self.privacy.delta}",
                "Give a number between 0 and 1, well below 1 / number of sites.",
            ),
            (
                self.protection != "masked",
                "each site's share of the noise is too small to hide it alone",
                'Give protection = "masked", so that only the sum is seen.',
            ),
            (
                self.averaging != "equal",
                "sites that count differently need different clips",
                'Give averaging = "equal".',
            ),
            (
                any(term.returns for stage in stages for term in stage.terms),
                "a term sends more than the change of the model, which would not be clipped",
                "Leave it out.",
            ),
            (
                any(stage.labels in WITH_GRAPH for stage in stages),
                "the distances that the graph is made of are not differentially private",
                "Take pseudo-labels from the model or from each site's own graph.",
            ),
        )
        return [Problem(what, fix) for bad, what, fix in wrong if bad]

    def validate(self) -> "TrainingPlan":
        """The plan itself, or an `InputError` with every problem."""
        if found := self.problems():
            raise InputError(found)
        return self
