"""Classes in Dirichlet proportions: the smaller β, the more the sites differ."""

import math
from dataclasses import dataclass

import numpy as np

from colabel.data.partitions.fitting import fit_table
from colabel.data.partitions.partition import (
    Groups,
    Rows,
    check_filled,
    check_known,
    check_room,
    deal_table,
    share_out,
    split_classes,
)
from colabel.errors import InputError, Problem

_DRAWS = 100


@dataclass(frozen=True)
class Dirichlet:
    """Each class is split over the sites in proportions drawn from Dirichlet(β).

    With `equal_sizes` each site draws its mixture of classes instead, and all sites have equally
    many rows; mixtures that the pool cannot serve are fitted to it. Without it, draws that leave
    a site empty are drawn again.
    """

    beta: float
    equal_sizes: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.beta < math.inf:
            raise InputError(Problem(f"β is {self.beta}", "Give a number above 0."))

    @property
    def spec(self) -> str:
        """`dirichlet:β` or `dirichlet:β:equal`."""
        return f"dirichlet:{float(self.beta)!r}" + (":equal" if self.equal_sizes else "")

    def deal(
        self, labels: Rows, n_sites: int, rng: np.random.Generator, groups: Groups = None
    ) -> Rows:
        """The site number of every row."""
        check_room(len(labels), n_sites)
        check_known(labels)
        _, classes = np.unique(labels, return_inverse=True)
        table = (
            self._equal(classes, n_sites, rng)
            if self.equal_sizes
            else self._free(classes, n_sites, rng)
        )
        fix = "Use a larger β, fewer sites, or equal sizes."
        return check_filled(deal_table(classes, table, rng), n_sites, fix)

    def _free(self, classes: Rows, n_sites: int, rng: np.random.Generator) -> Rows:
        n_classes = int(classes.max()) + 1
        for _ in range(_DRAWS):
            shares = rng.dirichlet(np.full(n_sites, self.beta), size=n_classes).T
            table = split_classes(classes, shares)
            if table.sum(axis=1).all():
                break
        return table

    def _equal(self, classes: Rows, n_sites: int, rng: np.random.Generator) -> Rows:
        counts = np.bincount(classes)
        mixtures = rng.dirichlet(np.full(len(counts), self.beta), size=n_sites)
        return fit_table(mixtures, share_out(len(classes), np.ones(n_sites)), counts)
