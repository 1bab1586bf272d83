"""What a partition is, and the few tools that all of them share."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem

Rows = NDArray[np.int64]
Groups = Sequence[str] | NDArray[np.generic] | None


class Partition(Protocol):
    """A way to deal rows to sites: every row to exactly one site, every site at least one row."""

    @property
    def spec(self) -> str:
        """The text from which `parse_partition` makes this partition again."""

    def deal(
        self, labels: Rows, n_sites: int, rng: np.random.Generator, groups: Groups = None
    ) -> Rows:
        """The site number of every row."""


def check_room(n_rows: int, n_sites: int) -> None:
    """Refuse to deal so few rows that a site would have none."""
    if n_sites < 1:
        raise InputError(Problem(f"{n_sites} sites were asked for", "Ask for at least one."))
    if n_rows < n_sites:
        raise InputError(
            Problem(f"{n_rows} rows cannot fill {n_sites} sites", "Ask for fewer sites.")
        )


def check_known(labels: Rows) -> None:
    """Refuse to deal by class where the class of a row is unknown."""
    unknown = int((labels < 0).sum())
    if unknown:
        raise InputError(
            Problem(
                f"{unknown} rows have no label, and this partition deals by class",
                "Use iid, quantity or natural, or deal labelled and unlabelled rows separately.",
            )
        )


def check_filled(site_of_row: Rows, n_sites: int, fix: str) -> Rows:
    """Give the rows back if every site has one."""
    empty = np.flatnonzero(np.bincount(site_of_row, minlength=n_sites) == 0)
    if len(empty):
        what = f"{len(empty)} of {n_sites} sites would have no row"
        raise InputError(Problem(what, fix))
    return site_of_row


def share_out(n: int, weights: NDArray[np.float64]) -> Rows:
    """`n` as whole numbers in proportion to the weights: largest remainders, ties by index."""
    exact = n * weights / weights.sum()
    shares: Rows = np.floor(exact).astype(np.int64)
    order = np.argsort(shares - exact, kind="stable")
    shares[order[: n - int(shares.sum())]] += 1
    return shares


def deal_table(labels: Rows, table: Rows, rng: np.random.Generator) -> Rows:
    """Deal `table[s, c]` random rows of class c to site s; its columns sum to the class counts."""
    site_of_row = np.empty(len(labels), np.int64)
    for c in range(table.shape[1]):
        rows = rng.permutation(np.flatnonzero(labels == c))
        site_of_row[rows] = np.repeat(np.arange(len(table)), table[:, c])
    return site_of_row


def split_classes(labels: Rows, weights: NDArray[np.float64]) -> Rows:
    """A table in which class c goes to the sites in proportion to `weights[:, c]`."""
    counts = np.bincount(labels, minlength=weights.shape[1])
    shares = [share_out(n, weights[:, c]) for c, n in enumerate(counts.tolist())]
    table: Rows = np.stack(shares, axis=1)
    return table
