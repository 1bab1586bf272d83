"""Every site has k classes only (the non-iid setting of XCLP and FedProp)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.data.partitions.partition import (
    Groups,
    Rows,
    check_filled,
    check_known,
    check_room,
    deal_table,
    split_classes,
)
from colabel.errors import InputError, Problem


@dataclass(frozen=True)
class ClassesPerSite:
    """Each site holds `k` classes; the sites that share a class have equally much of it.

    The classes are random, each held by as many sites as any other (up to one); `contiguous`
    makes them neighbours, starting at evenly spaced classes.
    """

    k: int
    contiguous: bool = False

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(Problem(f"k is {self.k}", "Give every site at least one class."))

    @property
    def spec(self) -> str:
        """`classes:k` or `classes:k:contiguous`."""
        return f"classes:{self.k}" + (":contiguous" if self.contiguous else "")

    def deal(
        self, labels: Rows, n_sites: int, rng: np.random.Generator, groups: Groups = None
    ) -> Rows:
        """The site number of every row."""
        check_room(len(labels), n_sites)
        check_known(labels)
        present, classes = np.unique(labels, return_inverse=True)
        self._check(len(present), n_sites)
        held = np.zeros((n_sites, len(present)))
        for site in range(n_sites):
            held[site, self._choose(site, held, rng)] = 1
        fix = "Use fewer sites, or more classes per site."
        return check_filled(deal_table(classes, split_classes(classes, held), rng), n_sites, fix)

    def _check(self, n_classes: int, n_sites: int) -> None:
        problems = []
        if self.k > n_classes:
            fix = "Ask for fewer classes per site."
            problems.append(Problem(f"the data have {n_classes} classes, not {self.k}", fix))
        if self.k * n_sites < n_classes:
            what = f"{n_sites} sites with {self.k} classes each cannot hold {n_classes} classes"
            problems.append(Problem(what, "Use more sites, or more classes per site."))
        if problems:
            raise InputError(problems)

    def _choose(
        self, site: int, held: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.intp]:
        n_sites, n_classes = held.shape
        if self.contiguous:
            first = site * n_classes // n_sites
            return np.roll(np.arange(n_classes), -first)[: self.k]
        # the classes that fewest sites hold so far, ties at random
        return np.lexsort((rng.random(n_classes), held.sum(axis=0)))[: self.k]
