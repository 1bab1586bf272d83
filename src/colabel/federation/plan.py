"""The settings of a labelling run, the same for the server and every site."""

from typing import Literal, get_args

import msgspec

from colabel.errors import InputError, Problem, did_you_mean
from colabel.graph.codes import MAX_BITS
from colabel.protocols.hamming import WAYS

Auto = Literal["auto"]
ClassWeighting = Literal["balanced", "none"]
Shared = Literal["identity", "centred", "standardised", "whitened"]


class LabellingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What Algorithm 1 runs with. `seed` fixes the hyperplanes in public, for experiments."""

    n_classes: int
    n_neighbors: int | Auto = 10
    alpha: float | Auto = 0.99
    n_bits: int = 4096
    hamming: str = "clear"
    class_weighting: ClassWeighting = "balanced"
    features: Shared = "identity"
    keep_labels: bool = True
    seed: bytes | None = None

    def problems(self) -> list[Problem]:
        """Everything that is wrong with these settings."""
        found = []

        def need(good: bool, what: str, fix: str) -> None:
            if not good:
                found.append(Problem(what, fix))

        k, alpha = self.n_neighbors, self.alpha
        need(
            k == "auto" or (isinstance(k, int) and k >= 1),
            f"n_neighbors is {k!r}",
            "Give a whole number of at least 1, or 'auto'.",
        )
        need(
            alpha == "auto" or (isinstance(alpha, int | float) and 0 < alpha < 1),
            f"alpha is {alpha!r}",
            "Give a number between 0 and 1, both excluded, or 'auto'.",
        )
        need(
            1 <= self.n_bits <= MAX_BITS,
            f"n_bits is {self.n_bits!r}",
            f"Give a whole number from 1 to {MAX_BITS}.",
        )
        for name, value, known in (
            ("hamming", self.hamming, tuple(WAYS)),
            ("class_weighting", self.class_weighting, get_args(ClassWeighting)),
            ("features", self.features, get_args(Shared)),
        ):
            need(value in known, f"{name} is {value!r}", did_you_mean(str(value), known))
        return found

    def validate(self) -> "LabellingPlan":
        """The plan itself, or an `InputError` with every problem."""
        if found := self.problems():
            raise InputError(found)
        return self


class Agreed(msgspec.Struct, frozen=True):
    """What a site remembers of the plan it agreed to."""

    plan: LabellingPlan
