"""How far each label reaches: columns of the influence matrix, without inverting anything.

S = (I − αW)⁻¹ is symmetric, so a block S[rows, columns] comes from solving for whichever side is
smaller; `solver` says how, and how exact it is.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from colabel.graph.solver import solve_rows

Floats = NDArray[np.float64]


def influence(
    graph: csr_array, alpha: float, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> Floats:
    """S[rows, columns] for S = (I − αW)⁻¹ [XCLP Alg. 1, lines 10 and 12]."""
    if len(rows) < len(columns):
        return influence(graph, alpha, columns, rows).T
    n, n_columns = graph.shape[0], len(columns)
    ones, ends = np.ones(n_columns), np.arange(n_columns + 1)
    return solve_rows(graph, alpha, csc_array((ones, columns, ends), shape=(n, n_columns)), rows)


def influence_on_new(
    graph: csr_array, alpha: float, steps: csr_array, columns: NDArray[np.intp]
) -> Floats:
    """steps · S[:, columns], for points that are reached by one step from the graph."""
    if steps.shape[0] < len(columns):
        return solve_rows(graph, alpha, csc_array(steps.T), columns).T
    return np.asarray(steps @ influence(graph, alpha, np.arange(graph.shape[0]), columns))


def solve(graph: csr_array, alpha: float, right: Floats) -> Floats:
    """X with (I − αW) X = right."""
    return solve_rows(graph, alpha, csc_array(right), np.arange(graph.shape[0]))
