"""Tables of counts with given margins that follow given mixtures as closely as they can."""

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 500
_FLOOR = 1e-9


def fit_table(
    mixtures: NDArray[np.float64], row_sums: NDArray[np.int64], column_sums: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Whole numbers with exactly these margins, near the mixtures scaled to them.

    Iterative proportional fitting spreads what does not fit over all sites; dealing site after
    site instead would leave the last sites with whatever remains.
    """
    target = _scale(mixtures + _FLOOR, row_sums, column_sums)
    table = np.floor(target).astype(np.int64)
    rows, columns = row_sums - table.sum(axis=1), column_sums - table.sum(axis=0)
    order = np.argsort((table - target).ravel(), kind="stable")
    cells = list(zip(*np.unravel_index(order, table.shape), strict=True))
    # first one unit where rounding took most, then whatever is left wherever it fits
    for limit in (1, int(row_sums.max())):
        for s, c in cells:
            n = min(rows[s], columns[c], limit)
            table[s, c] += n
            rows[s] -= n
            columns[c] -= n
    return table


def _scale(
    table: NDArray[np.float64], row_sums: NDArray[np.int64], column_sums: NDArray[np.int64]
) -> NDArray[np.float64]:
    for _ in range(_ROUNDS):
        table = table * (row_sums / table.sum(axis=1))[:, None]
        factors = column_sums / table.sum(axis=0)
        table = table * factors
        if np.abs(factors - 1).max() < 1e-6:
            break
    # never above a margin, so that rounding down leaves something to add and nothing to take
    table *= np.minimum(1, row_sums / table.sum(axis=1))[:, None]
    return table
