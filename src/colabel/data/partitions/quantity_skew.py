"""Sites of different sizes with the same mixture of classes."""

import math
from dataclasses import dataclass

import numpy as np

from colabel.data.partitions.partition import Groups, Rows, check_room, share_out
from colabel.errors import InputError, Problem


@dataclass(frozen=True)
class QuantitySkew:
    """Random rows; the sizes are drawn from Dirichlet(β), at least one row each."""

    beta: float

    def __post_init__(self) -> None:
        if not 0 < self.beta < math.inf:
            raise InputError(Problem(f"β is {self.beta}", "Give a number above 0."))

    @property
    def spec(self) -> str:
        """`quantity:β`."""
        return f"quantity:{float(self.beta)!r}"

    def deal(
        self, labels: Rows, n_sites: int, rng: np.random.Generator, groups: Groups = None
    ) -> Rows:
        """The site number of every row."""
        check_room(len(labels), n_sites)
        weights = rng.dirichlet(np.full(n_sites, self.beta))
        sizes = 1 + share_out(len(labels) - n_sites, weights)
        return rng.permutation(np.repeat(np.arange(n_sites), sizes))
