"""What the server sees in a run, and what the sites see, all of them together.

A server's view is made of recorded messages; a site's is what it unseals of them. What a party
can subtract because it made or holds it itself is subtracted: that is where masks must hold.
"""

import numpy as np
from paillier_talk import WeakPaillier
from sessions import Consortium, RecordingEngine
from telling import Seen, octets

from colabel.crypto.big_integers import from_bytes
from colabel.protocols import channels
from colabel.protocols.channels import EVERYBODY, unseal, unseal_bytes, unseal_for_all
from colabel.protocols.hamming import WAYS, dealer, lattice, ot_values, paillier
from colabel.protocols.hamming import lattice_algebra as algebra
from colabel.protocols.hamming.ot import OtParcels, OtSums
from colabel.protocols.hamming.pairs import modulus
from colabel.protocols.hamming.sketch import Sketch

N_BITS = {"lattice": 63, "dealer": 64, "sketch": 16_384, "ot": 63, "paillier": 20}
SIZES = {
    "lattice": (32,) * 4,
    "dealer": (32,) * 4,
    "sketch": (2, 2),
    "ot": (32,) * 4,
    "paillier": (1, 24),
}


def codes_of(way, kind):
    """Codes that are all 0, all 1, or random."""
    rng = np.random.default_rng(0)
    codes = {}
    for number, n in enumerate(SIZES[way]):
        bits = rng.integers(0, 2, (n, N_BITS[way])).astype(np.uint8)
        bits = bits if kind == "random" else np.full_like(bits, kind == "ones")
        codes[f"site-{number}"] = np.packbits(bits, axis=1)
    return codes


def views(way, kind, monkeypatch):
    """The server's view and the sites'."""
    with monkeypatch.context() as patch:
        patch.setitem(WAYS, "paillier", WeakPaillier)
        heard = Heard(patch)
        talk = Consortium(codes_of(way, kind), engine=RecordingEngine)
        talk.distances(way, N_BITS[way])
    return OF[way](talk, heard)


def replies(talk, kind):
    """The messages of this kind that sites sent, with what they were asked."""
    return [(name, m, reply) for _, name, m, reply in talk.engine.messages if type(reply) is kind]


# --- lattice


def of_lattice(talk, _heard):
    width = modulus(N_BITS["lattice"]).bit_length() - 1
    server, sites, mixed = {}, {}, {}
    for name, _, reply in replies(talk, lattice.Encrypted):
        server[f"sealed/C/{name}"] = octets(reply.codes)
        server[f"sealed/U/{name}"] = octets(reply.mixed)
        site = talk.engine.sessions[name]
        data = unseal_bytes(site, name, "lattice codes", reply.codes, receiver=EVERYBODY)
        cipher = algebra.read_codes(data, N_BITS["lattice"])
        for part, at in (("C", slice(0, N_BITS["lattice"])), ("P", slice(-64, None))):
            low = cipher.low[:, at]
            sites[f"{part}/low/{name}"] = Seen(low & 0xFFFF, 16)
            sites[f"{part}/middle/{name}"] = Seen(low >> np.uint64(48), 16)
            sites[f"{part}/high/{name}"] = Seen(cipher.high[:, at], 16)
        mixed[name] = unseal_bytes(site, name, "lattice mixed", reply.mixed, receiver=EVERYBODY)
        sites[f"U/{name}"] = Seen(
            algebra.from_bytes(mixed[name], 3).reshape(algebra.N, -1)[:64], 24
        )
    for right, _, reply in replies(talk, lattice.Multiplied):
        for left, sealed in reply.products.items():
            server[f"sealed/V/{left}/{right}"] = octets(sealed)
            R = lattice.draw(reply.seed, left, 32, 32, N_BITS["lattice"])
            server[f"R/{left}/{right}"] = Seen(R, width, (left, right))
            v, flood = opened(talk.engine.sessions[left], right, mixed[right], sealed)
            sites[f"V/{left}/{right}"] = Seen(v, 24, (left, right))
            sites[f"flood/{left}/{right}"] = Seen(flood, 4)
    for left, _, reply in replies(talk, lattice.Decrypted):
        for right, T in reply.totals.items():
            server[f"T/{left}/{right}"] = Seen(T, width, (left, right))
    return server, sites


def opened(site, right, mixed, sealed):
    """V, and the noise that left finds in V − S·U, as the share of flooding that is below it."""
    data = unseal_bytes(site, right, "lattice product", sealed)
    v = algebra.from_bytes(data, 3).reshape(32, 32)
    u = algebra.from_bytes(mixed, 3).reshape(algebra.N, 32)
    key = algebra.secret_key(site.recall(lattice.Secrets).seed, 32).astype(np.int64)
    spare = 24 - algebra.scale(N_BITS["lattice"]).t_bits
    noise = ((v - key @ u + (1 << (spare - 1))) & ((1 << spare) - 1)) / (1 << spare) - 0.5
    return v, np.minimum(share_of_three(4 * noise + 1.5) * 16, 15).astype(np.int64)


def share_of_three(x):
    """The distribution function of the sum of three uniform numbers in [0, 1]."""
    x = np.clip(x, 0, 3)
    parts = [sign * np.maximum(x - k, 0) ** 3 for k, sign in enumerate((1, -3, 3, -1))]
    return sum(parts) / 6


# --- dealer


def of_dealer(talk, _heard):
    n_bits, server, sites, shown, seeds = N_BITS["dealer"], {}, {}, {}, {}
    for name, asked, reply in replies(talk, dealer.Masked):
        seeds[name] = asked.seed
        for part, sealed in (("left", reply.as_left), ("right", reply.as_right)):
            server[f"sealed/{part}/{name}"] = octets(sealed)
            site = talk.engine.sessions[name]
            data = unseal_bytes(site, name, f"dealer {part}", sealed, receiver=EVERYBODY)
            shown[part, name] = np.frombuffer(data, "<u2").reshape(-1, n_bits)
            sites[f"shown/{part}/{name}"] = Seen(shown[part, name], 16)
    for name, asked, reply in replies(talk, dealer.Compared):
        for right, X in reply.as_left.items():
            dealt = dealer.uniform(asked.seeds[right], "W", *X.shape)
            server[f"X/{name}/{right}"] = Seen(X, 16, (name, right))
            server[f"X − W/{name}/{right}"] = Seen(X - dealt, 16, (name, right))
        for left, Y in reply.as_right.items():
            rest = asked.corrections[left]
            server[f"Y/{left}/{name}"] = Seen(Y, 16, (left, name))
            M, N = (
                dealer.uniform(seeds[who], x, 32, n_bits) for who, x in ((left, "M"), (name, "N"))
            )
            taken = Y - rest + dealer.product(M, N)
            server[f"Y − W + M·N/{left}/{name}"] = Seen(taken, 16, (left, name))
            sites[f"W/{left}/{name}"] = Seen(rest, 16, (left, name))
            product = dealer.product(shown["left", left], N)
            sites[f"D·N + W/{left}/{name}"] = Seen(rest + product, 16, (left, name))
    return server, sites


# --- sketch


def of_sketch(talk, _heard):
    """The first point's masked code: all others differ from it as the points do."""
    (_, _, first), *_ = replies(talk, Sketch)
    return {"code": Seen(first.codes[:1], 8)}, {}


# --- oblivious transfer


class Heard:
    """What is sealed in parcels, and what right makes of a value by its own pads."""

    def __init__(self, monkeypatch):
        self.sites = {}
        self.seal, self.take_in = channels.seal_bytes, ot_values.take_in
        monkeypatch.setattr(channels, "seal_bytes", self._seal)
        monkeypatch.setattr(ot_values, "take_in", self._take_in)

    def _seal(self, site, to, purpose, content):
        for kind in ("columns", "values"):
            if purpose.startswith(f"ot {kind}"):
                self.sites[f"{kind}/{site.name}/{to}"] = octets(content)
        return self.seal(site, to, purpose, content)

    def _take_in(self, cipher, rows, choices, packed, first, n_bits, sums):
        n_values, width = sums.shape[1], ot_values.width_of(n_bits)
        pads = ot_values._pads(cipher, rows, first, n_values)[:, :n_values].astype(np.int64)
        values, lanes = ot_values._blank(len(rows), n_values)
        ot_values._unpack(packed.view(np.uint16).reshape(width, -1), width, lanes)
        taken = values + np.where(choices[:, None], 1, -1) * pads
        name = f"values ± pad/{len(self.sites)}"
        self.sites[name] = Seen(taken[:500] & ((1 << width) - 1), width)
        self.take_in(cipher, rows, choices, packed, first, n_bits, sums)


def of_ot(talk, heard):
    width, server = ot_values.width_of(N_BITS["ot"]), {}
    for name, _, reply in replies(talk, OtSums):
        for right, R in reply.lefts.items():
            server[f"R/{name}/{right}"] = Seen(R, width, (name, right))
        for left, T in reply.rights.items():
            server[f"T/{left}/{name}"] = Seen(T, width, (left, name))
    for number, (name, _, reply) in enumerate(replies(talk, OtParcels)):
        for to, parcel in reply.parcels.items():
            if len(parcel) > 4096:
                server[f"sealed/{number}/{name}/{to}"] = octets(parcel)
    return server, heard.sites


# --- paillier


def of_paillier(talk, _heard):
    server, sites = {}, {}
    (left, _, codes), *_ = replies(talk, paillier.PaillierCodes)
    (right, _, sums), *_ = replies(talk, paillier.PaillierSums)
    totals = next(r for name, _, r in replies(talk, paillier.PaillierTotals) if name == left)
    size = len(codes.modulus)
    pair, N = (left, right), int.from_bytes(codes.modulus, "big")
    server["R"] = Seen(low(sums.masks[left], size), 8, pair)
    server["T"] = Seen(low(totals.totals[right], size), 8, pair)
    server["sealed/codes"] = octets(codes.codes)
    server["sealed/sums"] = octets(sums.sums[left])
    site, other = talk.engine.sessions[left], talk.engine.sessions[right]
    held = unseal_for_all(other, left, "paillier codes", codes.codes, paillier.EncryptedCodes)
    added = unseal(site, right, "paillier sums", sums.sums[left], paillier.EncryptedSums)
    for kind, data in (("codes", held.ciphertexts), ("sums", added.ciphertexts)):
        sites[kind] = Seen(low(data, 2 * size), 8)
        residues = [c % N for c in from_bytes(data, 2 * size)]
        sites[f"{kind} modulo N"] = Seen(low(paillier.to_bytes(residues, size), size), 8)
    return server, sites


def low(data, size):
    """Numbers of `size` bytes, one per row, without their highest bytes, which are not uniform."""
    return np.frombuffer(data, np.uint8).reshape(-1, size)[:, 16:][:, :200]


OF = {
    "lattice": of_lattice,
    "dealer": of_dealer,
    "sketch": of_sketch,
    "ot": of_ot,
    "paillier": of_paillier,
}
