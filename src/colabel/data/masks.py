"""Label masks: which of the known labels a run may see; the others are hidden from it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from colabel.data.partitions.partition import Rows, share_out
from colabel.errors import InputError, Problem

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class LabelMask:
    """How many labels are visible, and where. Give one of the first three.

    `n_labels` or `fraction` (of all labels) count in total, `labels_per_site` at each site.
    `n_sites_with_labels` random sites share the labels equally, as far as they have them.
    `stratified` keeps the mixture of classes; `every_class` shows at least one label of each.
    """

    n_labels: int | None = None
    fraction: float | None = None
    labels_per_site: int | None = None
    n_sites_with_labels: int | None = None
    stratified: bool = False
    every_class: bool = False

    def __post_init__(self) -> None:
        amounts = (self.n_labels, self.fraction, self.labels_per_site)
        problems = []
        if sum(amount is not None for amount in amounts) != 1:
            fix = "Give exactly one of n_labels, fraction and labels_per_site."
            problems.append(Problem("the number of labels is not clear", fix))
        if self.fraction is not None and not 0 < self.fraction <= 1:
            problems.append(Problem(f"fraction is {self.fraction}", "Give above 0 and up to 1."))
        for name in ("n_labels", "labels_per_site", "n_sites_with_labels"):
            value = getattr(self, name)
            if value is not None and value < 1:
                problems.append(Problem(f"{name} is {value}", "Give at least 1."))
        if problems:
            raise InputError(problems)

    @property
    def by_site(self) -> bool:
        """Whether the mask needs to know the sites."""
        return self.labels_per_site is not None or self.n_sites_with_labels is not None

    def choose(
        self, labels: Rows, rng: np.random.Generator, site_of_row: Rows | None = None
    ) -> Mask:
        """True where the label is visible; never where there is none."""
        known = labels >= 0
        units = np.zeros(len(labels), np.int64) if site_of_row is None else site_of_row
        if not self.by_site:
            quotas = np.array([self._total(int(known.sum()))])
            units = np.zeros(len(labels), np.int64)
        elif site_of_row is None:
            what = "labels per site were asked for, but the rows have no sites yet"
            raise InputError(Problem(what, "Deal the rows first, or count labels in total."))
        else:
            quotas = self._quotas(np.bincount(units[known], minlength=int(units.max()) + 1), rng)
        return self._fill(np.where(known, units, -1), labels, quotas, rng)

    def _total(self, available: int) -> int:
        if self.n_labels is not None:
            total = self.n_labels
        else:
            total = max(round((self.fraction or 0) * available), 1)
        if total > available:
            what = f"{total} labels were asked for, but only {available} are known"
            raise InputError(Problem(what, "Ask for fewer."))
        return total

    def _quotas(self, available: Rows, rng: np.random.Generator) -> Rows:
        """How many labels each site shows."""
        have = np.flatnonzero(available)
        m = len(available) if self.n_sites_with_labels is None else self.n_sites_with_labels
        if m > len(have):
            what = f"{m} sites with labels were asked for, but only {len(have)} sites know any"
            raise InputError(Problem(what, "Ask for fewer sites with labels."))
        chosen = rng.permutation(have)[:m]
        quotas = np.zeros(len(available), np.int64)
        if self.labels_per_site is not None:
            quotas[chosen] = self.labels_per_site
            short = chosen[available[chosen] < self.labels_per_site]
            if len(short):
                what = f"{len(short)} sites know fewer than {self.labels_per_site} labels"
                fix = f"Ask for at most {int(available[chosen].min())} per site."
                raise InputError(Problem(what, fix))
        else:
            total = self._total(int(available.sum()))
            quotas[chosen] = _spread(total, available[chosen])
        return quotas

    def _fill(
        self, unit_of_row: Rows, labels: Rows, quotas: Rows, rng: np.random.Generator
    ) -> Mask:
        mask = np.zeros(len(labels), np.bool_)
        if self.every_class:
            mask[_one_per_class(unit_of_row, labels, quotas, rng)] = True
        for unit in np.flatnonzero(quotas):
            rows = rng.permutation(np.flatnonzero(unit_of_row == unit))
            mask[_take(rows, labels, mask, int(quotas[unit]), self.stratified)] = True
        return mask


def _spread(total: int, available: Rows) -> Rows:
    """Equal shares, as far as each site has so many; at least one each."""
    if total < len(available) or total > available.sum():
        what = f"{total} labels cannot be spread over {len(available)} sites"
        fix = f"Ask for {len(available)} to {int(available.sum())} labels, or for other sites."
        raise InputError(Problem(what, fix))
    shares = np.zeros(len(available), np.int64)
    while (left := total - int(shares.sum())) > 0:
        room = np.flatnonzero(shares < available)
        more = share_out(left, np.ones(len(room)))
        shares[room] = np.minimum(shares[room] + more, available[room])
    return shares


def _take(rows: Rows, labels: Rows, taken: Mask, quota: int, stratified: bool) -> Rows:
    """`quota` of these shuffled rows, with those that are taken already."""
    first_taken = rows[np.argsort(~taken[rows], kind="stable")]
    if not stratified:
        return first_taken[:quota]
    _, classes = np.unique(labels[first_taken], return_inverse=True)
    must = np.bincount(classes, taken[first_taken]).astype(np.int64)
    counts = np.bincount(classes)
    shares = np.maximum(share_out(quota, counts.astype(np.float64)), must)
    while shares.sum() > quota:
        shares[np.argmax(shares - must)] -= 1
    return np.concatenate(
        [first_taken[classes == c][:share] for c, share in enumerate(shares.tolist())]
    )


def _one_per_class(unit_of_row: Rows, labels: Rows, quotas: Rows, rng: np.random.Generator) -> Rows:
    """One row of every class such that no unit shows more than its quota."""
    present = np.unique(labels[labels >= 0])
    usable = rng.permutation(np.flatnonzero((unit_of_row >= 0) & (quotas[unit_of_row] > 0)))
    slots = rng.permutation(np.repeat(np.arange(len(quotas)), np.minimum(quotas, len(present))))
    holds = np.zeros((len(present), len(quotas)), np.bool_)
    holds[np.searchsorted(present, labels[usable]), unit_of_row[usable]] = True
    slot_of_class = maximum_bipartite_matching(csr_array(holds[:, slots]), perm_type="column")
    if (slot_of_class < 0).any():
        what = f"{int(quotas.sum())} labels at these sites cannot cover {len(present)} classes"
        raise InputError(Problem(what, "Ask for more labels, or for more sites with labels."))
    firsts = [
        usable[np.argmax((labels[usable] == c) & (unit_of_row[usable] == slots[slot]))]
        for c, slot in zip(present, slot_of_class, strict=True)
    ]
    return np.array(firsts, np.int64)
