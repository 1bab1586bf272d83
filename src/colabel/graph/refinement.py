"""Correcting a block of solutions of (I − M) X = right until their error is proven small.

Corrections run in float32, residuals are computed in float64 (iterative refinement). I − M has no
eigenvalue below 1 − α, so an error is at most as long as its residual / (1 − α).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from colabel.graph.spectrum import Leading, chebyshev, n_sweeps
from colabel.graph.sweeps import Edges, Floats32, kernels, zeros

TOLERANCE = 1e-7  # of every entry, relative to the right-hand side's largest
_GAIN = 2e-5  # what a correction should leave of a residual; float32 does not allow much less
_ENOUGH = 0.05  # what it may leave
_MOST_SWEEPS = 400  # per correction; where more are needed, float32 is not enough anyway
_MOST_STEPS = 20_000
_RESTARTS = 5
_ROUNDING = 1_000 * float(np.finfo(float).eps)  # of a float64 residual, relative to the solution

Floats = NDArray[np.float64]


class System(NamedTuple):
    """I − M, where M is symmetric with eigenvalues in [−α, α]."""

    matrix: csr_array
    edges: Edges
    alpha: float

    @property
    def goal(self) -> float:
        """How long a residual may be."""
        return TOLERANCE * (1.0 - self.alpha)


class Correction(NamedTuple):
    """What `leading` spans is corrected at once, the rest by sweeps."""

    leading: Leading
    terms: Floats32


def correction(alpha: float, found: Leading) -> Correction | None:
    """Just enough sweeps, if `found` is right about the eigenvalues that it does not span."""
    sweeps = n_sweeps(alpha, found.edge, _GAIN)
    if sweeps > _MOST_SWEEPS:
        return None
    return Correction(found, chebyshev(alpha, found.edge, sweeps))


class Block:
    """Some right-hand sides, their solutions, and the arrays to find them with."""

    def __init__(self, system: System, width: int) -> None:
        n = system.matrix.shape[0]
        self._system, self._kernels = system, kernels(width)
        self.right, self._solution = (zeros(n, width, np.float64) for _ in range(2))
        self._now, self._last, self._rounded = (zeros(n, width, np.float32) for _ in range(3))
        self._squares = np.zeros((1, width))

    def solve(self, ways: Iterable[Correction | None]) -> Floats:
        """Try one way after the other, the last resort being conjugate gradients in float64."""
        if not any(self._refine(way) for way in ways if way):
            self._iterate()
        return self._solution

    def _refine(self, way: Correction) -> bool:
        """Correct until done, or until a correction does much less than it should."""
        self._solution[:] = 0.0
        errors, before = self._errors(), np.inf
        while not self._is_done(errors) and errors.max() <= _ENOUGH * before:
            self._correct(way)
            errors, before = self._errors(), errors.max()
        return self._is_done(errors)

    def _iterate(self) -> None:
        self._solution[:] = 0.0
        for _ in range(_RESTARTS):
            residual = self.right - self._solution + self._system.matrix @ self._solution
            with np.errstate(over="ignore", invalid="ignore"):
                self._solution += _conjugate_gradients(self._system, residual)
            if self._is_done(self._errors()):
                return
        raise ArithmeticError("I − αW cannot be solved: W is not normalised, or not finite")

    def _is_done(self, errors: Floats) -> bool:
        """Whether all residuals are short enough, or as short as float64 can make them."""
        longest = np.sqrt(len(self.right)) / (1.0 - self._system.alpha)  # a solution can be
        if errors.max() > self._system.goal and errors.max() <= _ROUNDING * longest:
            errors = np.maximum(errors - _ROUNDING * np.linalg.norm(self._solution, axis=0), 0.0)
        return bool((errors <= self._system.goal).all())

    def _correct(self, way: Correction) -> None:
        vectors, gains, _ = way.leading
        parts = zeros(len(gains), len(self._squares[0]), np.float32)
        self._kernels.project(vectors, self._rounded, parts)
        parts *= gains[:, None]
        self._kernels.combine(vectors, parts, self._now)
        self._kernels.sweep(self._system.edges, way.terms, self._rounded, self._now, self._last)
        self._kernels.add(self._now, self._solution)

    def _errors(self) -> Floats:
        """How long the residuals are, which `_rounded` gets."""
        edges, right = self._system.edges, self.right
        self._kernels.residual(edges, right, self._solution, self._rounded, self._squares)
        return np.sqrt(self._squares[0])


def _conjugate_gradients(system: System, right: Floats) -> Floats:
    solution, residual, direction = np.zeros_like(right), right.copy(), right.copy()
    squares = (residual**2).sum(axis=0)
    tiny = np.finfo(float).tiny
    for _ in range(_MOST_STEPS):
        if not squares.max() > (system.goal / 2) ** 2:
            break
        image = direction - system.matrix @ direction
        step = squares / np.maximum((direction * image).sum(axis=0), tiny)
        solution += step * direction
        residual -= step * image
        before, squares = squares, (residual**2).sum(axis=0)
        direction = residual + squares / np.maximum(before, tiny) * direction
    return solution
