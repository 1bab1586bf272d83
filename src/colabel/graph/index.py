"""The k nearest neighbours among very many codes, without comparing all pairs.

Points are put into lists of near ones (`lists`), and a point is compared only with those in the
lists nearest to it. What is compared is compared in full, code with code, equalised if the graph
is: the index decides who is looked at, never how near they are. docs/decisions/009 has the
recall, and the other indexes that were measured.

Memory O(n · L + n · k). Time: n · `SEEN` comparisons, and n^1.5 of short vectors for the lists.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from colabel.graph.distances import CodeDistances, Distances, differing
from colabel.graph.equalise import EqualisedDistances
from colabel.graph.lists import coarse, landmarks, make_lists, nearest_centres
from colabel.graph.neighbours import Neighbours
from colabel.machine import in_threads

LARGE = 20_000  # points from which on an index is faster, and used by default
SEEN = 2048  # points that each is compared with, at least
MOST_LISTS = 48
_BLOCK = 1024


class Pairs(NamedTuple):
    """Codes and equalising coordinates of row and column points, as the loop compares them.

    cos(i, j) = cosines[h] · row_pull_i · column_pull_j − ⟨row_i, column_j⟩, told in `n_bits` steps.
    """

    row_codes: NDArray[np.uint64]
    column_codes: NDArray[np.uint64]
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    row_pulls: NDArray[np.float64]
    column_pulls: NDArray[np.float64]
    cosines: NDArray[np.float64]
    n_bits: int


def can_index(distances: Distances) -> bool:
    """Whether the points' codes are known."""
    plain = distances.distances if isinstance(distances, EqualisedDistances) else distances
    return isinstance(plain, CodeDistances)


def nearest_by_index(distances: Distances, k: int, *, same_points: bool = True) -> Neighbours:
    """Nearly what `neighbours.nearest` gives: each row point's k nearest column points.

    Those found are sorted by distance, then index, and none is its own neighbour.
    """
    n = distances.shape[0]
    chosen, basis = landmarks(_among_columns(distances))
    points = coarse(_among_columns(distances), chosen, basis)
    lists = make_lists(points)
    if not same_points:
        points = coarse(distances, chosen, basis)
    probes = nearest_centres(points, lists.centres, MOST_LISTS)
    pairs = _pairs(distances, lists.places)
    # points that look at the same lists one after the other, so that these stay in the cache
    order = np.argsort(probes[:, 0], kind="stable")
    indices, found = np.empty((n, k), np.int32), np.empty((n, k), np.int32)

    def block(start: int) -> None:
        asked = order[start : start + _BLOCK]
        _search(pairs, asked, probes, lists.places, lists.ends, same_points, SEEN, indices, found)

    in_threads(block, range(0, n, _BLOCK))
    return Neighbours(indices, found.astype(np.uint16), distances.n_bits)


def _among_columns(distances: Distances) -> Distances:
    """From column points to column points."""
    if isinstance(distances, EqualisedDistances):
        inner = _among_columns(distances.distances)
        return EqualisedDistances(inner, distances.coordinates, distances.coordinates)
    if not isinstance(distances, CodeDistances):
        raise TypeError(f"{type(distances).__name__} has no codes")
    return distances.among_columns()


def _pairs(distances: Distances, places: NDArray[np.intp]) -> Pairs:
    """What the loop needs, the columns in the order of `places`."""
    n_rows, n_columns = distances.shape
    rows, columns = np.empty((n_rows, 0)), np.empty((n_columns, 0))
    row_pulls, column_pulls = np.ones(n_rows), np.ones(n_columns)
    plain = distances
    if isinstance(distances, EqualisedDistances):
        plain = distances.distances
        row_pulls = 1.0 / distances.own_lengths.astype(np.float64)
        column_pulls = 1.0 / distances.lengths.astype(np.float64)
        rows, columns = (
            distances.own * row_pulls[:, None],
            distances.coordinates * column_pulls[:, None],
        )
    if not isinstance(plain, CodeDistances):
        raise TypeError(f"{type(plain).__name__} has no codes")
    cosines = np.cos(np.pi / plain.n_bits * np.arange(plain.n_bits + 1))
    return Pairs(
        plain.row_codes,
        plain.column_codes[places],
        rows,
        columns[places],
        row_pulls,
        column_pulls[places],
        cosines,
        distances.n_bits,
    )


@numba.njit(nogil=True, cache=True)
def _search(pairs, asked, probes, places, ends, same, wanted, indices, distances):  # type: ignore[no-untyped-def]
    k, step = indices.shape[1], np.pi / pairs.n_bits
    n_coordinates = pairs.rows.shape[1]
    for i in asked:
        held, seen, least = 0, 0, -2.0
        for turn in range(probes.shape[1] + 1):
            if turn < probes.shape[1]:
                if seen >= wanted and held == k:
                    break
                first, last = ends[probes[i, turn]], ends[probes[i, turn] + 1]
                seen += last - first
            elif held == k:
                break
            else:  # the lists looked at have too few points: look at all, from the start
                held, least, first, last = 0, -2.0, 0, len(places)
            for j in range(first, last):
                index = places[j]
                if same and index == i:
                    continue
                differ = differing(pairs.row_codes, i, pairs.column_codes, j)
                similar = pairs.cosines[differ] * pairs.row_pulls[i] * pairs.column_pulls[j]
                for c in range(n_coordinates):
                    similar -= pairs.rows[i, c] * pairs.columns[j, c]
                if similar < least:
                    continue
                angle = np.arccos(min(max(similar, -1.0), 1.0))
                distance = np.int32(np.rint(angle / step))
                if held == k:
                    worst = distances[i, k - 1]
                    if distance > worst or (distance == worst and index > indices[i, k - 1]):
                        continue
                slot = held if held < k else k - 1
                while slot > 0 and (
                    distances[i, slot - 1] > distance
                    or (distances[i, slot - 1] == distance and indices[i, slot - 1] > index)
                ):
                    distances[i, slot] = distances[i, slot - 1]
                    indices[i, slot] = indices[i, slot - 1]
                    slot -= 1
                distances[i, slot], indices[i, slot] = distance, index
                held = min(held + 1, k)
                if held == k:  # whoever is farther than this cannot get in, nor tie
                    least = np.cos(min((distances[i, k - 1] + 0.501) * step, np.pi))
