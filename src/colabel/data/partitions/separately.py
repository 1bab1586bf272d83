"""Deal labelled and unlabelled rows in different ways.

Skew only the labels, only the unlabelled rows, or both: the papers' "non-iid" is one of the three.
"""

import numpy as np
from numpy.typing import NDArray

from colabel.data.partitions.partition import Groups, Partition, Rows, check_filled
from colabel.errors import InputError, Problem


def deal_separately(
    labelled: Partition,
    unlabelled: Partition,
    labelled_mask: NDArray[np.bool_],
    labels: Rows,
    n_sites: int,
    rng: np.random.Generator,
    *,
    groups: Groups = None,
    n_labelled_sites: int | None = None,
) -> Rows:
    """The site number of every row; `n_labelled_sites` random sites get the labelled rows."""
    m = n_sites if n_labelled_sites is None else n_labelled_sites
    if not 1 <= m <= n_sites:
        what = f"{m} of {n_sites} sites cannot have labels"
        raise InputError(Problem(what, f"Give a number from 1 to {n_sites}."))
    chosen = np.sort(rng.permutation(n_sites)[:m])
    site_of_row = np.empty(len(labels), np.int64)
    for partition, here, sites in (
        (labelled, labelled_mask, chosen),
        (unlabelled, ~labelled_mask, np.arange(n_sites)),
    ):
        rows = np.flatnonzero(here)
        if len(rows):
            near = np.asarray(groups)[rows] if groups is not None else None
            site_of_row[rows] = sites[partition.deal(labels[rows], len(sites), rng, near)]
    return check_filled(site_of_row, n_sites, "Leave more rows unlabelled, or use fewer sites.")
