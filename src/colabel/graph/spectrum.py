"""The leading eigenvectors of a graph, roughly, and Chebyshev iteration below them."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel.graph.sweeps import Edges, Floats32, kernels, zeros
from colabel.machine import blas
from colabel.randomness import data

N_LEADING = 64
_DEGREE = 16
_ROUNDS = 2
_SPARE = 8  # of the vectors found, the last are too rough to count on
_DEPENDENT = 1e-12  # a share of the squared length below which a direction is rounding noise


class Leading(NamedTuple):
    """Orthonormal vectors that nearly span the leading eigenvectors of M."""

    vectors: Floats32
    gains: Floats32  # 1 / (1 − the Ritz value), per vector
    edge: float  # if all went well, M has no larger eigenvalue outside their span


def nothing(n: int, alpha: float) -> Leading:
    """No vectors: no eigenvalue is above α anyway."""
    return Leading(np.empty((n, 0), np.float32), np.empty(0, np.float32), alpha)


def leading(edges: Edges, alpha: float) -> Leading:
    """By Chebyshev-filtered subspace iteration from a random block [Zhou et al. 2006].

    M = αW has its eigenvalues in [−α, α].
    """
    n = len(edges.ends) - 1
    block = zeros(n, N_LEADING, np.float32)
    block[:] = data(0, "leading eigenvectors").random((n, N_LEADING), dtype=np.float32)
    block -= 0.5
    reached = top = 0.75 * alpha
    with blas().limit(limits=1):
        for _ in range(_ROUNDS):
            _filter(edges, block, -alpha, top)
            values = _to_ritz_vectors(edges, block)
            reached, top = top, min(max(float(values[0]), 0.5 * alpha), 0.95 * alpha)
    gains = (1.0 / (1.0 - np.minimum(values, alpha))).astype(np.float32)
    # below `reached` nothing was sought, whatever the Ritz values say
    return Leading(block, gains, min(max(float(values[_SPARE]), reached), alpha))


def chebyshev(alpha: float, edge: float, n_sweeps: int) -> Floats32:
    """Terms of `sweep` that solve (I − M) x = right, for eigenvalues of M in [−α, edge].

    x₁ = x₀ + r₀ / centre, then the three-term recurrence [Saad, Iterative Methods, Alg. 12.1].
    """
    low, high = 1.0 - edge, 1.0 + alpha
    centre, radius = (high + low) / 2, (high - low) / 2
    terms = [(1 - 1 / centre, 1 / centre, 1 / centre, 0.0)]
    before = radius / centre
    for _ in range(n_sweeps - 1):
        now = 1.0 / (2 * centre / radius - before)
        inertia, pull = now * before, 2 * now / radius
        terms.append((1 + inertia - pull, pull, pull, -inertia))
        before = now
    return np.array(terms, dtype=np.float32)


def n_sweeps(alpha: float, edge: float, gain: float) -> int:
    """How many sweeps leave at most `gain` of the residual; an even number."""
    stretch = (2 + alpha - edge) / (alpha + edge)
    return 2 * math.ceil(math.acosh(1 / gain) / math.acosh(stretch) / 2)


def _filter(edges: Edges, block: Floats32, low: float, high: float) -> None:
    """Apply the Chebyshev polynomial of M that stays within ±1 on [low, high] and grows above."""
    centre, radius = (high + low) / 2, (high - low) / 2
    terms = [(-2 * centre / radius, 2 / radius, 0.0, -1.0)] * _DEGREE
    terms[0] = (-centre / radius, 1 / radius, 0.0, 0.0)
    spare = zeros(len(block), N_LEADING, np.float32)
    kernels(N_LEADING).sweep(edges, np.array(terms, np.float32), block, block, spare)


def _to_ritz_vectors(edges: Edges, block: Floats32) -> NDArray[np.float64]:
    """Make the columns Ritz vectors of M, in place; returns their Ritz values, rising.

    They are made orthonormal by their Gram matrix: QR takes ten times as long.
    """
    squares, axes = np.linalg.eigh(_gram(block, block))
    usable = squares > _DEPENDENT * squares[-1]
    scale = np.divide(1.0, np.sqrt(np.abs(squares)), where=usable, out=np.zeros_like(squares))
    block[:] = block @ (axes * scale).astype(np.float32)
    image = np.zeros_like(block)
    one_product = np.array([(0.0, 1.0, 0.0, 0.0)], np.float32)
    kernels(N_LEADING).sweep(edges, one_product, block, block, image)
    values, axes = np.linalg.eigh(_gram(block, image))
    block[:] = block @ axes.astype(np.float32)
    return values


def _gram(left: Floats32, right: Floats32) -> NDArray[np.float64]:
    """leftᵀ · right, in float64 because the filtered columns are nearly parallel."""
    precise, parts = (
        zeros(len(right), N_LEADING, np.float64),
        zeros(N_LEADING, N_LEADING, np.float64),
    )
    precise[:] = right
    kernels(N_LEADING).project(left.astype(np.float64), precise, parts)
    return parts
