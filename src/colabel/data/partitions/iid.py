"""Every site is a random sample of the whole."""

from dataclasses import dataclass

import numpy as np

from colabel.data.partitions.partition import Groups, Rows, check_known, check_room


@dataclass(frozen=True)
class Iid:
    """Random rows in equal numbers (they differ by one if n is not a multiple).

    With `stratified`, every site also has the same number of each class, up to one.
    """

    stratified: bool = False

    @property
    def spec(self) -> str:
        """`iid` or `iid:stratified`."""
        return "iid:stratified" if self.stratified else "iid"

    def deal(
        self, labels: Rows, n_sites: int, rng: np.random.Generator, groups: Groups = None
    ) -> Rows:
        """The site number of every row."""
        check_room(len(labels), n_sites)
        order = rng.permutation(len(labels))
        if self.stratified:
            check_known(labels)
            # rows sorted by class and dealt like cards: one class after the other, in turn
            order = order[np.argsort(labels[order], kind="stable")]
        site_of_row = np.empty(len(labels), np.int64)
        site_of_row[order] = rng.permutation(n_sites)[np.arange(len(labels)) % n_sites]
        return site_of_row
