"""Putting points into lists of near ones, by distances to a few landmarks.

The first half of the index (see `index`). Similarities to the landmarks give every point coarse
coordinates (Nyström), k-means finds centres among them, each point goes to its nearest centre.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from colabel.graph.distances import Distances, Places
from colabel.graph.equalise import Floats32, cosine_table, project
from colabel.machine import in_threads
from colabel.randomness import data

N_LANDMARKS = 256
N_COORDINATES = 32
USUAL = 128  # points in a list
_LONGEST = 4 * USUAL  # however many points are alike
_SAMPLED = 32  # points per list, for k-means
_ROUNDS = 5
_BLOCK = 2048


class Lists(NamedTuple):
    """Places of all points, list after list; `ends` says where lists end, `centres` where lists
    are. Within a list places rise.
    """

    places: Places
    ends: Places
    centres: Floats32


def landmarks(among: Distances) -> tuple[Places, Floats32]:
    """Some of the points, and what turns similarities to them into coarse coordinates."""
    n = among.shape[1]
    chosen = np.linspace(0, n - 1, min(n, N_LANDMARKS)).round().astype(np.intp)
    near = cosine_table(among.n_bits)[among.part(chosen, chosen)].astype(np.float64)
    values, vectors = np.linalg.eigh((near + near.T) / 2)
    values, vectors = values[-N_COORDINATES:], vectors[:, -N_COORDINATES:]
    kept = values > 1e-6 * values[-1]
    return chosen, (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)


def coarse(distances: Distances, chosen: Places, basis: Floats32) -> Floats32:
    """Coarse coordinates of the row points, as directions."""
    return _directions(project(distances, chosen, basis))


def make_lists(points: Floats32) -> Lists:
    """Lists of near points."""
    centres = _centres(points, max(1, min(len(points) // USUAL, 4 * math.isqrt(len(points)))))
    best = nearest_centres(points, centres, 1)[:, 0]
    places = np.argsort(best, kind="stable")
    sizes = np.bincount(best, minlength=len(centres))
    n_parts = -(-sizes // _LONGEST)  # a long list becomes several with one centre
    rest = np.repeat(sizes, n_parts) - _LONGEST * _counted(n_parts)
    ends = np.concatenate([[0], np.cumsum(np.minimum(rest, _LONGEST))])
    return Lists(places, ends, np.repeat(centres, n_parts, axis=0))


def nearest_centres(points: Floats32, centres: Floats32, most: int) -> NDArray[np.int32]:
    """For each point the lists whose centres are nearest, nearest first; ties by number."""
    most = min(most, len(centres))
    found = np.empty((len(points), most), dtype=np.int32)

    def block(start: int) -> None:
        far = -(points[start : start + _BLOCK] @ centres.T)
        if most == 1:
            found[start : start + _BLOCK, 0] = far.argmin(axis=1)
            return
        few = np.sort(np.argpartition(far, most - 1, axis=1)[:, :most], axis=1)
        order = np.argsort(np.take_along_axis(far, few, axis=1), axis=1, kind="stable")
        found[start : start + _BLOCK] = np.take_along_axis(few, order, axis=1)

    in_threads(block, range(0, len(points), _BLOCK))
    return found


def _centres(points: Floats32, n_lists: int) -> Floats32:
    """k-means on directions, on a sample of the points."""
    random = data(0, "lists of the index")
    n_sampled = min(len(points), _SAMPLED * n_lists)
    sample = points[np.sort(random.choice(len(points), n_sampled, replace=False))]
    centres = sample[random.choice(n_sampled, n_lists, replace=False)]
    for _ in range(_ROUNDS):
        best = nearest_centres(sample, centres, 1)[:, 0]
        member = csr_array((np.ones(n_sampled, np.float32), (best, np.arange(n_sampled))))
        member.resize(n_lists, n_sampled)
        sums = member @ sample
        held = np.linalg.norm(sums, axis=1) > 0
        centres = np.where(held[:, None], _directions(sums), centres)
    return centres


def _directions(points: Floats32) -> Floats32:
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return np.divide(points, lengths, where=lengths > 0, out=np.zeros_like(points))


def _counted(counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """0 … count − 1 for each of the counts."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
