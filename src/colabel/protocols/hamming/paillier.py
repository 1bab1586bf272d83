"""Distances under additively homomorphic encryption [XCLP §3.2, PHE].

step            message                          bytes up per site     who learns what
paillier.codes  PaillierEncrypt → PaillierCodes  ⌈n_j/s⌉ · L · 2K/8    peers: ciphertexts; server: N
paillier.sums   PaillierAdd → PaillierSums       per peer              j: ciphertexts of uniform
                                                 n_k · ⌈n_j/s⌉ · 3K/8  values; server: the masks R
paillier.totals PaillierDecrypt → PaillierTotals per peer              server: T, hence H = T − R;
                                                 n_k · ⌈n_j/s⌉ · K/8   and the own distances

For each pair, j (`left`) owns a key N of K bits and k (`right`) adds. A plaintext holds s points
of j in slots of log2(t) bits, t the smallest power of two above L: with the paper's Z_L, distances
0 and L would be the same number. The integer total Σ h(b_i, b_k) · t^i is below N, so nothing
flows from slot to slot for good. j encrypts once for all its peers. T and R are uniform modulo N
one by one, and T comes in a fresh ciphertext.

Server alone: H. One site: nothing. Server with one site: H and that site's own data. Sites follow
the protocol: nobody proves that a key or a ciphertext is well made.

A site lost in any step is as if it had never taken part. A site holds ⌈n_j/s⌉ · L ciphertexts of
its peers at a time, and the server all of them.
"""

import time
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Ask, Conversation, Message, Private, Release, SiteSide
from colabel.crypto import paillier
from colabel.crypto.big_integers import below, from_bytes, powers, subset_steps, to_bytes
from colabel.graph.distances import Distances
from colabel.machine import n_threads
from colabel.protocols.channels import OVERHEAD, seal, seal_for_all, unseal, unseal_for_all
from colabel.protocols.cost import Cost
from colabel.protocols.hamming import pairs
from colabel.protocols.hamming.base import NOBODY, Handlers, SecureHamming
from colabel.protocols.hamming.pairs import Pair
from colabel.protocols.hamming.replies import check_own
from colabel.protocols.hamming.slots import batches, join, signs, slot_bits, slots, split
from colabel.protocols.keys import Group
from colabel.protocols.replies import expect, refuse
from colabel.wire import blank, blank_array, pack, weigh

_CODES, _SUMS = "paillier codes", "paillier sums"
_NOTHING = np.empty(0, dtype=np.uint16)
_BY_OWNER = 0.28  # seconds of an encryption or decryption by the key's owner, as a share of others'

Bits = NDArray[np.bool_]


# --- messages


class PaillierEncrypt(Message, frozen=True):
    """Make a key of this length and encrypt your codes."""

    key_bits: int
    n_bits: int


class EncryptedCodes(Message, frozen=True):
    """For all peers: N, and one ciphertext for each batch of points and bit."""

    modulus: bytes
    ciphertexts: bytes


class PaillierCodes(Message, frozen=True):
    """N for the server, and `EncryptedCodes` sealed for all sites."""

    modulus: bytes
    codes: bytes


class PaillierAdd(Message, frozen=True):
    """Compare your points with what these sites have encrypted."""

    n_bits: int
    codes: dict[str, bytes]


class EncryptedSums(Message, frozen=True):
    """For one peer: one ciphertext for each batch of its points and point of the sender."""

    ciphertexts: bytes


class PaillierSums(Message, frozen=True):
    """For each peer, `EncryptedSums` sealed for it, and for the server the masks R in them."""

    sums: dict[str, bytes]
    masks: dict[str, bytes]


class PaillierDecrypt(Message, frozen=True):
    """Decrypt what these sites have added up, and compare your own points if asked to."""

    n_bits: int
    own: bool
    sums: dict[str, bytes]


class PaillierTotals(Message, frozen=True):
    """For each peer the masked totals T, and the distances between the site's own points."""

    totals: dict[str, bytes]
    own: np.ndarray


class PaillierKey(Private, frozen=True):
    """What a site remembers: its primes."""

    p: bytes
    q: bytes

    def __repr__(self) -> str:
        return "PaillierKey(secret)"

    def private(self) -> paillier.PrivateKey:
        """The key, ready for use."""
        return paillier.PrivateKey(int.from_bytes(self.p, "big"), int.from_bytes(self.q, "big"))


# --- the sites' side


def _bits(site: SiteSide, n_bits: int) -> Bits:
    return pairs.bits_of(site, n_bits).astype(bool)


def encrypt_codes(
    site: SiteSide, request: PaillierEncrypt, *, weakest_bits: int = paillier.WEAKEST_BITS
) -> PaillierCodes:
    """Client j encrypts its codes with its own key [XCLP §3.2, PHE step 1]."""
    bits = _bits(site, request.n_bits)
    try:
        key = paillier.generate(request.key_bits, weakest_bits=weakest_bits)
    except ValueError as error:
        site.refuse("a key that protects nothing", "a longer key", str(error))
    public, width = key.public, slot_bits(request.n_bits)
    ciphertexts = [
        public.pack(key.encrypt(signs(batch, width)))
        for batch in batches(bits, public.n_bits, request.n_bits)
    ]
    size = public.plain_size
    site.remember(PaillierKey(key.p.to_bytes(size, "big"), key.q.to_bytes(size, "big")))
    codes = EncryptedCodes(public.to_bytes(), b"".join(ciphertexts))
    return PaillierCodes(public.to_bytes(), seal_for_all(site, _CODES, codes))


def add_up(
    site: SiteSide, request: PaillierAdd, *, weakest_bits: int = paillier.WEAKEST_BITS
) -> PaillierSums:
    """Client k computes on what its peers have encrypted [XCLP §3.2, PHE step 2]."""
    bits = _bits(site, request.n_bits)
    sums, masks = {}, {}
    for peer, data in request.codes.items():
        codes = unseal_for_all(site, peer, _CODES, data, EncryptedCodes)
        try:
            public = paillier.PublicKey.of_peer(codes.modulus, weakest_bits=weakest_bits)
            ciphertexts = public.unpack(codes.ciphertexts)
        except ValueError as error:
            site.refuse("not encrypted codes", f"those of site {peer}", str(error))
        if not ciphertexts or len(ciphertexts) % request.n_bits:
            site.refuse("codes of another length", f"{request.n_bits} bits", f"{len(ciphertexts)}")
        added, masks[peer] = _masked_sums(public, ciphertexts, bits)
        sums[peer] = seal(site, peer, _SUMS, EncryptedSums(added))
    return PaillierSums(sums, masks)


def _masked_sums(
    public: paillier.PublicKey, ciphertexts: Sequence[int], bits: Bits
) -> tuple[bytes, bytes]:
    n_bits, sums = bits.shape[1], []
    for start in range(0, len(ciphertexts), n_bits):
        sums += public.subset_sums(ciphertexts[start : start + n_bits], bits)
    masks = below(public.modulus, len(sums), "paillier masks")
    # not only masked but encrypted afresh: products of ciphertexts would show k's bits to j
    return public.pack(public.add_plain(sums, masks)), to_bytes(masks, public.plain_size)


def decrypt_sums(site: SiteSide, request: PaillierDecrypt) -> PaillierTotals:
    """Client j decrypts uniform values, which go to the server [XCLP §3.2, PHE step 4]."""
    bits = _bits(site, request.n_bits)
    totals = {
        peer: _totals(site, bits, unseal(site, peer, _SUMS, data, EncryptedSums), peer)
        for peer, data in request.sums.items()
    }
    own = pairs.own_distances(site) if request.own else np.empty(0, dtype=np.uint16)
    return PaillierTotals(totals, own)


def _totals(site: SiteSide, bits: Bits, sums: EncryptedSums, peer: str) -> bytes:
    key, n_bits = site.recall(PaillierKey).private(), bits.shape[1]
    public = key.public
    try:
        ciphertexts = public.unpack(sums.ciphertexts)
    except ValueError as error:
        site.refuse("not encrypted sums", f"those of site {peer}", str(error))
    weights = [
        join(batch.sum(axis=1, dtype=np.int64)[None], slot_bits(n_bits))[0]
        for batch in batches(bits, public.n_bits, n_bits)
    ]
    each, rest = divmod(len(ciphertexts), len(weights))
    if rest or not each:
        site.refuse("not encrypted sums", f"a multiple of {len(weights)}", f"{len(ciphertexts)}")
    plain = key.decrypt(ciphertexts)
    return to_bytes(
        ((value + weights[i // each]) % public.modulus for i, value in enumerate(plain)),
        public.plain_size,
    )


def site_side(weakest_bits: int = paillier.WEAKEST_BITS) -> Handlers:
    """Which function answers which message; only tests allow weaker keys."""
    return {
        PaillierEncrypt: partial(encrypt_codes, weakest_bits=weakest_bits),
        PaillierAdd: partial(add_up, weakest_bits=weakest_bits),
        PaillierDecrypt: decrypt_sums,
    }


# --- the server's side

KEYS = Release("its public key", "server", "in clear")
CODES = Release("its codes", "sites", "encrypted")
SUMS = Release("sums of encrypted codes, masked", "sites", "encrypted")
MASKS = Release("random numbers that mask the distances", "server", "in clear")


class PaillierHamming(SecureHamming):
    """The server's side; `key_bits` is the length of the sites' keys."""

    name: ClassVar[str] = "paillier"
    protects: ClassVar[str] = "Paillier encryption: the server sees distances only"
    broken_by: ClassVar[str] = NOBODY
    releases: ClassVar[tuple[Release, ...]] = (KEYS, CODES, SUMS, MASKS, pairs.DISTANCES, pairs.OWN)
    handlers: ClassVar[Handlers] = site_side()

    def __init__(self, key_bits: int = paillier.KEY_BITS) -> None:
        self.key_bits = key_bits

    def conversation(
        self, group: Group, n_bits: int, newcomers: Sequence[str] = ()
    ) -> Conversation[tuple[Group, Distances]]:
        """Codes to k, sums to j, totals to the server."""
        wanted = pairs.orient(group, newcomers)
        encrypt = {pair.left: PaillierEncrypt(self.key_bits, n_bits) for pair in wanted}
        replies = (yield Ask("paillier.codes", encrypt, (KEYS, CODES))) if encrypt else {}
        codes = expect(replies, "paillier.codes", PaillierCodes)
        there = [name for name in group.names if name in codes or name not in encrypt]

        add = {
            name: PaillierAdd(n_bits, {left: codes[left].codes for left in lefts})
            for name in there
            if (lefts := pairs.lefts(pairs.between(wanted, there), name))
        }
        replies = (yield Ask("paillier.sums", add, (SUMS, MASKS))) if add else {}
        sums = expect(replies, "paillier.sums", PaillierSums)
        there = [name for name in there if name in sums or name not in add]

        wanted, own = pairs.between(wanted, there), not newcomers
        decrypt = {
            name: PaillierDecrypt(n_bits, own, {k: _sums_for(name, k, sums[k]) for k in rights})
            for name in there
            if (rights := pairs.rights(wanted, name)) or own
        }
        releases = (pairs.distances_of(wanted), *((pairs.OWN,) if own else ()))
        replies = (yield Ask("paillier.totals", decrypt, releases)) if decrypt else {}
        totals = expect(replies, "paillier.totals", PaillierTotals)
        blocks = {
            pair: _block(group, pair, n_bits, codes[pair.left], sums[pair.right], totals[pair.left])
            for pair in wanted
            if pair.left in totals
        }
        there = [name for name in there if name in totals or name not in decrypt]
        squares = {name: totals[name].own if name in totals else _NOTHING for name in there}
        check_own(group, squares, own, n_bits, "paillier.totals")
        return pairs.collect(group, n_bits, newcomers, blocks, squares)

    def cost(self, group: Group, n_bits: int) -> Cost:
        """Exact bytes; a power of the key's length is timed here and now."""
        sizes = _Sizes(group, self.key_bits, n_bits)
        steps = [list(step) for step in (sizes.codes(), sizes.sums(), sizes.totals())]
        exchanges = [exchange for step in steps for exchange in step]
        up = sum(exchange.up for exchange in exchanges)
        down = sum(exchange.down for exchange in exchanges)
        seconds = sizes.powers() * _seconds_of_power(self.key_bits)
        return Cost(up, down, sum(map(bool, steps)), seconds)


def _sums_for(left: str, right: str, reply: PaillierSums) -> bytes:
    if left not in reply.sums:
        refuse(right, "paillier.sums", f"sums for site {left}", "none")
    return reply.sums[left]


def _block(
    group: Group,
    pair: Pair,
    n_bits: int,
    codes: PaillierCodes,
    sums: PaillierSums,
    totals: PaillierTotals,
) -> NDArray[np.uint16]:
    """H = T − R for one pair [XCLP §3.2, PHE step 5]: rows are j's points, columns k's."""
    key, size = int.from_bytes(codes.modulus, "big"), len(codes.modulus)
    at_once = slots(key.bit_length(), n_bits)
    if at_once < 1:
        refuse(pair.left, "paillier.codes", "a long key", f"{key.bit_length()} bits")
    n_left, n_right = (group.sizes[name].n_points for name in pair)
    n_bytes = -(-n_left // at_once) * n_right * size
    masked, masks = totals.totals.get(pair.right, b""), sums.masks.get(pair.left, b"")
    if len(masked) != n_bytes:
        refuse(pair.left, "paillier.totals", f"{n_bytes} bytes", f"{len(masked)} bytes")
    if len(masks) != n_bytes:
        refuse(pair.right, "paillier.sums", f"{n_bytes} bytes", f"{len(masks)} bytes")
    block = np.empty((n_left, n_right), dtype=np.uint16)
    values = zip(from_bytes(masked, size), from_bytes(masks, size), strict=True)
    for place, (total, mask) in enumerate(values):
        batch, column = divmod(place, n_right)
        rows = slice(batch * at_once, min(n_left, (batch + 1) * at_once))
        block[rows, column] = _distances(pair, (total - mask) % key, rows.stop - rows.start, n_bits)
    return block


def _distances(pair: Pair, number: int, count: int, n_bits: int) -> NDArray[np.uint16]:
    width = slot_bits(n_bits)
    found = None if number >> (count * width) else split(number, count, width)
    if found is None or found.max() > n_bits:
        expected = f"distances up to {n_bits}"
        refuse(f"{pair.left} or {pair.right}", "paillier.totals", expected, "larger numbers")
    return found


# --- cost


class Exchange(NamedTuple):
    """A request and its reply, in bytes."""

    down: int
    up: int


class _Sizes:
    """The requests and replies of a session in which nobody is lost."""

    def __init__(self, group: Group, key_bits: int, n_bits: int) -> None:
        self.pairs, self.n_bits, self.key_bits = pairs.orient(group), n_bits, key_bits
        self.points = {name: group.sizes[name].n_points for name in group.names}
        self.number = bytes(-(-key_bits // 8))

    def _n_batches(self, left: str) -> int:
        return -(-self.points[left] // slots(self.key_bits, self.n_bits))

    def _codes(self, left: str) -> int:
        ciphertexts = 2 * len(self.number) * self._n_batches(left) * self.n_bits
        return OVERHEAD + len(pack(EncryptedCodes(self.number, b""))) + blank(ciphertexts)

    def _plain(self, left: str, right: str) -> int:
        return len(self.number) * self._n_batches(left) * self.points[right]

    def _sums(self, left: str, right: str) -> int:
        return OVERHEAD + len(pack(EncryptedSums(b""))) + blank(2 * self._plain(left, right))

    def codes(self) -> Iterator[Exchange]:
        for name in {pair.left for pair in self.pairs}:
            yield Exchange(
                weigh("server", PaillierEncrypt(self.key_bits, self.n_bits)),
                weigh(name, PaillierCodes(self.number, b""), blank(self._codes(name))),
            )

    def sums(self) -> Iterator[Exchange]:
        for name in {pair.right for pair in self.pairs}:
            lefts = pairs.lefts(self.pairs, name)
            none = dict.fromkeys(lefts, b"")
            codes = sum(blank(self._codes(left)) for left in lefts)
            more = sum(
                blank(self._sums(left, name)) + blank(self._plain(left, name)) for left in lefts
            )
            yield Exchange(
                weigh("server", PaillierAdd(self.n_bits, none), codes),
                weigh(name, PaillierSums(none, none), more),
            )

    def totals(self) -> Iterator[Exchange]:
        for name, n_points in self.points.items():
            rights = pairs.rights(self.pairs, name)
            none = dict.fromkeys(rights, b"")
            sums = sum(blank(self._sums(name, right)) for right in rights)
            more = sum(blank(self._plain(name, right)) for right in rights)
            more += blank_array("<u2", pairs.n_own(n_points))
            nothing = PaillierTotals(none, np.empty(0, np.uint16))
            yield Exchange(
                weigh("server", PaillierDecrypt(self.n_bits, True, none), sums),
                weigh(name, nothing, more),
            )

    def powers(self) -> float:
        """The work, in powers of the key's length."""
        lefts = {pair.left for pair in self.pairs}
        encrypted = sum(self._n_batches(left) for left in lefts) * self.n_bits
        added = sum(self._n_batches(left) * self.points[right] for left, right in self.pairs)
        products = sum(
            self._n_batches(left) * subset_steps(self.n_bits, self.points[right])
            for left, right in self.pairs
        )  # on one core, and a power is as many products as the key has bits
        return _BY_OWNER * (encrypted + added) + added + products * n_threads() / self.key_bits


@cache
def _seconds_of_power(key_bits: int) -> float:
    """One of those that all cores compute at a time."""
    # an odd modulus that 3 does not divide: powers of a third of it are as long as any
    modulus = (1 << 2 * key_bits) - 159
    started = time.perf_counter()
    powers([modulus // 3] * n_threads(), modulus >> key_bits, modulus)
    return (time.perf_counter() - started) / n_threads()
