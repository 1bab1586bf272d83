"""Ten fixed mixtures of classes (the non-iid setting of FedMatch and ProtoFSSL)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.data.partitions.fitting import fit_table
from colabel.data.partitions.partition import (
    Groups,
    Rows,
    check_known,
    check_room,
    deal_table,
    share_out,
)

_TEN = (0.50, 0.15, 0.03, 0.03, 0.03, 0.02, 0.03, 0.03, 0.03, 0.15)


@dataclass(frozen=True)
class ClassRatios:
    """Site s is of type s mod C: half its rows are of class s mod C, 15 % of each neighbour.

    With ten classes these are FedMatch's ratios to the letter; with another number of classes
    the remaining 20 % are spread evenly. Sites have equal sizes; where the pool is not balanced
    the ratios are fitted to it.
    """

    @property
    def spec(self) -> str:
        """`ratios`."""
        return "ratios"

    def deal(
        self, labels: Rows, n_sites: int, rng: np.random.Generator, groups: Groups = None
    ) -> Rows:
        """The site number of every row."""
        check_room(len(labels), n_sites)
        check_known(labels)
        _, classes = np.unique(labels, return_inverse=True)
        counts = np.bincount(classes)
        mixtures = class_ratios(len(counts))[np.arange(n_sites) % len(counts)]
        table = fit_table(mixtures, share_out(len(labels), np.ones(n_sites)), counts)
        return deal_table(classes, table, rng)


def class_ratios(n_classes: int) -> NDArray[np.float64]:
    """One row per type, one column per class; each row sums to one."""
    if n_classes == len(_TEN):
        first = np.array(_TEN)
    else:
        first = np.full(n_classes, 0.2 / max(n_classes - 3, 1))
        first[-1] = 0.15
        first[1:2] = 0.15
        first[0] = 0.5
    first /= first.sum()
    return np.stack([np.roll(first, kind) for kind in range(n_classes)])
