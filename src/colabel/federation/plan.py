"""The settings of a labelling run, the same for the server and every site."""

from typing import Literal, TypeGuard, get_args

import msgspec

from colabel.errors import InputError, Problem, did_you_mean
from colabel.graph.codes import MAX_BITS
from colabel.protocols.hamming import WAYS

MAX_SHARPNESS = 32.0  # higher powers of small similarities, squared, are no longer above 0
N_SUMS = 4  # moments, tried scores, ratings, class scores
Auto = Literal["auto"]
Share = Literal["share"]
ClassWeighting = Literal["balanced", "none"]
Shared = Literal["identity", "centred", "standardised", "scaled"]
NeighborSearch = Literal["auto", "exact", "index"]
Confidence = Literal["probability", "entropy"]
Seeds = Literal["labels", "predictions"]


class LabellingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What Algorithm 1 runs with; docs/decisions/005 says why these defaults.

    alpha = "share" is 1 minus the share of labelled points, between 0.5 and 0.98: the fewer
    labels, the farther each must reach. `seeds`: whether only labels flow along the graph, or also
    what a model in training predicts of the unlabelled points, as far as it is sure.
    `seed` fixes the hyperplanes in public, for experiments.
    neighbor_search = "auto" uses an index from 20,000 points on, if the way to compare gives the
    server codes, and computes influence nearly (docs/decisions/009); "exact" never does.
    """

    n_classes: int
    n_neighbors: int | Auto = 20
    alpha: float | Auto | Share = "share"
    n_bits: int = 4096
    hamming: str = "lattice"
    features: Shared = "scaled"
    equalise: bool = True
    sharpness: float = 4.0
    density_correction: bool = True
    class_weighting: ClassWeighting = "balanced"
    keep_labels: bool = True
    confidence: Confidence = "probability"
    seeds: Seeds = "labels"
    neighbor_search: NeighborSearch = "auto"
    seed: bytes | None = None

    @property
    def tries(self) -> bool:
        """Whether there is anything to find out by holding labels out."""
        return self.confidence == "probability" or "auto" in (self.n_neighbors, self.alpha)

    @property
    def n_masks(self) -> int:
        """How many protected sums a run needs at most; −1 if nothing is protected."""
        return -1 if self.hamming == "clear" else N_SUMS

    def alpha_for(self, n_labelled: int, n_points: int) -> float:
        """α for this many labels, where it is not chosen by trying."""
        if isinstance(self.alpha, str):
            return 1.0 - min(max(n_labelled / n_points, 0.02), 0.5)
        return self.alpha

    def problems(self) -> list[Problem]:
        """Everything that is wrong with these settings."""
        found = []

        def need(good: bool, what: str, fix: str) -> None:
            if not good:
                found.append(Problem(what, fix))

        k, alpha = self.n_neighbors, self.alpha
        need(
            k == "auto" or (_is_whole(k) and k >= 1),
            f"n_neighbors is {k!r}",
            "Give a whole number of at least 1, or 'auto'.",
        )
        need(
            alpha in ("auto", "share") or (_is_number(alpha) and 0 < alpha < 1),
            f"alpha is {alpha!r}",
            "Give a number between 0 and 1, both excluded, or 'share' or 'auto'.",
        )
        need(
            _is_number(self.sharpness) and 0 < self.sharpness <= MAX_SHARPNESS,
            f"sharpness is {self.sharpness!r}",
            f"Give a number above 0, at most {MAX_SHARPNESS:g}.",
        )
        need(
            _is_whole(self.n_bits) and 1 <= self.n_bits <= MAX_BITS,
            f"n_bits is {self.n_bits!r}",
            f"Give a whole number from 1 to {MAX_BITS}.",
        )
        for name, value, known in (
            ("hamming", self.hamming, tuple(WAYS)),
            ("class_weighting", self.class_weighting, get_args(ClassWeighting)),
            ("features", self.features, get_args(Shared)),
            ("confidence", self.confidence, get_args(Confidence)),
            ("seeds", self.seeds, get_args(Seeds)),
            ("neighbor_search", self.neighbor_search, get_args(NeighborSearch)),
        ):
            need(value in known, f"{name} is {value!r}", did_you_mean(str(value), known))
        need(
            self.seeds != "predictions" or not self.tries,
            "predictions are to flow along the graph, and labels to be held out",
            "Give numbers for k and α, and confidence = 'entropy'.",
        )
        for name in ("equalise", "density_correction", "keep_labels"):
            value = getattr(self, name)
            need(isinstance(value, bool), f"{name} is {value!r}", "Give True or False.")
        return found

    def validate(self) -> "LabellingPlan":
        """The plan itself, or an `InputError` with every problem."""
        if found := self.problems():
            raise InputError(found)
        return self


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


class Agreed(msgspec.Struct, frozen=True):
    """What a site remembers of the plan it agreed to."""

    plan: LabellingPlan
