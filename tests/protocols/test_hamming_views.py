"""Every protected way: what each party sees is uniform, and alike for different codes.

Each test has broken variants of the protocol, with one part switched off, that it must catch.
"""

import numpy as np
import pytest
from scipy.stats import binom, chisquare
from sessions import Consortium, RecordingEngine
from telling import flaws
from views import N_BITS, codes_of, replies, views
from ways import PROTECTED

from colabel.crypto import lwe, ot_extension, wide
from colabel.crypto import paillier as crypto
from colabel.crypto.prg import stream
from colabel.crypto.wide import Wide
from colabel.protocols.channels import EVERYBODY, unseal_bytes
from colabel.protocols.hamming import dealer, lattice, ot_values, paillier, sketch
from colabel.protocols.hamming import lattice_algebra as algebra
from colabel.wire import digest


def both(way, kinds, monkeypatch):
    """What the server's view shows, and what the sites' views show."""
    one, other = (views(way, kind, monkeypatch) for kind in kinds)
    return flaws(one[0], other[0]), flaws(one[1], other[1])


@pytest.mark.parametrize("kinds", [("zeros", "ones"), ("random", "zeros")])
@pytest.mark.parametrize("way", PROTECTED)
def test_nobody_sees_anything(way, kinds, monkeypatch):
    assert both(way, kinds, monkeypatch) == (set(), set())


def constant(n_bytes):
    return bytes(range(n_bytes))


def nothing(seed, peer, n_left, n_right, n_bits):
    return np.zeros((n_left, n_right), np.uint16)


def same_for_all(draw):
    return lambda seed, peer, *sizes: draw(seed, "anybody", *sizes)


def no_flood(seed, purpose, n_rows, n_columns, width_bits):
    return Wide.zeros(n_rows, n_columns)


def narrow(flood):
    return lambda *sizes: flood(*sizes[:-1], sizes[-1] - 1)


def same_flood(flood):
    return lambda seed, purpose, *sizes: flood(bytes(32), "anything", *sizes)


def same_for_m_and_n(uniform):
    return lambda seed, purpose, *shape: uniform(seed, "N" if purpose == "M" else purpose, *shape)


def no_w(uniform):
    return lambda seed, purpose, *shape: uniform(seed, purpose, *shape) * np.uint16(purpose != "W")


def no_pair_mask(site, peer, shown, n_left, n_right):
    return np.zeros((n_left, n_right), np.uint16)


def one_pair_mask(site, peer, shown, n_left, n_right):
    raw = stream(bytes(32), "always", 2 * n_left * n_right)
    return np.frombuffer(raw, "<u2").reshape(n_left, n_right)


def no_mask(site, n_bytes):
    return np.zeros(n_bytes, np.uint8)


def short_mask(mask):
    return lambda site, n_bytes: np.resize(mask(site, 1), n_bytes)


def constant_mask(site, purpose, n_bytes):
    return stream(bytes(32), purpose, n_bytes)


def one_pad(correct):
    """The second pad is left away: right, who has the first, would see b."""

    def broken(cipher, rows, bits, first, sums):
        true, calls = ot_values._pads, []

        def pads(*given):
            calls.append(None)
            found = true(*given)
            return found if len(calls) % 2 else np.zeros_like(found)

        ot_values._pads = pads
        try:
            return correct(cipher, rows, bits, first, sums)
        finally:
            ot_values._pads = true

    return broken


def without_block_numbers(tweak):
    def broken(rows, first, blocks):
        for block in range(blocks.shape[1]):
            tweak(rows, first, blocks[:, block : block + 1])

    return broken


def units_of_one(key, count):
    return [1] * count


def one_unit_for_all(residues):
    return lambda key, count: residues(key, 1) * count


def same_masks(below):
    return lambda bound, count, purpose: below(bound, 1, purpose) * count


UNMASKED = {"X − W", "Y − W + M·N"}

# the way; what is broken and how; what the server and the sites must see of it
BROKEN = {
    "lattice: R = 0": ("lattice", lattice, "draw", lambda _: nothing, {"R", "T"}, set()),
    "lattice: one R for all peers": ("lattice", lattice, "draw", same_for_all, {"R"}, set()),
    "lattice: constant seeds": (
        "lattice",
        lattice,
        "secret",
        lambda _: constant,
        {"R"},
        {"C", "P"},
    ),
    "lattice: no flooding": ("lattice", algebra, "flood", lambda _: no_flood, set(), {"flood"}),
    "lattice: little flooding": ("lattice", algebra, "flood", narrow, set(), {"flood"}),
    "lattice: one flood for all": ("lattice", algebra, "flood", same_flood, set(), {"flood"}),
    "dealer: dealt twice": ("dealer", dealer, "secret", lambda _: constant, set(), {"shown"}),
    "dealer: M = N": ("dealer", dealer, "uniform", same_for_m_and_n, set(), {"shown"}),
    "dealer: no W": ("dealer", dealer, "uniform", no_w, set(), {"D·N + W"}),
    "dealer: no mask": (
        "dealer",
        dealer,
        "_pair_mask",
        lambda _: no_pair_mask,
        {"X − W", "Y − W + M·N"},
        set(),
    ),
    "dealer: one mask": (
        "dealer",
        dealer,
        "_pair_mask",
        lambda _: one_pair_mask,
        {"X − W", "Y − W + M·N"},
        set(),
    ),
    "sketch: no mask": ("sketch", sketch, "mask", lambda _: no_mask, {"code"}, set()),
    "sketch: short mask": ("sketch", sketch, "mask", short_mask, {"code"}, set()),
    "sketch: same mask always": (
        "sketch",
        sketch,
        "group_stream",
        lambda _: constant_mask,
        {"code"},
        set(),
    ),
    "ot: one pad": ("ot", ot_values, "correct", one_pad, set(), {"values ± pad"}),
    "ot: hash without numbers": (
        "ot",
        ot_extension,
        "_tweak",
        without_block_numbers,
        set(),
        {"values"},
    ),
    "paillier: r = 1": (
        "paillier",
        crypto.PrivateKey,
        "residues",
        lambda _: units_of_one,
        set(),
        {"codes"},
    ),
    "paillier: one r": (
        "paillier",
        crypto.PrivateKey,
        "residues",
        one_unit_for_all,
        set(),
        {"codes modulo N"},
    ),
    "paillier: not blinded": (
        "paillier",
        crypto.PublicKey,
        "residues",
        lambda _: units_of_one,
        set(),
        {"sums modulo N"},
    ),
    "paillier: one R": ("paillier", paillier, "below", same_masks, {"R", "T"}, set()),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_variant_is_caught(what, monkeypatch):
    way, place, name, broken, at_server, at_sites = BROKEN[what]
    monkeypatch.setattr(place, name, broken(getattr(place, name)))
    server, sites = both(way, ("zeros", "ones"), monkeypatch)
    assert at_server <= server, server
    assert at_sites <= sites, sites


def noise_of(site, reply):
    """E, which hides the codes in C: what is left when whoever knows S and B takes them out."""
    n_bits = N_BITS["lattice"]
    data = unseal_bytes(site, site.name, "lattice codes", reply.codes, receiver=EVERYBODY)
    total = wide.unpack(algebra.read_codes(data, n_bits)).columns(slice(0, n_bits))
    total.low[:], total.high[:] = -total.low, -total.high
    public = bytes.fromhex(digest(f"{site.session} lattice".encode()))
    block = wide.uniform(public, "A/0", algebra.N, n_bits, np.empty(2 * algebra.N * n_bits))
    key = algebra.secret_key(site.recall(lattice.Secrets).seed, len(site.codes()))
    wide.add_product(key, block, total)
    bits = np.unpackbits(site.codes(), axis=1, count=n_bits)
    total.high[:] += 2.0 ** (algebra.scale(n_bits).delta_bits - wide.LIMB_BITS) * (1.0 - 2.0 * bits)
    total.fold()
    return -(total.low + total.high * 2.0**wide.LIMB_BITS)


def is_noise(values):
    """Whether these are differences of two sums of 21 coins."""
    edges = np.arange(-6, 8)
    counts = np.bincount(np.searchsorted(edges, values.reshape(-1), side="right"), minlength=15)
    below = binom.cdf(edges + lwe.ETA - 1, 2 * lwe.ETA, 0.5)
    shares = np.diff(np.concatenate([[0.0], below, [1.0]]))
    return chisquare(counts, shares * counts.sum()).pvalue > 1e-9


@pytest.mark.parametrize("broken", [None, "none", "too little"])
def test_noise_hides_the_codes(broken, monkeypatch):
    noise = lwe.noise
    if broken == "none":
        monkeypatch.setattr(lwe, "noise", lambda *given: np.zeros_like(noise(*given)))
    if broken == "too little":
        monkeypatch.setattr(lwe, "noise", lambda *given: noise(*given) // 2)
    talk = Consortium(codes_of("lattice", "random"), engine=RecordingEngine)
    talk.distances("lattice", N_BITS["lattice"])
    found = [
        noise_of(talk.engine.sessions[name], reply)
        for name, _, reply in replies(talk, lattice.Encrypted)
    ]
    assert is_noise(np.stack(found)) == (broken is None)
