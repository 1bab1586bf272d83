"""Secure Hamming distances from learning with errors (LWE), in matrix products. Not audited.

The paper encrypts j's bits additively homomorphically and lets k add them up [XCLP §3.2, PHE];
here the encryption is Regev's, for all points of a site at once. With A, Ā uniform from a public
seed (n × L and n × n, modulo q = 2^80), B the site's codes, Δ = q / t:

    left j    S ternary    C = S·A + E + Δ·(1 − 2B)     P = S·Ā + E′
    right k   E₁ ternary   U = A·Bᵀ + Ā·E₁ + E₂         V = C·Bᵀ + P·E₁ + flood + Δ·R
    left j    V − S·U ≈ Δ·((1 − 2B_j)·B_kᵀ + R)         T = that / Δ + weight of B_j  (mod t)
    server    H = T − R (mod t), where t > L is a power of two

step               message                bytes up per site             who learns what
lattice.encrypt    Encrypt → Encrypted    10 · n_j · (L + n), 3 n n_k   server: nothing (sealed),
                                          2 · own pairs                 own points' distances
lattice.multiply   Multiply → Multiplied  3 · n_j · n_k per left peer   server: R, which is uniform
lattice.decrypt    Decrypt → Decrypted    2 · n_j · n_k per right peer  server: T, hence H

Server alone: H. One site: nothing. Server with one site: H and that site's own data. For C, P, U
and V are pseudo-random under LWE and T is uniform; the noise of V − S·U would give equations on
B_k, and flooding hides it (statistical distance below 2^-40 for all that a site sends in a
session). All this holds for parties that follow the protocol: a left site that adds Δ/2 at one
column of a row of C, instead of its codes, reads off a bit of every point of its peer.

The number of steps is fixed, and C, P and U serve all peers. Working memory: two tiles of A (50 MB
each), and about 50 bytes per number of C, P and U.

A site lost in any step is as if it had never taken part [XCLP §3.3, Robustness].
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

import numpy as np

from colabel.conversation import Ask, Conversation, Message, Private, Release, SiteSide
from colabel.crypto.prg import SEED_BYTES, stream
from colabel.crypto.sealing import OVERHEAD
from colabel.graph.distances import Distances
from colabel.protocols.channels import EVERYBODY, seal_bytes, unseal_bytes
from colabel.protocols.cost import Cost
from colabel.protocols.hamming import lattice_algebra as algebra
from colabel.protocols.hamming.base import NOBODY, Handlers, SecureHamming
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
    modulus,
    n_own,
    orient,
    own_distances,
    rights,
)
from colabel.protocols.hamming.replies import block, check_own, distances_between, shape_of
from colabel.protocols.keys import Group
from colabel.protocols.replies import expect, refuse
from colabel.randomness import secret
from colabel.wire import blank, blank_array, digest, weigh


class Encrypt(Message, frozen=True):
    """Encrypt your codes (if you are left in a pair), mix them up (if you are right in one)."""

    n_bits: int
    left: bool
    right: bool
    own: bool


class Encrypted(Message, frozen=True):
    """C and P, and U, sealed for all sites; the distances of the site's own points."""

    codes: bytes
    mixed: bytes
    own: np.ndarray


class Multiply(Message, frozen=True):
    """C and P of your left peers."""

    codes: dict[str, bytes]


class Multiplied(Message, frozen=True):
    """V for each left peer, sealed; and the seed from which every R is drawn."""

    products: dict[str, bytes]
    seed: bytes


class Decrypt(Message, frozen=True):
    """U and V of your right peers."""

    mixed: dict[str, bytes]
    products: dict[str, bytes]


class Decrypted(Message, frozen=True):
    """T for each right peer."""

    totals: dict[str, np.ndarray]


class Secrets(Private, frozen=True):
    """What a site remembers: the seed of its secrets and noise, and that of R."""

    seed: bytes
    masks: bytes
    n_bits: int


def encrypt(site: SiteSide, request: Encrypt) -> Encrypted:
    """Before anything is known of the peers."""
    secrets = Secrets(secret(SEED_BYTES), secret(SEED_BYTES), request.n_bits)
    site.remember(secrets)
    public = bytes.fromhex(digest(f"{site.session} lattice".encode()))
    bits = bits_of(site, request.n_bits)
    codes, mixed = algebra.encrypt(
        public, secrets.seed, bits, left=request.left, right=request.right
    )
    return Encrypted(
        seal_bytes(site, EVERYBODY, "lattice codes", codes) if request.left else b"",
        seal_bytes(site, EVERYBODY, "lattice mixed", mixed) if request.right else b"",
        own_distances(site) if request.own else np.empty(0, np.uint16),
    )


def multiply(site: SiteSide, request: Multiply) -> Multiplied:
    """Add up the encrypted bits of every left peer where own bits are set, and mask the sums."""
    secrets = site.recall(Secrets)
    bits = bits_of(site, secrets.n_bits)
    products = {}
    for peer, sealed in request.codes.items():
        data = unseal_bytes(site, peer, "lattice codes", sealed, receiver=EVERYBODY)
        cipher = algebra.read_codes(data, bits.shape[1])
        if cipher is None:
            site.refuse("malformed ciphertext", f"rows of {peer}'s codes", f"{len(data)} bytes")
        # fresh for every ciphertext: two sums under one flood would show their difference
        label = f"{peer}/{digest(data)}"
        mask = draw(secrets.masks, peer, len(cipher.low), len(bits), secrets.n_bits)
        product = algebra.multiply(secrets.seed, label, cipher, bits, mask)
        products[peer] = seal_bytes(site, peer, "lattice product", product)
    return Multiplied(products, secrets.masks)


def draw(seed: bytes, peer: str, n_left: int, n_right: int, n_bits: int) -> Matrix:
    """R, uniform modulo t."""
    raw = np.frombuffer(stream(seed, f"R/{peer}", 2 * n_left * n_right), dtype="<u2")
    return raw.reshape(n_left, n_right) & np.uint16(modulus(n_bits) - 1)


def decrypt(site: SiteSide, request: Decrypt) -> Decrypted:
    """What every right peer added up, masked by its R."""
    secrets = site.recall(Secrets)
    bits = bits_of(site, secrets.n_bits)
    key = algebra.secret_key(secrets.seed, len(bits))
    totals = {}
    for peer, sealed in request.products.items():
        mixed = unseal_bytes(
            site, peer, "lattice mixed", request.mixed.get(peer, b""), receiver=EVERYBODY
        )
        product = unseal_bytes(site, peer, "lattice product", sealed)
        total = algebra.decrypt(key, mixed, product, bits)
        if total is None:
            site.refuse("malformed product", f"columns of {peer}'s points", f"{len(product)} bytes")
        totals[peer] = total
    return Decrypted(totals)


_PRODUCT = 3.2e-11  # seconds of one multiplication of limbs, on two cores
_DRAW = 6e-9  # seconds to draw a number of A
_HANDLE = 4e-8  # seconds to make, seal, open and unpack a number of C or P

SEALED = Release("its codes", "sites", "encrypted")
ADDED = Release("sums of encrypted codes", "sites", "encrypted")
MASKS = Release("random numbers that mask the distances", "server", "in clear")


class LatticeHamming(SecureHamming):
    """The server's side."""

    name: ClassVar[str] = "lattice"
    protects: ClassVar[str] = "lattice encryption: the server sees distances only"
    broken_by: ClassVar[str] = NOBODY
    releases: ClassVar[tuple[Release, ...]] = (OWN, SEALED, ADDED, MASKS, DISTANCES)
    handlers: ClassVar[Handlers] = {Encrypt: encrypt, Multiply: multiply, Decrypt: decrypt}

    def conversation(
        self, group: Group, n_bits: int, newcomers: Sequence[str] = ()
    ) -> Conversation[tuple[Group, Distances]]:
        """Three steps, whatever the number of sites."""
        algebra.check(n_bits, {name: size.n_points for name, size in group.sizes.items()})
        wanted = orient(group, newcomers)
        asked = {
            name: Encrypt(
                n_bits, bool(rights(wanted, name)), bool(lefts(wanted, name)), not newcomers
            )
            for name in group.names
        }
        replies = yield Ask("lattice.encrypt", asked, (OWN, SEALED) if not newcomers else (SEALED,))
        codes = expect(replies, "lattice.encrypt", Encrypted)
        pairs = between(wanted, codes)
        products = yield from self._multiply(pairs, codes)
        answered = [name for name in codes if name in products or not lefts(pairs, name)]
        pairs = tuple(pair for pair in pairs if pair.right in products)
        totals = yield from self._decrypt(pairs, codes, products)
        blocks = {
            pair: unmask(group, totals[pair.left], products[pair.right].seed, pair, n_bits)
            for pair in pairs
            if pair.left in totals
        }
        there = [name for name in codes if name in totals or not rights(pairs, name)]
        own = {name: codes[name].own for name in there if name in answered}
        check_own(group, own, not newcomers, n_bits, "lattice.encrypt")
        return collect(group, n_bits, newcomers, blocks, own)

    def _multiply(
        self, pairs: Sequence[Pair], codes: Mapping[str, Encrypted]
    ) -> Conversation[dict[str, Multiplied]]:
        asked = {
            right: Multiply({left: codes[left].codes for left in lefts(pairs, right)})
            for right in codes
            if lefts(pairs, right)
        }
        replies = (yield Ask("lattice.multiply", asked, (ADDED, MASKS))) if asked else {}
        products = expect(replies, "lattice.multiply", Multiplied)
        for name, reply in products.items():
            if len(reply.seed) != SEED_BYTES or set(reply.products) != set(lefts(pairs, name)):
                got = f"{len(reply.seed)} bytes, products for {', '.join(reply.products)}"
                refuse(name, "lattice.multiply", "a seed, and a product for each left peer", got)
        return products

    def _decrypt(
        self,
        pairs: Sequence[Pair],
        codes: Mapping[str, Encrypted],
        products: Mapping[str, Multiplied],
    ) -> Conversation[dict[str, Decrypted]]:
        asked = {
            left: Decrypt(
                {right: codes[right].mixed for right in rights(pairs, left)},
                {right: products[right].products[left] for right in rights(pairs, left)},
            )
            for left in codes
            if rights(pairs, left)
        }
        replies = (yield Ask("lattice.decrypt", asked, (distances_of(pairs),))) if asked else {}
        return expect(replies, "lattice.decrypt", Decrypted)

    def cost(self, group: Group, n_bits: int) -> Cost:
        """Exact bytes; seconds from the number of multiplications."""
        size = {name: group.sizes[name].n_points for name in group.names}
        pairs, kept = orient(group), algebra.scale(n_bits).kept_bytes
        width = n_bits + algebra.N
        codes = {name: blank(OVERHEAD + 10 * size[name] * width) for name in size}
        mixed = {name: blank(OVERHEAD + kept * algebra.N * size[name]) for name in size}
        costs = [
            self._encrypting(name, pairs, size[name], codes[name], mixed[name], n_bits)
            for name in size
        ]
        for name in size:
            left = {
                peer: blank(OVERHEAD + kept * size[peer] * size[name])
                for peer in lefts(pairs, name)
            }
            right = {
                peer: blank(OVERHEAD + kept * size[peer] * size[name])
                for peer in rights(pairs, name)
            }
            if left:
                empty = dict.fromkeys(left, b"")
                costs.append(
                    Cost(
                        weigh(name, Multiplied(empty, bytes(SEED_BYTES)), sum(left.values())),
                        weigh("server", Multiply(empty), sum(codes[peer] for peer in left)),
                        0,
                        2 * _PRODUCT * width * size[name] * sum(size[peer] for peer in left),
                    )
                )
            if right:
                empty = dict.fromkeys(right, b"")
                nothing = np.empty((0, 0), np.uint16)
                totals = sum(blank_array("<u2", size[name], size[peer]) for peer in right)
                costs.append(
                    Cost(
                        weigh(name, Decrypted(dict.fromkeys(right, nothing)), totals),
                        weigh(
                            "server",
                            Decrypt(empty, empty),
                            sum(right.values()) + sum(mixed[peer] for peer in right),
                        ),
                        0,
                        _PRODUCT * algebra.N * size[name] * sum(size[peer] for peer in right),
                    )
                )
        return sum(costs, Cost(0, 0, 3 if pairs else 1, 0.0))

    def _encrypting(
        self, name: str, pairs: Sequence[Pair], n_points: int, codes: int, mixed: int, n_bits: int
    ) -> Cost:
        left, right = bool(rights(pairs, name)), bool(lefts(pairs, name))
        reply = Encrypted(b"", b"", np.empty(0, np.uint16))
        more = codes * left + mixed * right + blank_array("<u2", n_own(n_points))
        width = n_bits + algebra.N
        seconds = (left + right) * width * (2 * _PRODUCT * algebra.N * n_points)
        return Cost(
            weigh(name, reply, more),
            weigh("server", Encrypt(n_bits, left, right, True)),
            0,
            seconds + width * (_DRAW * algebra.N + _HANDLE * left * n_points),
        )


def unmask(group: Group, decrypted: Decrypted, seed: bytes, pair: Pair, n_bits: int) -> Matrix:
    """H = T − R (mod t)."""
    step, shape = "lattice.decrypt", shape_of(group, pair)
    total = block(decrypted.totals, pair.left, pair.right, shape, step)
    mask = draw(seed, pair.left, *shape, n_bits)
    found = cast("Matrix", (total - mask) & np.uint16(modulus(n_bits) - 1))
    return distances_between(pair, found, n_bits, step)
