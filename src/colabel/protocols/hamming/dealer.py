"""Secure Hamming distances with a dealer: the server deals random matrices, sites use them up.

For each pair the server deals random M_j (n_j × L) and N_k (n_k × L) modulo 2^16, and the product
M_j · N_kᵀ cut into two random summands (Beaver 1991). Left j shows k its codes masked by M_j,
right k shows j its codes masked by N_k; then each computes a summand of the distances. Of these,
the server gets the sum only: a random matrix that j and k share lies on both.

    left j     D = B̄_j − M_j  to k       X = B̄_j·(B_k − N_k)ᵀ + W_j + mask
    right k    B_k − N_k  to j           Y = D·N_kᵀ + W_k − mask
    server     H = X + Y + weight of B_j (mod 2^16)      (B̄ = 1 − 2B; the weight is in X)

step             message              bytes up per site          who learns what
dealer.exchange  Exchange → Masked    2 · n · L, once or twice   server: nothing (sealed);
                                                                 peers: uniform matrices
dealer.compare   Compare → Compared   2 · n_j · n_k per pair     server: X and Y, hence H

Server alone: H. One site: nothing. Server with one site: the codes of all sites. The server knows
every M and N, and a site opens what is sealed for all: the price of three small matrix products.
The seeds that the server deals travel down with `dealer.exchange`, and W_k with `dealer.compare`.

A site lost in any step is as if it had never taken part [XCLP §3.3, Robustness].
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Ask, Conversation, Message, Release, SiteSide
from colabel.crypto.prg import SEED_BYTES, stream
from colabel.crypto.sealing import OVERHEAD
from colabel.graph.distances import Distances
from colabel.machine import in_threads, n_threads
from colabel.protocols.channels import EVERYBODY, pair_stream, seal_bytes, unseal_bytes
from colabel.protocols.cost import Cost
from colabel.protocols.hamming.base import SERVER_AND_SITE, Handlers, SecureHamming
from colabel.protocols.hamming.pairs import (
    DISTANCES,
    OWN,
    Matrix,
    Pair,
    between,
    bits_of,
    collect,
    distances_of,
    lefts,
    n_own,
    orient,
    own_distances,
    rights,
)
from colabel.protocols.hamming.replies import block, check_own, distances_between, shape_of
from colabel.protocols.keys import Group
from colabel.protocols.replies import expect
from colabel.randomness import secret
from colabel.wire import blank, blank_array, digest, weigh

_SECONDS = 7e-11  # of one multiplication, on two cores
Floats = NDArray[np.float64]


class Exchange(Message, frozen=True):
    """The seed of your M and N; show your codes masked by each that is needed."""

    n_bits: int
    seed: bytes
    left: bool
    right: bool
    own: bool


class Masked(Message, frozen=True):
    """Codes masked by M (as left) and by N (as right), sealed for the sites."""

    as_left: bytes
    as_right: bytes
    own: np.ndarray


class Compare(Message, frozen=True):
    """What your peers showed (right peers first), and your summand of each product: as left a
    seed, as right the rest of it.
    """

    rights: dict[str, bytes]
    seeds: dict[str, bytes]
    lefts: dict[str, bytes]
    corrections: dict[str, np.ndarray]


class Compared(Message, frozen=True):
    """X for each right peer, Y for each left peer."""

    as_left: dict[str, np.ndarray]
    as_right: dict[str, np.ndarray]


class Dealt(msgspec.Struct, frozen=True):
    """What a site remembers."""

    seed: bytes
    n_bits: int


def uniform(seed: bytes, purpose: str, n_rows: int, n_columns: int) -> Matrix:
    """A uniform matrix modulo 2^16."""
    raw = np.frombuffer(stream(seed, purpose, 2 * n_rows * n_columns), dtype="<u2")
    return raw.reshape(n_rows, n_columns)


def product(left: NDArray[np.number], right: NDArray[np.number]) -> Matrix:
    """left · rightᵀ modulo 2^16, exact in float64: below 2^53 up to 2^21 terms."""
    other = right.T.astype(np.float64)
    parts = np.array_split(left.astype(np.float64), n_threads())
    found = np.concatenate(in_threads(lambda rows: rows @ other, parts))
    return found.astype(np.int64).astype(np.uint16)


def exchange(site: SiteSide, request: Exchange) -> Masked:
    """Show the codes, masked."""
    if len(request.seed) != SEED_BYTES:
        site.refuse("malformed seed", f"{SEED_BYTES} bytes", f"{len(request.seed)} bytes")
    site.remember(Dealt(request.seed, request.n_bits))
    bits = bits_of(site, request.n_bits).astype(np.uint16)
    as_left = (1 - 2 * bits) - uniform(request.seed, "M", *_shape(bits))
    as_right = bits - uniform(request.seed, "N", *_shape(bits))
    return Masked(
        seal_bytes(site, EVERYBODY, "dealer left", as_left.tobytes()) if request.left else b"",
        seal_bytes(site, EVERYBODY, "dealer right", as_right.tobytes()) if request.right else b"",
        own_distances(site) if request.own else np.empty(0, np.uint16),
    )


def compare(site: SiteSide, request: Compare) -> Compared:
    """A summand of the distances to every peer."""
    dealt = site.recall(Dealt)
    bits = bits_of(site, dealt.n_bits)
    signs = 1.0 - 2.0 * bits
    weight = bits.sum(axis=1, dtype=np.uint16)[:, None]
    n_points, n_bits = bits.shape
    own = uniform(dealt.seed, "N", n_points, n_bits)
    own_shown = bits.astype(np.uint16) - own
    as_left, as_right = {}, {}
    for peer, sealed in request.rights.items():
        shown = _open(site, peer, "dealer right", sealed, n_bits)
        dealt_part = _seed(site, request.seeds.get(peer, b""), n_points, len(shown))
        mask = _pair_mask(site, peer, shown, n_points, len(shown))
        as_left[peer] = product(signs, shown) + dealt_part + mask + weight
    for peer, sealed in request.lefts.items():
        shown = _open(site, peer, "dealer left", sealed, n_bits)
        rest = request.corrections.get(peer, np.empty((0, 0), np.uint16))
        if rest.shape != (len(shown), n_points) or rest.dtype != np.uint16:
            site.refuse("malformed correction", f"{len(shown)} × {n_points}", str(rest.shape))
        mask = _pair_mask(site, peer, own_shown, len(shown), n_points)
        as_right[peer] = product(shown, own) + rest - mask
    return Compared(as_left, as_right)


def _open(site: SiteSide, peer: str, purpose: str, sealed: bytes, n_bits: int) -> Matrix:
    data = unseal_bytes(site, peer, purpose, sealed, receiver=EVERYBODY)
    if not data or len(data) % (2 * n_bits):
        site.refuse("malformed matrix", f"rows of {n_bits} numbers", f"{len(data)} bytes")
    return np.frombuffer(data, dtype="<u2").reshape(-1, n_bits)


def _seed(site: SiteSide, seed: bytes, n_rows: int, n_columns: int) -> Matrix:
    if len(seed) != SEED_BYTES:
        site.refuse("malformed seed", f"{SEED_BYTES} bytes", f"{len(seed)} bytes")
    return uniform(seed, "W", n_rows, n_columns)


def _pair_mask(site: SiteSide, peer: str, shown: Matrix, n_left: int, n_right: int) -> Matrix:
    # fresh for everything that right shows: under one mask, codes shown twice would tell the
    # server, who knows each N, the products of left's codes with their difference
    purpose = f"dealer mask/{digest(shown.tobytes())}"
    raw = pair_stream(site, peer, purpose, 2 * n_left * n_right)
    return np.frombuffer(raw, dtype="<u2").reshape(n_left, n_right)


def _shape(bits: NDArray[np.generic]) -> tuple[int, int]:
    n_rows, n_columns = bits.shape
    return n_rows, n_columns


MASKED = Release("its codes, masked by what the server dealt", "sites", "encrypted")


def add(group: Group, parts: Mapping[str, Compared], pair: Pair, n_bits: int) -> Matrix:
    """H = X + Y (mod 2^16)."""
    (left, right), shape, step = pair, shape_of(group, pair), "dealer.compare"
    X = block(parts[left].as_left, left, right, shape, step)
    Y = block(parts[right].as_right, right, left, shape, step)
    return distances_between(pair, X + Y, n_bits, step)


class DealerHamming(SecureHamming):
    """The server's side."""

    name: ClassVar[str] = "dealer"
    protects: ClassVar[str] = "dealt masks: safe unless the server and a site work together"
    broken_by: ClassVar[str] = SERVER_AND_SITE
    releases: ClassVar[tuple[Release, ...]] = (OWN, MASKED, DISTANCES)
    handlers: ClassVar[Handlers] = {Exchange: exchange, Compare: compare}

    def conversation(
        self, group: Group, n_bits: int, newcomers: Sequence[str] = ()
    ) -> Conversation[tuple[Group, Distances]]:
        """Two steps, whatever the number of sites."""
        wanted = orient(group, newcomers)
        seeds = {name: secret(SEED_BYTES) for name in group.names}
        asked = {
            name: Exchange(
                n_bits,
                seeds[name],
                bool(rights(wanted, name)),
                bool(lefts(wanted, name)),
                not newcomers,
            )
            for name in group.names
        }
        releases = (MASKED,) if newcomers else (OWN, MASKED)
        replies = yield Ask("dealer.exchange", asked, releases)
        shown = expect(replies, "dealer.exchange", Masked)
        pairs = between(wanted, shown)
        requests = self._deal(group, pairs, n_bits, seeds, shown)
        found = (yield Ask("dealer.compare", requests, (distances_of(pairs),))) if requests else {}
        parts = expect(found, "dealer.compare", Compared)
        blocks = {pair: add(group, parts, pair, n_bits) for pair in between(pairs, parts)}
        own = {name: shown[name].own for name in shown if name in parts or name not in requests}
        check_own(group, own, not newcomers, n_bits, "dealer.exchange")
        return collect(group, n_bits, newcomers, blocks, own)

    def _deal(
        self,
        group: Group,
        pairs: Sequence[Pair],
        n_bits: int,
        seeds: Mapping[str, bytes],
        shown: Mapping[str, Masked],
    ) -> dict[str, Compare]:
        """Cut each product M_j · N_kᵀ into two."""
        asked = {name: Compare({}, {}, {}, {}) for pair in pairs for name in pair}
        for left, right in pairs:
            seed, size = secret(SEED_BYTES), group.sizes
            whole = product(
                uniform(seeds[left], "M", size[left].n_points, n_bits),
                uniform(seeds[right], "N", size[right].n_points, n_bits),
            )
            asked[left].rights[right] = shown[right].as_right
            asked[left].seeds[right] = seed
            asked[right].lefts[left] = shown[left].as_left
            asked[right].corrections[left] = whole - uniform(seed, "W", *_shape(whole))
        return asked

    def cost(self, group: Group, n_bits: int) -> Cost:
        """Exact bytes; seconds from the number of multiplications."""
        size = {name: group.sizes[name].n_points for name in group.names}
        pairs = orient(group)
        shown = {name: blank(OVERHEAD + 2 * size[name] * n_bits) for name in size}
        total = Cost(0, 0, 2 if pairs else 1, 0.0)
        for name, n in size.items():
            left, right = lefts(pairs, name), rights(pairs, name)
            more = shown[name] * (bool(left) + bool(right)) + blank_array("<u2", n_own(n))
            total += Cost(
                weigh(name, Masked(b"", b"", np.empty(0, np.uint16)), more),
                weigh("server", Exchange(n_bits, bytes(SEED_BYTES), bool(right), bool(left), True)),
                0,
                0.0,
            )
            if left or right:
                total += self._comparing(name, left, right, size, shown, n_bits)
        return total

    def _comparing(
        self,
        name: str,
        left: Sequence[str],
        right: Sequence[str],
        size: Mapping[str, int],
        shown: Mapping[str, int],
        n_bits: int,
    ) -> Cost:
        nothing, seed = np.empty((0, 0), np.uint16), bytes(SEED_BYTES)
        x = sum(blank_array("<u2", size[name], size[peer]) for peer in right)
        y = sum(blank_array("<u2", size[peer], size[name]) for peer in left)
        empty = Compared(dict.fromkeys(right, nothing), dict.fromkeys(left, nothing))
        asked = Compare(
            dict.fromkeys(right, b""),
            dict.fromkeys(right, seed),
            dict.fromkeys(left, b""),
            dict.fromkeys(left, nothing),
        )
        down = sum(shown[peer] for peer in (*left, *right)) + y
        n_products = size[name] * (
            sum(size[peer] for peer in left) + 2 * sum(size[peer] for peer in right)
        )
        return Cost(
            weigh(name, empty, x + y),
            weigh("server", asked, down),
            0,
            _SECONDS * n_products * n_bits,
        )
