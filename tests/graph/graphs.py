"""Graphs of every awkward kind, normalised, and the slow oracle."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, coo_array, csr_array, random_array

from colabel.graph.weights import Weights, normalise


def graph(matrix: csr_array) -> csr_array:
    joint = csr_array(matrix + matrix.T)
    return normalise(Weights(joint, np.ones(joint.shape[0])))


def of_edges(n: int, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> csr_array:
    return graph(csr_array(coo_array((np.ones(len(starts)), (starts, ends)), shape=(n, n))))


def scattered(n: int, degree: float, seed: int = 0) -> csr_array:
    """Random edges: for low degrees many components and isolated points."""
    rng = np.random.default_rng(seed)
    return graph(csr_array(random_array((n, n), density=min(1.0, degree / 2 / n), rng=rng)))


def pairs(n: int) -> csr_array:
    """Eigenvalues 1 and −1 only, each n / 2 times."""
    return of_edges(n, np.arange(0, n - 1, 2), np.arange(1, n, 2))


def star(n: int) -> csr_array:
    return of_edges(n, np.zeros(n - 1, np.intp), np.arange(1, n))


def path(n: int) -> csr_array:
    return of_edges(n, np.arange(n - 1), np.arange(1, n))


def empty(n: int) -> csr_array:
    return csr_array((n, n))


def cliques(n: int, size: int = 5) -> csr_array:
    return graph(csr_array(block_diag([np.triu(np.ones((size, size)), 1)] * (n // size))))


def clusters(n: int, n_clusters: int = 10, k: int = 10, seed: int = 0) -> csr_array:
    """Nearest neighbours of points in the plane that lie in groups, as real data do."""
    rng = np.random.default_rng(seed)
    centres = 4 * rng.standard_normal((n_clusters, 2))
    points = centres[np.arange(n) % n_clusters] + rng.standard_normal((n, 2))
    apart = ((points[:, None] - points) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.argpartition(apart, k, axis=1)[:, :k]
    return of_edges(n, np.repeat(np.arange(n), k), near.ravel())


KINDS = {
    "clusters": clusters,
    "cliques": cliques,
    "empty": empty,
    "pairs": pairs,
    "path": path,
    "scattered": lambda n: scattered(n, 8),
    "splinters": lambda n: scattered(n, 1),
    "star": star,
}


def inverse(graph: csr_array, alpha: float) -> NDArray[np.float64]:
    return np.linalg.inv(np.eye(graph.shape[0]) - alpha * graph.toarray())
