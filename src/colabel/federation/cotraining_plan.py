"""The settings of a co-training run, the same for the server and every site."""

from typing import Literal, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.cotrain.consensus import ConsensusPlan
from colabel.errors import InputError, Problem, did_you_mean
from colabel.privacy.label_accounting import LabelPrivacy
from colabel.protocols.keys import MOST_MASKS
from colabel.wire import digest

Exchange = Literal["labels", "scores"]
Votes = Literal["masked", "clear"]


class CotrainingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What Algorithm 1 of FedCT runs with.

    n_public, public: how many public points there are, and a digest of them: all sites must hold
    the same, in the same order. n_columns: the shape of one.
    rounds, period: T and b; labels are exchanged after every b rounds of local training.
    exchange: hard labels (FedCT), or class probabilities (distributed distillation).
    votes: whether the server gets only the sums over sites, or what each site sends.
    privacy: what is done to a site's labels before they leave it.
    seed: draws what is left open where votes are equal ("seeded").
    """

    n_classes: int
    n_public: int
    public: str
    rounds: int = 10
    period: int = 1
    exchange: Exchange = "labels"
    consensus: ConsensusPlan = ConsensusPlan()
    votes: Votes = "masked"
    privacy: LabelPrivacy | None = None
    seed: int = 0

    @property
    def turns(self) -> int:
        """How often labels are exchanged."""
        return self.rounds // self.period if self.period > 0 else 0

    @property
    def n_masks(self) -> int:
        """How many protected sums a run needs at most; −1 if nothing is protected."""
        return min(self.turns, MOST_MASKS) if self.votes == "masked" else -1

    def problems(self) -> list[Problem]:
        """Everything that is wrong with these settings."""
        found = self.consensus.problems()

        def need(good: bool, what: str, fix: str) -> None:
            if not good:
                found.append(Problem(what, fix))

        for name, value, known in (
            ("exchange", self.exchange, get_args(Exchange)),
            ("votes", self.votes, get_args(Votes)),
        ):
            need(value in known, f"{name} is {value!r}", did_you_mean(str(value), known))
        need(self.n_classes >= 2, f"there are {self.n_classes} classes", "Two or more are needed.")
        need(self.n_public >= 1, "there is no public point", "Give some points without labels.")
        need(self.rounds >= 1, f"rounds is {self.rounds}", "Give at least 1.")
        good = 1 <= self.period <= max(self.rounds, 1)
        need(good, f"period is {self.period}", f"Give 1 to {self.rounds}, the number of rounds.")
        if self.privacy is not None:
            found += self.privacy.problems()
            need(
                self.exchange == "labels",
                "these mechanisms protect hard labels, and scores are exchanged",
                'Give exchange = "labels".',
            )
            need(
                self.privacy.mechanism != "counts" or self.votes == "masked",
                "each site's share of the noise is too small to hide its labels alone",
                'Give votes = "masked", so that only the sums are seen.',
            )
        return found

    def validate(self) -> "CotrainingPlan":
        """The plan itself, or an `InputError` with every problem."""
        if found := self.problems():
            raise InputError(found)
        return self


def digest_of(public: NDArray[np.generic]) -> str:
    """By which all sites know that they hold the same public points."""
    plain = np.ascontiguousarray(public)
    return digest(repr((plain.dtype.str, plain.shape)).encode() + plain.tobytes())
