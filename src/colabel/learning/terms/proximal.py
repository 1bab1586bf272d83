"""FedProx: stay near the model that the server sent (Li et al. 2020)."""

from torch import Tensor

from colabel.learning.parameters import trainable
from colabel.learning.terms.base import Active, Term
from colabel.learning.work import Step, Work


class Proximal(Term, frozen=True, kw_only=True):
    """µ / 2 · ‖θ − θ_server‖²."""

    mu: float = 0.01

    def start(self, work: Work) -> Active:
        """Remember where the round began."""
        return _Proximal(self, work)


class _Proximal(Active):
    def __init__(self, term: Proximal, work: Work) -> None:
        self.mu = term.mu
        self.now = list(trainable(work.network).values())
        self.begin = [held.detach().clone() for held in self.now]

    def loss(self, step: Step) -> Tensor | None:
        pairs = zip(self.now, self.begin, strict=True)
        total: Tensor = sum((now - begin).square().sum() for now, begin in pairs)  # type: ignore[assignment]
        return self.mu / 2 * total
