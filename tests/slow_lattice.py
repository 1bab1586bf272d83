"""Regev's encryption as `lattice` uses it, by Python's integers: slow, obvious, for small sizes.

Bits are lists of rows; n is the dimension, `tile` how many columns of A come from one stream.
"""

from itertools import chain

import slow_lwe as slow

Q = slow.Q


def t_bits(n_bits):
    """The smallest power of two above the longest distance."""
    return next(bits for bits in range(80) if 2**bits > n_bits)


def delta(n_bits):
    return Q // 2 ** t_bits(n_bits)


def kept_bytes(n_bits):
    """Enough for eleven bits below those of t."""
    return next(size for size in range(9) if 8 * size >= t_bits(n_bits) + 11)


def tiles(n_bits, n, tile):
    """First column and number of columns, of A and then of Ā."""
    for first, last in ((0, n_bits), (n_bits, n_bits + n)):
        for start in range(first, last, tile):
            yield start, min(tile, last - start)


def public_matrix(public, n_bits, n, tile):
    """A and Ā beside each other."""
    parts = [
        slow.uniform(public, f"A/{start}", n, width) for start, width in tiles(n_bits, n, tile)
    ]
    return [list(chain(*rows)) for rows in zip(*parts, strict=True)]


def left_noise(seed, n_points, n_bits, n, tile):
    """E and E′ beside each other."""
    parts = [
        slow.noise(seed, f"E/{start}", n_points, width) for start, width in tiles(n_bits, n, tile)
    ]
    return [list(chain(*rows)) for rows in zip(*parts, strict=True)]


def codes(public, seed, bits, n, tile):
    """C and P beside each other."""
    n_points, n_bits = len(bits), len(bits[0])
    masked = slow.product(
        slow.ternary(seed, "S", n_points, n), public_matrix(public, n_bits, n, tile)
    )
    plain = [[delta(n_bits) * (1 - 2 * bit) for bit in row] + [0] * n for row in bits]
    noise = left_noise(seed, n_points, n_bits, n, tile)
    return slow.modulo(slow.plus(masked, noise, plain))


def weights(seed, bits, n):
    """Bᵀ above E₁."""
    turned = [list(column) for column in zip(*bits, strict=True)]
    return turned + slow.ternary(seed, "E1", n, len(bits))


def mixed(public, seed, bits, n, tile):
    """U, not rounded."""
    every = public_matrix(public, len(bits[0]), n, tile)
    noise = slow.noise(seed, "E2", n, len(bits))
    return slow.modulo(slow.plus(slow.product(every, weights(seed, bits, n)), noise))


def flood(seed, label, n_left, n_right, n_bits):
    """Blocks of rows have floods of their own."""
    blocks = max(2, -(-n_left // 256))
    step = -(-n_left // blocks)
    width = 80 - t_bits(n_bits) - 2
    found = []
    for start in range(0, n_left, step):
        n_rows = min(step, n_left - start)
        found += slow.flood(seed, f"flood/{label}/{start}", n_rows, n_right, width)
    return found


def product(seed, label, cipher, bits, mask, n):
    """V, not rounded."""
    n_bits = len(bits[0])
    plain = [[delta(n_bits) * number for number in row] for row in mask]
    hidden = flood(seed, label, len(cipher), len(bits), n_bits)
    return slow.modulo(slow.plus(slow.product(cipher, weights(seed, bits, n)), hidden, plain))


def rounded(numbers, n_bits):
    """As it is sent: whole bytes from the top of each number, least significant first."""
    size = kept_bytes(n_bits)
    return b"".join(slow.top(x, 8 * size).to_bytes(size, "little") for row in numbers for x in row)


def packed(numbers):
    """All low 64 bits, then all high 16 bits."""
    flat = [number.to_bytes(10, "little") for row in numbers for number in row]
    return b"".join(data[:8] for data in flat) + b"".join(data[8:] for data in flat)


def read(data, n_columns, size):
    numbers = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
    return slow.matrix(numbers, len(numbers) // n_columns, n_columns)


def seen(seed, n_points, u, v, n, size):
    """V − S·U as the left site sees it, in units of what was kept."""
    minus = [[-x for x in row] for row in slow.product(slow.ternary(seed, "S", n_points, n), u)]
    return slow.modulo(slow.plus(v, minus), 2 ** (8 * size))


def totals(seed, bits, u, v, n):
    """T: the nearest multiple of Δ, and the own weight."""
    n_bits = len(bits[0])
    size, t = kept_bytes(n_bits), 2 ** t_bits(n_bits)
    unit = 2 ** (8 * size) // t
    found = seen(seed, len(bits), u, v, n, size)
    return [
        [((x + unit // 2) // unit + sum(own)) % t for x in row]
        for row, own in zip(found, bits, strict=True)
    ]


def distance(a, b):
    return sum(x != y for x, y in zip(a, b, strict=True))
