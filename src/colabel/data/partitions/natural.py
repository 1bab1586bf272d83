"""The sites that the data came from: hospitals, writers, regions."""

from dataclasses import dataclass

import numpy as np

from colabel.data.partitions.partition import Groups, Rows, check_room
from colabel.errors import InputError, Problem


@dataclass(frozen=True)
class Natural:
    """One site per group, in the order of their names; a group is never split.

    With fewer sites than groups, random groups join, each at the smallest site so far.
    """

    @property
    def spec(self) -> str:
        """`natural`."""
        return "natural"

    def deal(
        self, labels: Rows, n_sites: int, rng: np.random.Generator, groups: Groups = None
    ) -> Rows:
        """The site number of every row."""
        check_room(len(labels), n_sites)
        if groups is None or len(groups) != len(labels):
            what = "the data have no natural sites" if groups is None else "groups and rows differ"
            raise InputError(Problem(what, "Give one group name per row, or deal in another way."))
        names, group_of_row = np.unique(np.asarray(groups).astype(str), return_inverse=True)
        if n_sites > len(names):
            what = f"there are {len(names)} natural sites, not {n_sites}"
            raise InputError(Problem(what, f"Ask for at most {len(names)}."))
        if n_sites == len(names):
            return group_of_row.astype(np.int64)
        sizes = np.bincount(group_of_row)
        site_of_group = np.zeros(len(names), np.int64)
        filled = np.zeros(n_sites, np.int64)
        for group in rng.permutation(len(names)):
            smallest = int(filled.argmin())
            site_of_group[group] = smallest
            filled[smallest] += sizes[group]
        return site_of_group[group_of_row]
