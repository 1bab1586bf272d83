"""The matrix products of `lattice` against Regev's encryption in plain integers, byte for byte."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slow_lattice as slow
import slow_lwe
from colabel.crypto import lwe, wide
from colabel.protocols.hamming import lattice_algebra as algebra
from colabel.randomness import data

KNOWN = json.loads((Path(__file__).parent / "vectors" / "lattice.json").read_text())
NAMES = [known["name"] for known in KNOWN]
PUBLIC, LEFT, RIGHT = (bytes([number]) * 32 for number in (1, 2, 3))


@pytest.fixture
def sized(monkeypatch):
    """Set the dimension, and how many columns of A come at once."""

    def to(dimension, tile=512):
        monkeypatch.setattr(algebra, "N", dimension)
        monkeypatch.setattr(algebra, "_TILE", tile)

    return to


def rows_of(texts):
    return [[int(bit) for bit in text] for text in texts]


def fast(public, seeds, label, bits, mask):
    """C and P, U, V and T, by the code of the library."""
    left, right = (np.array(rows, np.uint8) for rows in bits)
    codes, nothing = algebra.encrypt(public, seeds[0], left, left=True, right=False)
    none, mixed = algebra.encrypt(public, seeds[1], right, left=False, right=True)
    assert nothing == none == b""
    cipher = algebra.read_codes(codes, left.shape[1])
    product = algebra.multiply(seeds[1], label, cipher, right, np.array(mask, np.uint16))
    key = algebra.secret_key(seeds[0], len(left))
    return codes, mixed, product, algebra.decrypt(key, mixed, product, left).tolist()


def by_hand(public, seeds, label, bits, mask, n, tile):
    """The same, by integers."""
    n_bits, n_right = len(bits[0][0]), len(bits[1])
    cipher = slow.codes(public, seeds[0], bits[0], n, tile)
    mixed = slow.rounded(slow.mixed(public, seeds[1], bits[1], n, tile), n_bits)
    product = slow.rounded(slow.product(seeds[1], label, cipher, bits[1], mask, n), n_bits)
    u, v = (slow.read(sent, n_right, slow.kept_bytes(n_bits)) for sent in (mixed, product))
    return slow.packed(cipher), mixed, product, slow.totals(seeds[0], bits[0], u, v, n)


def distances(totals, mask, n_bits):
    t = 2 ** slow.t_bits(n_bits)
    return [
        [(total - r) % t for total, r in zip(*rows, strict=True)]
        for rows in zip(totals, mask, strict=True)
    ]


def true_distances(bits):
    return [[slow.distance(a, b) for b in bits[1]] for a in bits[0]]


@pytest.mark.parametrize("who", ["fast", "by hand"])
@pytest.mark.parametrize("known", KNOWN, ids=NAMES)
def test_known_answers(known, who, sized):
    bits = rows_of(known["left_bits"]), rows_of(known["right_bits"])
    public = bytes.fromhex(known["public"])
    seeds = bytes.fromhex(known["left_seed"]), bytes.fromhex(known["right_seed"])
    what = (public, seeds, known["label"], bits, known["mask"])
    n, tile = known["dimension"], known["tile"]
    sized(n, tile)
    found = fast(*what) if who == "fast" else by_hand(*what, n, tile)
    assert [part.hex() for part in found[:3]] == [known[k] for k in ("codes", "mixed", "product")]
    assert found[3] == known["totals"]
    assert distances(found[3], known["mask"], len(bits[0][0])) == true_distances(bits)


CASES = st.tuples(
    st.integers(1, 4), st.integers(1, 4), st.integers(1, 40), st.integers(1, 20), st.integers(1, 30)
)


@settings(max_examples=25, deadline=None)
@given(CASES, st.integers(0, 2**32))
def test_any_small_size_by_hand(case, seed):
    n_left, n_right, n_bits, n, tile = case
    rng = data(seed, "lattice")
    bits = [rng.integers(0, 2, (count, n_bits)).tolist() for count in (n_left, n_right)]
    mask = rng.integers(0, 2 ** slow.t_bits(n_bits), (n_left, n_right)).tolist()
    seeds = [rng.bytes(32) for _ in range(3)]
    what = (seeds[0], seeds[1:], "peer/x", bits, mask)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algebra, "N", n)
        patch.setattr(algebra, "_TILE", tile)
        found = fast(*what)
    assert found == by_hand(*what, n, tile)
    assert distances(found[3], mask, n_bits) == true_distances(bits)


def test_many_rows_have_blocks_of_their_own(sized):
    """More than 512 points: three blocks, whatever the number of cores."""
    sized(3)
    rng = data(0, "rows")
    bits = [rng.integers(0, 2, (count, 5)).tolist() for count in (515, 1)]
    mask = [[number % 8] for number in range(515)]
    what = (PUBLIC, (LEFT, RIGHT), "peer/x", bits, mask)
    assert fast(*what) == by_hand(*what, 3, 512)


def test_both_roles_in_one_pass_are_the_same(sized):
    sized(20, 16)
    bits = data(1, "roles").integers(0, 2, (3, 40)).astype(np.uint8)
    both = algebra.encrypt(PUBLIC, LEFT, bits, left=True, right=True)
    codes, _ = algebra.encrypt(PUBLIC, LEFT, bits, left=True, right=False)
    _, mixed = algebra.encrypt(PUBLIC, LEFT, bits, left=False, right=True)
    assert both == (codes, mixed)


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_number_of_cores_changes_nothing(cores, sized, monkeypatch):
    sized(20, 16)
    bits = data(2, "cores").integers(0, 2, (2, 3, 40)).tolist()
    what = (PUBLIC, (LEFT, RIGHT), "peer/x", bits, [[1, 2, 3]] * 3)
    monkeypatch.setattr(algebra, "n_threads", lambda: cores)
    assert fast(*what) == by_hand(*what, 20, 16)


def test_the_real_dimension_column_by_column():
    """All rows of a few columns of C and P, and H, with n = 3072."""
    rng = data(3, "real")
    bits = rng.integers(0, 2, (2, 2, 600)).astype(np.uint8)
    codes, _ = algebra.encrypt(PUBLIC, LEFT, bits[0], left=True, right=False)
    cipher = algebra.read_codes(codes, 600)
    key = lwe.ternary(LEFT, "S", 2, algebra.N).tolist()
    for column in (0, 511, 512, 599, 600, 1111, 1112, 600 + algebra.N - 1):
        tiles = slow.tiles(600, algebra.N, 512)
        start, width = next(tile for tile in tiles if tile[0] <= column < sum(tile))
        block = wide.uniform(PUBLIC, f"A/{start}", algebra.N, width, np.empty(2 * algebra.N * 512))
        at = column - start
        ours = [
            [(int(low) + slow_lwe.LIMB * int(high))]
            for low, high in zip(block.low[:, at], block.high[:, at], strict=True)
        ]
        noise = lwe.noise(LEFT, f"E/{start}", 2, width)[:, at].tolist()
        plain = bits[0][:, column].tolist() if column < 600 else [0.5, 0.5]
        for row, (mine, error, bit) in enumerate(
            zip(slow_lwe.product(key, ours), noise, plain, strict=True)
        ):
            wanted = (mine[0] + error + int(1 - 2 * bit) * slow.delta(600)) % slow.Q
            sent = int(cipher.low[row, column]) | int(cipher.high[row, column]) << 64
            assert sent == wanted
    mask = rng.integers(0, 1024, (2, 2)).tolist()
    *_, found = fast(PUBLIC, (LEFT, RIGHT), "peer/x", bits.tolist(), mask)
    assert distances(found, mask, 600) == true_distances(bits.tolist())


@pytest.mark.parametrize("n_bits", [1, 2, 7, 4095, 4096, 65_535])
def test_how_numbers_are_scaled(n_bits):
    plain = algebra.scale(n_bits)
    assert 2**plain.t_bits > n_bits
    assert plain.t_bits == slow.t_bits(n_bits)
    assert 2**plain.delta_bits == slow.delta(n_bits)
    assert plain.kept_bytes == slow.kept_bytes(n_bits)
    assert plain.kept_bytes * 8 - plain.t_bits >= 11


@given(st.integers(0, 3), st.integers(0, 60), st.integers(1, 12))
def test_only_whole_rows_of_codes_are_read(n_rows, more, n_bits):
    width = n_bits + algebra.N
    found = algebra.read_codes(bytes(10 * width * n_rows + more), n_bits)
    if n_rows and more == 0:
        assert found.low.shape == found.high.shape == (n_rows, width)
    else:
        assert found is None


def test_products_of_another_size_are_malformed(sized):
    sized(20)
    bits = np.zeros((3, 40), np.uint8)
    _, mixed = algebra.encrypt(PUBLIC, RIGHT, bits[:2], left=False, right=True)
    key, size = algebra.secret_key(LEFT, 3), slow.kept_bytes(40)
    right = bytes(3 * 2 * size)
    assert algebra.decrypt(key, mixed, right, bits).shape == (3, 2)
    for product in (b"", right[:-1], right + bytes(1), right + bytes(3 * size), right[: 3 * size]):
        assert algebra.decrypt(key, mixed, product, bits) is None
    for other in (b"", mixed[:-1], mixed + bytes(20 * size)):
        assert algebra.decrypt(key, other, right, bits) is None


@given(st.lists(st.integers(0, 2**24 - 1), max_size=10), st.integers(3, 5))
def test_numbers_as_bytes(numbers, size):
    sent = algebra.to_bytes(np.array(numbers, np.int64), size)
    assert sent == b"".join(number.to_bytes(size, "little") for number in numbers)
    assert algebra.from_bytes(sent, size).tolist() == numbers
