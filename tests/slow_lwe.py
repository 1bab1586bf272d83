"""Slow, obvious versions of noise, flooding and numbers modulo 2^80: Python's integers only.

Matrices are lists of rows; a number modulo 2^80 is 0 … 2^80 − 1.
"""

import struct
from itertools import count

from slow_ciphers import stream

Q = 2**80
LIMB = 2**40


def matrix(numbers, n_rows, n_columns):
    assert len(numbers) == n_rows * n_columns
    return [list(numbers[i * n_columns : (i + 1) * n_columns]) for i in range(n_rows)]


def words(seed, purpose, how_many):
    return struct.unpack(f"<{how_many}Q", stream(seed, purpose, 8 * how_many))


def ternary(seed, purpose, n_rows, n_columns):
    wanted, kept = n_rows * n_columns, []
    for attempt in count():
        raw = stream(seed, f"{purpose}/{attempt}", wanted + wanted // 64 + 64)
        kept += [byte % 3 - 1 for byte in raw if byte != 255]
        if len(kept) >= wanted:
            return matrix(kept[:wanted], n_rows, n_columns)
    return None


def noise(seed, purpose, n_rows, n_columns):
    def one(word):
        coins = [word >> place & 1 for place in range(42)]
        return sum(coins[:21]) - sum(coins[21:])

    drawn = words(seed, purpose, n_rows * n_columns)
    return matrix([one(word) for word in drawn], n_rows, n_columns)


def uniform(seed, purpose, n_rows, n_columns):
    """Two words a number, of which each gives a limb of 40 bits with a sign."""
    size = n_rows * n_columns
    limbs = [(word >> 24) - (LIMB if word >> 63 else 0) for word in words(seed, purpose, 2 * size)]
    numbers = [
        (low + LIMB * high) % Q for low, high in zip(limbs[:size], limbs[size:], strict=True)
    ]
    return matrix(numbers, n_rows, n_columns)


def flood(seed, purpose, n_rows, n_columns, width_bits):
    """Whole numbers with a sign."""
    size = n_rows * n_columns
    drawn = words(seed, purpose, 6 * size)

    def one(place):
        total = -3 * 2 ** (width_bits - 1)
        for which in range(3):
            low = drawn[2 * which * size + place] >> 24
            high = drawn[(2 * which + 1) * size + place] >> (64 - (width_bits - 40))
            total += low + LIMB * high
        return total

    return matrix([one(place) for place in range(size)], n_rows, n_columns)


def product(left, right):
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(r, c, strict=True)) for c in columns] for r in left]


def plus(*matrices):
    return [
        [sum(numbers) for numbers in zip(*rows, strict=True)]
        for rows in zip(*matrices, strict=True)
    ]


def modulo(numbers, modulus=Q):
    return [[number % modulus for number in row] for row in numbers]


def centred(number, modulus=Q):
    """The same number between −modulus/2 and modulus/2."""
    return (number + modulus // 2) % modulus - modulus // 2


def high_limb(number):
    """Of number = high · 2^40 + low with low between −2^39 and 2^39."""
    return (number + LIMB // 2) // LIMB


def top(number, n_bits):
    """The number in units of 2^(80 − n_bits), by way of its high limb."""
    unit = 2 ** (40 - n_bits)
    return (high_limb(number) + unit // 2) // unit % 2**n_bits
