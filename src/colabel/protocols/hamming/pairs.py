"""Which sites are compared with which, and how the results become one matrix.

Pairs of sites are compared by a protocol; points of the same site by the site itself, which sends
their distances along. A site of which anything is missing is dropped, as if it had never taken
part [XCLP §3.3, Robustness].
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Release, SiteSide
from colabel.graph.distances import Distances, StoredDistances, hamming
from colabel.protocols.keys import Group

Matrix = NDArray[np.uint16]
MOST_BITS = 65_535  # distances are 16-bit numbers


OWN = Release("the distances of its own points", "server", "in clear")
DISTANCES = Release("the distances of all pairs of points of different sites", "server", "masked")


def distances_of(pairs: Iterable["Pair"]) -> Release:
    """What the server learns in the last step."""
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair))
    return replace(DISTANCES, of=names)


class Pair(NamedTuple):
    """Two sites to compare; the paper's client j is `left`, its client k is `right`."""

    left: str
    right: str


def orient(group: Group, newcomers: Sequence[str] = ()) -> tuple[Pair, ...]:
    """The pairs to compare, so that being right, which is more work, is spread evenly.

    With `newcomers`, only pairs of a newcomer and another site.
    """
    wanted = [
        (a, b) if (j - i) % 2 else (b, a)
        for (i, a), (j, b) in combinations(enumerate(group.names), 2)
        if not newcomers or (a in newcomers) != (b in newcomers)
    ]
    pairs = [Pair(a, b) for a, b in wanted]
    weight = [group.sizes[a].n_points * group.sizes[b].n_points for a, b in wanted]
    work = dict.fromkeys(group.names, 0)
    for pair, more in zip(pairs, weight, strict=True):
        work[pair.right] += more
    turned = True
    while turned:  # each turn brings two sites nearer to each other, so this ends
        turned = False
        for place, (left, right) in enumerate(pairs):
            if work[right] - work[left] > weight[place]:
                pairs[place] = Pair(right, left)
                work[right] -= weight[place]
                work[left] += weight[place]
                turned = True
    return tuple(pairs)


def lefts(pairs: Iterable[Pair], name: str) -> list[str]:
    """The sites that are left of this one."""
    return [pair.left for pair in pairs if pair.right == name]


def rights(pairs: Iterable[Pair], name: str) -> list[str]:
    """The sites that are right of this one."""
    return [pair.right for pair in pairs if pair.left == name]


def between(pairs: Iterable[Pair], names: Iterable[str]) -> tuple[Pair, ...]:
    """The pairs of which both sites are still there."""
    there = set(names)
    return tuple(pair for pair in pairs if there.issuperset(pair))


def modulus(n_bits: int) -> int:
    """The smallest power of two above the largest distance; it fits 16-bit arithmetic."""
    return 1 << n_bits.bit_length()


def bits_of(site: SiteSide, n_bits: int) -> NDArray[np.uint8]:
    """The site's codes, one byte per bit."""
    check_length(site, n_bits)
    return np.unpackbits(site.codes(), axis=1, count=n_bits)


def check_length(site: SiteSide, n_bits: int) -> None:
    """Refuse codes of another length than the site's."""
    n_bytes = site.codes().shape[1]
    if not 1 <= n_bits <= MOST_BITS or -(-n_bits // 8) != n_bytes:
        site.refuse("codes of another length", f"{8 * n_bytes} bits or a few less", str(n_bits))


def own_distances(site: SiteSide) -> Matrix:
    """The distances of the site's own points, above the diagonal, row by row."""
    codes = site.codes()
    return hamming(codes, codes)[np.triu_indices(len(codes), 1)]


def n_own(n_points: int) -> int:
    """How many numbers `own_distances` has."""
    return n_points * (n_points - 1) // 2


def collect(
    group: Group,
    n_bits: int,
    newcomers: Sequence[str],
    blocks: Mapping[Pair, Matrix],
    own: Mapping[str, Matrix],
) -> tuple[Group, Distances]:
    """Put H together for the sites of which nothing is missing [XCLP Alg. 1, line 5].

    `own` has the sites that answered in every step (their own distances may be left out with
    `newcomers`). Rows and columns are all points, or with `newcomers` theirs against all others.
    """
    wanted = orient(group, newcomers)
    stayed = group.only(_complete(group, newcomers, wanted, blocks, own))
    olds = [name for name in stayed.names if name not in newcomers]
    rows = _spans(stayed, [n for n in stayed.names if n in newcomers] if newcomers else olds)
    columns = _spans(stayed, olds)
    matrix = np.zeros((_total(rows), _total(columns)), dtype=np.uint16)
    for pair, block in blocks.items():
        for (a, b), part in (((pair.left, pair.right), block), ((pair.right, pair.left), block.T)):
            if a in rows and b in columns:
                matrix[rows[a], columns[b]] = part
    for name, above in own.items():
        if name in rows and name in columns:
            matrix[rows[name], columns[name]] = _square(above, stayed.sizes[name].n_points)
    return stayed, StoredDistances(matrix, n_bits)


def _complete(
    group: Group,
    newcomers: Sequence[str],
    wanted: tuple[Pair, ...],
    blocks: Mapping[Pair, Matrix],
    own: Mapping[str, Matrix],
) -> list[str]:
    """The sites left after dropping, one by one, who misses most."""
    names = [name for name in group.names if name in own]
    while True:
        missing = [pair for pair in between(wanted, names) if pair not in blocks]
        if not missing:
            return names
        times = {name: sum(name in pair for pair in missing) for name in names}
        names.remove(max(names, key=lambda name: times[name]))


def _spans(group: Group, names: Sequence[str]) -> dict[str, slice]:
    found, start = {}, 0
    for name in names:
        found[name] = slice(start, start + group.sizes[name].n_points)
        start = found[name].stop
    return found


def _total(spans: Mapping[str, slice]) -> int:
    return max((span.stop for span in spans.values()), default=0)


def _square(above: Matrix, n: int) -> Matrix:
    full = np.zeros((n, n), dtype=np.uint16)
    full[np.triu_indices(n, 1)] = above
    return full + full.T
