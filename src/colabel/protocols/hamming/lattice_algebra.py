"""The matrix products of `lattice`, and its parameters, on arrays and bytes. Not audited."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel.crypto import lwe, wide
from colabel.crypto.flooding import flood, log_distance
from colabel.crypto.wide import Q_BITS, Floats, Wide
from colabel.errors import InputError, Problem
from colabel.machine import in_threads, n_threads
from colabel.protocols.hamming.pairs import Matrix, modulus

N = lwe.DIMENSION
LEAST_LOG = -40.0
_TILE = 512  # columns of A at once
_SPARE_BITS = 11  # of U and V, below those of t
_MOST_BYTES = 2**31

Bits = NDArray[np.uint8]


class Scale(NamedTuple):
    """How a number modulo t stands in one modulo q."""

    t_bits: int

    @property
    def delta_bits(self) -> int:
        """log₂ Δ."""
        return Q_BITS - self.t_bits

    @property
    def flood_bits(self) -> int:
        """Three uniform numbers below Δ/4 stay within ⅜Δ of 0, so Δ/8 is left for the rest."""
        return self.delta_bits - 2

    @property
    def kept_bytes(self) -> int:
        """Of each number of U and V."""
        return -(-(self.t_bits + _SPARE_BITS) // 8)


def scale(n_bits: int) -> Scale:
    """For codes of this length."""
    return Scale(modulus(n_bits).bit_length() - 1)


def check(n_bits: int, n_points: Mapping[str, int]) -> None:
    """Refuse a session in which flooding or decryption could fail more often than 2^-40."""
    lwe.check(N, Q_BITS)
    total = sum(n_points.values())
    for name, own in n_points.items():
        worst = max(log_leak(own * (total - own), n_bits), log_failure(own * (total - own), n_bits))
        if worst > LEAST_LOG:
            what = f"{total:,} points with codes of {n_bits} bits are too many to hide in one run"
            raise InputError(Problem(what, "Use shorter codes, or fewer points.", name))


def log_leak(n_pairs: int, n_bits: int) -> float:
    """log₂ of the statistical distance by which V − S·U can tell two codes of a site apart.

    What flooding hides is E·b + E′·e₁ − S·e₂. From one (b, e₁, e₂) to another it differs by a
    number whose variance is at most σ² (L + 4n/3 + 4n/3).
    """
    variance = lwe.SIGMA**2 * (n_bits + 8 / 3 * N)
    return log_distance(n_pairs, variance, scale(n_bits).flood_bits)


def log_failure(n_pairs: int, n_bits: int) -> float:
    """log₂ of the probability that any of these decryptions is wrong.

    S times the rounding errors of U is sub-Gaussian with variance at most ⅔ · n / 4 (S is ternary,
    an error at most ½); the smaller noise takes at most one unit, and V's own rounding another.
    """
    units = 2.0 ** (8 * scale(n_bits).kept_bytes - scale(n_bits).t_bits - 3)  # Δ/8, in roundings
    exponent = (units - 2) ** 2 / (2 * 2 / 3 * N / 4)
    return math.log2(max(n_pairs, 1)) + 1 - exponent / math.log(2)


def encrypt(
    public: bytes, seed: bytes, bits: Bits, *, left: bool, right: bool
) -> tuple[bytes | bytearray, bytes]:
    """C and P, and U, as bytes [XCLP §3.2, PHE step 1]; one pass over A and Ā for both."""
    n_points, n_bits = bits.shape
    plain = scale(n_bits)
    key = secret_key(seed, n_points) if left else np.empty((0, N))
    weights = mixing(seed, bits) if right else np.empty((n_bits + N, 0))
    tiles = _tiles(n_bits)
    data = bytearray(10 * len(key) * (n_bits + N))
    codes = _views(data, n_bits + N)

    def work(tiles: list[slice]) -> Wide:
        mixed, memory = Wide.zeros(N, weights.shape[1]), np.empty(2 * N * _TILE)
        room = np.empty(2 * max(len(key) * _TILE, N * weights.shape[1]))
        for at in tiles:
            block = wide.uniform(public, f"A/{at.start}", N, at.stop - at.start, memory)
            if left:
                part = encrypted_tile(seed, key, block, bits, at, room)
                codes.low[:, at], codes.high[:, at] = wide.pack(part)
            if right:
                wide.add_product(block, weights[at], mixed, room)
        return mixed

    found = in_threads(work, [tiles[i :: n_threads()] for i in range(n_threads())])
    mixed = found[0]
    for part in found[1:]:
        wide.add(part, mixed)
    np.add(mixed.low, lwe.noise(seed, "E2", *mixed.shape), out=mixed.low)
    shown = wide.top(mixed.fold(), 8 * plain.kept_bytes)
    return data, to_bytes(shown, plain.kept_bytes)


def _tiles(n_bits: int) -> list[slice]:
    """Columns of A, then of Ā; a tile never holds both."""
    starts = [*range(0, n_bits, _TILE), *range(n_bits, n_bits + N, _TILE)]
    stops = [*(min(s + _TILE, n_bits if s < n_bits else n_bits + N) for s in starts)]
    return [slice(a, b) for a, b in zip(starts, stops, strict=True)]


def encrypted_tile(
    seed: bytes, key: Floats, block: Wide, bits: Bits, at: slice, memory: Floats
) -> Wide:
    """S·A + E + Δ·(1 − 2B) for some columns; without the last term for those of Ā."""
    n_bits = bits.shape[1]
    part = Wide.zeros(len(bits), at.stop - at.start)
    part.low[:] = lwe.noise(seed, f"E/{at.start}", *part.shape)
    if at.start < n_bits:
        unit = 2.0 ** (scale(n_bits).delta_bits - wide.LIMB_BITS)
        part.high[:] = unit * (1.0 - 2.0 * bits[:, at])
    wide.add_product(key, block, part, memory)
    return part


def secret_key(seed: bytes, n_points: int) -> Floats:
    """S."""
    return lwe.ternary(seed, "S", n_points, N).astype(np.float64)


def mixing(seed: bytes, bits: Bits) -> Floats:
    """Bᵀ above E₁: what A and Ā, and C and P, are multiplied with."""
    n_points, n_bits = bits.shape
    weights = np.empty((n_bits + N, n_points))
    weights[:n_bits], weights[n_bits:] = bits.T, lwe.ternary(seed, "E1", N, n_points)
    return weights


def read_codes(data: bytes, n_bits: int) -> wide.Packed | None:
    """C and P from bytes; None if these are not whole rows of them."""
    n_columns = n_bits + N
    n_rows, rest = divmod(len(data), 10 * n_columns)
    if rest or not n_rows:
        return None
    return _views(data, n_columns)


def _views(data: bytes | bytearray, n_columns: int) -> wide.Packed:
    """All lower 64 bits, then all upper 16."""
    count = len(data) // 10
    low = np.frombuffer(data, "<u8", count).reshape(-1, n_columns)
    return wide.Packed(low, np.frombuffer(data, "<u2", offset=8 * count).reshape(-1, n_columns))


def multiply(seed: bytes, label: str, cipher: wide.Packed, bits: Bits, mask: Matrix) -> bytes:
    """V = C·Bᵀ + P·E₁ + flood + Δ·R, rounded [XCLP §3.2, PHE step 2]."""
    plain, weights = scale(bits.shape[1]), mixing(seed, bits)
    n_rows = len(cipher.low)
    step = -(-n_rows // max(2, -(-n_rows // 256)))

    def work(start: int) -> NDArray[np.int64]:
        rows = slice(start, min(start + step, n_rows))
        block = wide.unpack(wide.Packed(cipher.low[rows], cipher.high[rows]))
        shape = (rows.stop - rows.start, len(bits))
        total = flood(seed, f"flood/{label}/{start}", *shape, plain.flood_bits)
        total.high[:] += mask[rows] * 2.0 ** (plain.delta_bits - wide.LIMB_BITS)
        wide.add_product(block, weights, total)
        return wide.top(total, 8 * plain.kept_bytes)

    return to_bytes(np.concatenate(in_threads(work, range(0, n_rows, step))), plain.kept_bytes)


def decrypt(key: Floats, mixed: bytes, product: bytes, bits: Bits) -> Matrix | None:
    """T = ⌊(V − S·U) / Δ⌉ + weight of B (mod t) [XCLP §3.2, PHE step 4]; None if malformed."""
    n_points, n_bits = bits.shape
    plain = scale(n_bits)
    n_kept = plain.kept_bytes
    n_columns, rest = divmod(len(product), n_points * n_kept)
    if rest or not n_columns or len(mixed) != N * n_columns * n_kept:
        return None
    u = from_bytes(mixed, n_kept).reshape(N, n_columns).astype(np.float64)
    v = from_bytes(product, n_kept).reshape(n_points, n_columns)
    parts = in_threads(lambda rows: rows @ u, np.array_split(key, n_threads()))
    found = v - np.concatenate(parts).astype(np.int64)
    spare = 8 * n_kept - plain.t_bits
    inner = (found + (1 << (spare - 1))) >> spare
    weight = bits.sum(axis=1, dtype=np.int64)
    total = (inner + weight[:, None]) & (modulus(n_bits) - 1)
    return total.astype(np.uint16)


def to_bytes(numbers: NDArray[np.int64], n_bytes: int) -> bytes:
    """Little-endian, so many bytes each."""
    raw = np.ascontiguousarray(numbers.astype("<i8")).view(np.uint8).reshape(-1, 8)
    return raw[:, :n_bytes].tobytes()


def from_bytes(data: bytes, n_bytes: int) -> NDArray[np.int64]:
    """Back again."""
    raw = np.zeros((len(data) // n_bytes, 8), dtype=np.uint8)
    raw[:, :n_bytes] = np.frombuffer(data, dtype=np.uint8).reshape(-1, n_bytes)
    return raw.view("<i8").reshape(-1)
