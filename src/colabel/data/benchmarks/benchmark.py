"""A public data set as colabel uses it: one row per point, with every grouping that is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from colabel.data.lazy import Points
from colabel.data.site import UNLABELLED, Sites, from_groups

Metric = Literal["accuracy", "balanced_accuracy"]


@dataclass(frozen=True)
class Benchmark:
    """Points and true labels (−1 where unknown); `is_test` marks the rows kept out of all sites.

    Points may be lazy: `points[rows]` then decodes these rows, `np.asarray(points)` all of them.
    """

    name: str
    points: Points
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    licence: str
    source: str
    metric: Metric = "accuracy"
    columns: tuple[str, ...] | None = None
    natural_sites: NDArray[np.str_] | None = None
    is_test: NDArray[np.bool_] | None = None
    groups: Mapping[str, NDArray[np.generic]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def train_rows(self) -> NDArray[np.int64]:
        """The rows that may be dealt to sites."""
        if self.is_test is None:
            return np.arange(len(self))
        return np.flatnonzero(~self.is_test).astype(np.int64)

    @property
    def test_rows(self) -> NDArray[np.int64]:
        """The rows kept for testing; none if the set has no test part."""
        if self.is_test is None:
            return np.empty(0, np.int64)
        return np.flatnonzero(self.is_test).astype(np.int64)

    def to_sites(
        self,
        site_of_row: NDArray[np.generic],
        labelled: NDArray[np.bool_] | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> Sites:
        """The sites; `site_of_row` and `labelled` speak of `rows` (by default the train rows)."""
        kept = self.train_rows if rows is None else rows
        labels = self.labels[kept]
        if labelled is not None:
            labels = np.where(labelled, labels, UNLABELLED)
        return from_groups(
            self.points[kept], labels, _named(site_of_row), self.classes, self.columns
        )


def _named(site_of_row: NDArray[np.generic]) -> NDArray[np.generic]:
    if site_of_row.dtype.kind not in "iu":
        return site_of_row
    # equally wide, so that the order of the names is the order of the numbers
    width = max(len(str(int(site_of_row.max()) + 1)), 2)
    return np.array([f"site-{int(s) + 1:0{width}}" for s in site_of_row.tolist()])
