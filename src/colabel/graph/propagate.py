"""How far each label reaches: columns of the influence matrix, without inverting anything.

S = (I − αW)⁻¹ is symmetric, so a block S[rows, columns] comes from solving for whichever side is
smaller, all right-hand sides at once, by conjugate gradients.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

TOLERANCE = 1e-7  # of the residual, relative to the right-hand side's largest entry
_MOST_STEPS = 5_000


def influence(
    graph: csr_array, alpha: float, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """S[rows, columns] for S = (I − αW)⁻¹ [XCLP Alg. 1, lines 10 and 12]."""
    if len(rows) < len(columns):
        return influence(graph, alpha, columns, rows).T
    unit = np.zeros((graph.shape[0], len(columns)))
    unit[columns, np.arange(len(columns))] = 1.0
    return solve(graph, alpha, unit)[rows]


def influence_on_new(
    graph: csr_array, alpha: float, steps: csr_array, columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """steps · S[:, columns], for points that are reached by one step from the graph."""
    n, n_new = graph.shape[0], steps.shape[0]
    if n_new < len(columns):
        return solve(graph, alpha, steps.T.toarray())[columns].T
    return np.asarray(steps @ influence(graph, alpha, np.arange(n), columns))


def solve(graph: csr_array, alpha: float, right: NDArray[np.float64]) -> NDArray[np.float64]:
    """X with (I − αW) X = right, by conjugate gradients on all columns at once."""
    solution = right.copy()
    residual = alpha * (graph @ right)
    direction = residual.copy()
    squares = (residual**2).sum(axis=0)
    for _ in range(_MOST_STEPS):
        if not squares.size or np.sqrt(squares.max()) <= TOLERANCE:
            break
        image = direction - alpha * (graph @ direction)
        step = squares / np.maximum((direction * image).sum(axis=0), np.finfo(float).tiny)
        solution += step * direction
        residual -= step * image
        before, squares = squares, (residual**2).sum(axis=0)
        direction = residual + (squares / np.maximum(before, np.finfo(float).tiny)) * direction
    return solution
