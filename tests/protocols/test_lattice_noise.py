"""What noise a left site sees in `lattice`: that flooding hides it, and never spoils a result."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

import slow_lattice as slow
from colabel.crypto import lwe, wide
from colabel.errors import InputError
from colabel.protocols.hamming import lattice
from colabel.protocols.hamming import lattice_algebra as algebra
from colabel.randomness import data

PUBLIC, LEFT, RIGHT = (bytes([number]) * 32 for number in (1, 2, 3))
N_BITS, N_LEFT, N_RIGHT = 4096, 12, 12
UNIT_BITS = 80 - 24  # of the bits of U and V, 24 are kept


def draw_bits(seed=0, n_bits=N_BITS):
    rng = data(seed, "lattice noise")
    return rng.integers(0, 2, (2, N_LEFT, n_bits)).astype(np.uint8)


def ciphers(bits, left=LEFT, right=RIGHT):
    codes, _ = algebra.encrypt(PUBLIC, left, bits[0], left=True, right=False)
    _, mixed = algebra.encrypt(PUBLIC, right, bits[1], left=False, right=True)
    return algebra.read_codes(codes, bits.shape[2]), mixed


@pytest.fixture(scope="module")
def session():
    bits = draw_bits()
    return bits, *ciphers(bits)


def noise_seen(bits, mixed, product, mask):
    """V − S·U without what it means, in units of what was kept, as the left site can compute it."""
    n_bits = bits.shape[2]
    size = slow.kept_bytes(n_bits)
    u = algebra.from_bytes(mixed, size).reshape(algebra.N, N_RIGHT)
    v = algebra.from_bytes(product, size).reshape(N_LEFT, N_RIGHT)
    found = v - algebra.secret_key(LEFT, N_LEFT).astype(np.int64) @ u
    inner = (1 - 2 * bits[0].astype(np.int64)) @ bits[1].T.astype(np.int64) + mask
    whole = 2 ** (8 * size)
    unit = whole >> slow.t_bits(n_bits)
    return (found - unit * inner + whole // 2) % whole - whole // 2


def below(x):
    """The distribution of a sum of three uniform numbers, −1.5 … 1.5."""
    inner = 0.5 + 0.75 * x - x**3 / 3
    outer = np.where(x < 0, (1.5 + x) ** 3 / 6, 1 - (1.5 - x) ** 3 / 6)
    return np.where(np.abs(x) < 0.5, inner, np.where(x < -1.5, 0, np.where(x > 1.5, 1, outer)))


def noise_is_flooded(session, seeds=4):
    """Whether V − S·U is spread as wide as flooding should spread it."""
    bits, cipher, mixed = session
    mask = np.zeros((N_LEFT, N_RIGHT), np.uint16)
    seen = [
        noise_seen(bits, mixed, algebra.multiply(RIGHT, f"a/{i}", cipher, bits[1], mask), mask)
        for i in range(seeds)
    ]
    width = 2.0 ** (algebra.scale(N_BITS).flood_bits - UNIT_BITS)
    return kstest(np.concatenate(seen).reshape(-1) / width, below).pvalue > 1e-6


def test_the_noise_is_flooded(session):
    assert noise_is_flooded(session)


def scaled(flood, by):
    whole = np.rint((flood.low + flood.high * 2.0**40) * by)
    return wide.Wide(whole % 2.0**40, whole // 2.0**40).fold()


@pytest.mark.parametrize("by", [0.0, 0.1, 0.5])
def test_no_flood_and_too_little_flood_are_caught(session, monkeypatch, by):
    true = algebra.flood
    monkeypatch.setattr(algebra, "flood", lambda *what: scaled(true(*what), by))
    assert not noise_is_flooded(session)


def test_the_noise_is_the_flood_and_roundings_within_the_bound(session):
    """What is left after the flood: S times the roundings of U, a number of variance ⅔ · n / 12."""
    bits, cipher, mixed = session
    mask = np.arange(N_LEFT * N_RIGHT, dtype=np.uint16).reshape(N_LEFT, N_RIGHT)
    product = algebra.multiply(RIGHT, "a/x", cipher, bits[1], mask)
    hidden = np.array(slow.flood(RIGHT, "a/x", N_LEFT, N_RIGHT, N_BITS), dtype=object)
    seen = noise_seen(bits, mixed, product, mask.astype(np.int64))
    rest = seen - (hidden / 2**UNIT_BITS).astype(float)
    wanted = 2 / 3 * algebra.N / 12
    stated = 2 / 3 * algebra.N / 4
    assert abs(rest.var() / wanted - 1) < 6 * np.sqrt(2 / rest.size)
    assert rest.var() < stated
    eighth = 2 ** (24 - 13 - 3)
    assert np.abs(rest).max() < eighth - 2
    assert np.abs(seen).max() < 4 * eighth


def exact_noise(monkeypatch, n_bits, seeds, n):
    """V − S·U before anything is rounded, without flood; and what it should be."""
    kept, true = [], wide.top
    patches = {
        "N": n,
        "flood": lambda seed, purpose, rows, columns, width: wide.Wide.zeros(rows, columns),
        "in_threads": lambda work, items: [work(item) for item in items],  # blocks in order
    }
    for name, value in patches.items():
        monkeypatch.setattr(algebra, name, value)
    monkeypatch.setattr(wide, "top", lambda *what: kept.append(what[0]) or true(*what))
    bits = draw_bits(9, n_bits)
    cipher, _ = ciphers(bits, *seeds)
    mask = np.zeros((N_LEFT, N_RIGHT), np.uint16)
    algebra.multiply(seeds[1], "a/x", cipher, bits[1], mask)
    nothing, u, *blocks = [
        part.low.astype(int).astype(object) + 2**40 * part.high.astype(int).astype(object)
        for part in kept
    ]
    assert nothing.size == 0  # a site that is left only has no U
    key = lwe.ternary(seeds[0], "S", N_LEFT, n).astype(object)
    found = np.concatenate(blocks) - key @ u
    plain = slow.delta(n_bits) * ((1 - 2 * bits[0].astype(object)) @ bits[1].T.astype(object))
    exact = [[int(x + slow.Q // 2) % slow.Q - slow.Q // 2 for x in row] for row in found - plain]
    parts = [lwe.noise(seeds[0], f"E/{at}", N_LEFT, w) for at, w in slow.tiles(n_bits, n, 512)]
    weights = np.concatenate([bits[1].T, lwe.ternary(seeds[1], "E1", n, N_RIGHT)]).astype(int)
    e2 = lwe.noise(seeds[1], "E2", n, N_RIGHT).astype(int)
    return np.array(exact), np.concatenate(parts, axis=1) @ weights - key.astype(int) @ e2


def test_the_noise_that_flooding_hides_has_the_variance_of_the_formula(monkeypatch):
    """Exactly E·b + E′·e₁ − S·e₂, and as large as `log_leak` says, over 30 sessions."""
    n_bits, n, squares, differences, last = 100, 60, [], [], None
    for number in range(30):
        seeds = bytes([number]) * 32, bytes([number + 100]) * 32
        found, wanted = exact_noise(monkeypatch, n_bits, seeds, n)
        np.testing.assert_array_equal(found, wanted)
        monkeypatch.undo()
        squares.append((found.astype(float) ** 2).mean())
        differences.append((np.diff(found, axis=1).astype(float) ** 2).mean())
        last = found
    assert last.shape == (N_LEFT, N_RIGHT)
    # half of the bits are set, and half of those of two points differ; all are, at worst
    one, two = (lwe.SIGMA**2 * (n_bits / 2 + share * n) for share in (4 / 3, 8 / 3))
    assert abs(np.mean(squares) / one - 1) < 0.1
    assert abs(np.mean(differences) / two - 1) < 0.1
    assert np.mean(differences) < lwe.SIGMA**2 * (n_bits + 8 / 3 * n)


def fake_site(codes, n_bits):
    secrets = lattice.Secrets(RIGHT, bytes(32), n_bits)
    return SimpleNamespace(
        name="right", session="0", codes=lambda: codes, recall=lambda kind: secrets, refuse=None
    )


def floods_differ(session, monkeypatch):
    """Whether two ciphertexts of one peer get two floods: the site knows nothing of the other."""
    bits, _, mixed = session
    monkeypatch.setattr(lattice, "unseal_bytes", lambda site, peer, what, data, **to: data)
    monkeypatch.setattr(lattice, "seal_bytes", lambda site, peer, what, data: data)
    site = fake_site(np.packbits(bits[1], axis=1), N_BITS)
    mask = lattice.draw(bytes(32), "left", N_LEFT, N_RIGHT, N_BITS).astype(np.int64)
    seen = []
    for what in (0, 1):
        ours = np.stack([bits[0] ^ what, bits[1]])
        codes, _ = algebra.encrypt(PUBLIC, LEFT, ours[0], left=True, right=False)
        twice = [
            lattice.multiply(site, lattice.Multiply({"left": codes})).products["left"]
            for _ in range(2)
        ]
        assert twice[0] == twice[1]  # a site that was restarted says the same again
        seen.append(noise_seen(ours, mixed, twice[0], mask))
    return (seen[0] - seen[1]).std() > 2.0 ** (algebra.scale(N_BITS).flood_bits - UNIT_BITS) / 2


def test_two_ciphertexts_of_a_peer_get_two_floods(session, monkeypatch):
    assert floods_differ(session, monkeypatch)


def test_one_flood_for_two_ciphertexts_is_caught(session, monkeypatch):
    monkeypatch.setattr(lattice, "digest", lambda data: "the same")
    assert not floods_differ(session, monkeypatch)


def test_peers_and_places_get_floods_and_masks_of_their_own(session):
    bits, cipher, _ = session
    mask = np.zeros((N_LEFT, N_RIGHT), np.uint16)
    a, b = (algebra.multiply(RIGHT, f"{p}/x", cipher, bits[1], mask) for p in ("a", "b"))
    rows = {a[i : i + 3 * N_RIGHT] for i in range(0, len(a), 3 * N_RIGHT)}
    assert a != b
    assert len(rows) == N_LEFT
    drawn = [lattice.draw(bytes(32), peer, 50, 50, N_BITS) for peer in ("a", "b")]
    assert (drawn[0] != drawn[1]).mean() > 0.99


def looks_uniform(numbers):
    return chisquare(np.bincount(np.frombuffer(numbers, np.uint8), minlength=256)).pvalue > 1e-9


def all_look_uniform():
    """Whether C, U and V of two very different codes look like nothing at all."""
    sent = []
    for value in (0, 1):
        bits = np.full((2, N_LEFT, 200), value, np.uint8)
        cipher, mixed = ciphers(bits)
        mask = lattice.draw(bytes(32), "left", N_LEFT, N_RIGHT, 200)
        product = algebra.multiply(RIGHT, "a/x", cipher, bits[1], mask)
        sent += [cipher.low.tobytes(), cipher.high.tobytes(), mixed, product]
    return all(looks_uniform(part) for part in sent)


def test_what_is_sent_looks_uniform():
    assert all_look_uniform()


@pytest.mark.parametrize("forgotten", ["S", "E1"])
def test_a_forgotten_secret_is_caught(monkeypatch, forgotten):
    true = lwe.ternary
    monkeypatch.setattr(lwe, "ternary", lambda s, p, *n: true(s, p, *n) * (p != forgotten))
    if forgotten == "E1":  # with no bits set, nothing of A is left
        bits = np.zeros((2, N_LEFT, 200), np.uint8)
        assert not looks_uniform(ciphers(bits)[1])
    assert not all_look_uniform()


# --- the bounds


@pytest.mark.parametrize("n_bits", [1, 7, 127, 128, 1024, 4096, 8191, 8192, 32_767, 65_535])
def test_both_bounds_hold_for_sites_of_500_points(n_bits):
    assert algebra.log_leak(500 * 500, n_bits) <= algebra.LEAST_LOG == -40
    assert algebra.log_failure(500 * 500, n_bits) <= -40
    algebra.check(n_bits, {"a": 500, "b": 500})
    algebra.check(n_bits, {f"site {i}": 500 for i in range(5)})


def test_the_bounds_by_hand():
    """½ · √I · √(pairs · variance) / W, and 2 · pairs · exp(−room² / (2 · variance))."""
    room = 2**24 / 2**13 / 8 - 2
    variance = 10.5 * (4096 + 8 / 3 * 3072)
    leak = 0.5 * math.sqrt(4.56207) * math.sqrt(250_000 * variance) / 2**65
    failure = 2 * 250_000 * math.exp(-(room**2) / (2 * 2 / 3 * 3072 / 4))
    assert algebra.log_leak(250_000, 4096) == pytest.approx(math.log2(leak), abs=1e-4)
    assert algebra.log_failure(250_000, 4096) == pytest.approx(math.log2(failure), abs=1e-4)
    assert leak < 2**-47
    assert failure < 2**-71


@pytest.mark.parametrize(
    "sizes", [{"a": 100_000, "b": 100_000}, {"tiny": 1, "huge": 10**12}, {"b": 10**6, "a": 10**6}]
)
def test_too_many_points_are_refused_by_name(sizes):
    assert max(algebra.log_leak(n * (sum(sizes.values()) - n), 4096) for n in sizes.values()) > -40
    with pytest.raises(InputError, match="are too many to hide in one run") as refusal:
        algebra.check(4096, sizes)
    assert [problem.site for problem in refusal.value.problems] == [next(iter(sizes))]
    assert f"{sum(sizes.values()):,} points with codes of 4096 bits" in str(refusal.value)


def test_fewer_points_or_shorter_codes_help():
    with pytest.raises(InputError):
        algebra.check(65_535, {"a": 10_000, "b": 10_000})
    algebra.check(65_535, {"a": 500, "b": 500})
    algebra.check(4096, {"a": 10_000, "b": 10_000})


@pytest.mark.parametrize(("dimension", "q_bits"), [(2048, 80), (3071, 80), (3072, 81), (1024, 64)])
def test_parameters_that_are_not_in_the_table_are_refused(monkeypatch, dimension, q_bits):
    monkeypatch.setattr(algebra, "N", dimension)
    monkeypatch.setattr(algebra, "Q_BITS", q_bits)
    with pytest.raises(InputError, match=rf"n = {dimension} and q = 2\^{q_bits} is not known"):
        algebra.check(4096, {"a": 2, "b": 2})


@pytest.mark.parametrize("n", [2**14, 2**15, 2**16])
def test_failures_are_as_rare_as_stated_where_they_can_be_seen(monkeypatch, n):
    """Dimensions so large that S times the largest roundings, ±½, often leaves its room."""
    monkeypatch.setattr(algebra, "N", n)
    draws = 200_000
    ups, downs, _ = data(n, "failures").multinomial(n, [1 / 3] * 3, draws).T
    rate = (np.abs(ups - downs) / 2 > 2**8 - 2).mean()
    bound = 2.0 ** algebra.log_failure(1, 4096)
    assert rate <= bound
    assert bound < 20 * max(rate, 1 / draws)


def test_a_rounded_ternary_number_is_as_sub_gaussian_as_stated():
    """E exp(x·s) ≤ exp(x² · ⅔ / 2), for the rounding ±½ as for any smaller one."""
    x = np.linspace(0, 40, 4001)
    assert (1 / 3 + 2 / 3 * np.cosh(x) <= np.exp(x**2 / 3) * (1 + 1e-12)).all()
