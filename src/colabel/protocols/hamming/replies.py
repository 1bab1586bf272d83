"""What the server checks in the replies of sites: whatever the protocol does not send is refused.

Shapes and types follow from public sizes; a distance is at most the length of a code.
"""

from collections.abc import Mapping

import numpy as np

from colabel.protocols.hamming.pairs import Matrix, Pair, n_own
from colabel.protocols.keys import Group
from colabel.protocols.replies import refuse


def matrix(found: np.ndarray | None, shape: tuple[int, ...], site: str, step: str) -> Matrix:
    """A matrix of 16-bit numbers of this shape."""
    if found is None or found.shape != shape or found.dtype != np.uint16:
        got = "none" if found is None else f"{found.shape} of type {found.dtype}"
        refuse(site, step, f"numbers of 16 bits, shape {shape}", got)
    return found


def block(
    found: Mapping[str, np.ndarray], site: str, peer: str, shape: tuple[int, ...], step: str
) -> Matrix:
    """What a site says about its pair with a peer."""
    return matrix(found.get(peer), shape, site, step)


def shape_of(group: Group, pair: Pair) -> tuple[int, int]:
    """The points of both sites."""
    return group.sizes[pair.left].n_points, group.sizes[pair.right].n_points


def check_own(
    group: Group, found: Mapping[str, np.ndarray], asked: bool, n_bits: int, step: str
) -> None:
    """The distances of the sites' own points, if they were asked for."""
    for name, own in found.items():
        shape = (n_own(group.sizes[name].n_points) if asked else 0,)
        distances(matrix(own, shape, name, step), n_bits, name, step)


def distances(found: Matrix, n_bits: int, site: str, step: str) -> Matrix:
    """Numbers that can be distances."""
    if found.size and found.max() > n_bits:
        refuse(site, step, f"distances up to {n_bits}", str(found.max()))
    return found


def distances_between(pair: Pair, found: Matrix, n_bits: int, step: str) -> Matrix:
    """Distances that two sites make together: nobody else can tell which of them was wrong."""
    return distances(found, n_bits, f"{pair.left} or {pair.right}", step)
