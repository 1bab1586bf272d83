"""Whether what a party sees is uniform, independent, and alike for two different inputs.

A view is what one party (or several that work together) sees in one run, as matrices of numbers
of so many bits. `flaws` compares the views of two runs with different codes: in each, all values
must be uniform, as must the differences of neighbouring rows and columns; so must the differences
of any two matrices of one view (nothing served twice) and of the two runs (all is fresh); and the
two runs must be distributed alike. A mask that is missing, too short or used twice shows there.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

LIMIT = chi2.isf(1e-9, 15)  # thousands of tests in a run: one in 10⁵ runs fails by chance
LEAST_VALUES = 300


class Seen(NamedTuple):
    """A matrix that a party sees; two matrices of one `pair` of sites may depend on each other."""

    values: np.ndarray
    width: int
    pair: tuple = ()


def octets(data, n_rows=32, skip=0):
    """Bytes as a matrix (at most 4096 of them)."""
    flat = np.frombuffer(data, np.uint8)[skip:][:4096]
    return Seen(flat[: len(flat) // n_rows * n_rows].reshape(n_rows, -1), 8)


def flaws(one, other):
    """The kinds of things (names up to the first slash) that show something."""
    assert one.keys() == other.keys()
    found = set()
    for name in one:
        for a, b in zip(_parts(one[name]), _parts(other[name]), strict=True):
            if _odd(a) or _odd(b) or _differ(a, b):
                found.add(name)
        if _shows(one[name], other[name]):
            found.add(name)
    for a, b in combinations(one, 2):
        if (not one[a].pair or one[a].pair != one[b].pair) and _shows(one[a], one[b]):
            found |= {a, b}
    return {name.split("/")[0] for name in found}


def _shows(a, b):
    if a.values.shape != b.values.shape or a.width != b.width:
        return False
    return any(_odd(part) for part in _parts(Seen(a.values - b.values, a.width)))


def _parts(seen):
    """Groups of four bits: of the values, and of differences of neighbours."""
    values = seen.values.astype(np.int64)
    for held in (values, np.diff(values, axis=0), np.diff(values, axis=1)):
        if held.size >= LEAST_VALUES:
            for shift in {*range(0, seen.width - 3, 4), seen.width - 4}:
                yield np.bincount((held.reshape(-1) >> shift) & 15, minlength=16)


def _odd(counts):
    """χ² against the uniform distribution."""
    return ((counts - counts.mean()) ** 2).sum() / counts.mean() > LIMIT


def _differ(a, b):
    """χ² of two samples of one size against each other."""
    return ((a - b) ** 2 / np.maximum(a + b, 1)).sum() > LIMIT
