"""Arithmetic with integers of thousands of bits, by gmpy2 where it is installed.

Python's own integers give the same results, about ten times slower. Running times depend on the
numbers: whoever can time this process may learn about them. Not audited.
"""

import importlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.crypto import prg
from colabel.machine import n_threads
from colabel.randomness import secret

_SPARE_BYTES = 16  # a remainder of that many bytes more is uniform to 2^-128


def _find_gmpy2() -> ModuleType | None:
    try:
        return importlib.import_module("gmpy2")
    except ImportError:
        return None


gmpy2: Any = _find_gmpy2()


def big(numbers: Iterable[int]) -> list[int]:
    """The numbers as the fastest type at hand, which works as int does."""
    return [gmpy2.mpz(number) for number in numbers] if gmpy2 else list(numbers)


def powers(bases: Sequence[int], exponent: int, modulus: int) -> list[int]:
    """Every base to the exponent, on all cores if gmpy2 is there."""
    if gmpy2 is None:
        return [pow(base, exponent, modulus) for base in bases]
    step = max(1, -(-len(bases) // n_threads()))
    exponent, modulus = big((exponent, modulus))

    def part(start: int) -> list[int]:
        return gmpy2.powmod_base_list(big(bases[start : start + step]), exponent, modulus)

    with ThreadPoolExecutor(n_threads()) as pool:  # gmpy2 lets go of the interpreter meanwhile
        return [power for some in pool.map(part, range(0, len(bases), step)) for power in some]


def subset_products(factors: Sequence[int], chosen: NDArray[np.bool_], modulus: int) -> list[int]:
    """For every row of `chosen`, the product of the factors it chooses.

    Factors are taken a few at a time: the products of all their subsets are made once, and every
    row picks one of them.
    """
    n_rows = len(chosen)
    width = _subset_width(n_rows)
    modulus = big((modulus,))[0]
    products = big([1] * n_rows)
    for start in range(0, len(factors), width):
        table = big((1,))
        for factor in factors[start : start + width]:
            table += [product * factor % modulus for product in table]
        bits = chosen[:, start : start + width]
        for row, subset in enumerate((bits @ (1 << np.arange(bits.shape[1]))).tolist()):
            if subset:
                products[row] = products[row] * table[subset] % modulus
    return products


def _subset_width(n_rows: int) -> int:
    return min(range(1, 17), key=lambda bits: (2**bits + n_rows) / bits)


def subset_steps(n_factors: int, n_rows: int) -> int:
    """How many multiplications `subset_products` takes, at most."""
    width = _subset_width(n_rows)
    return -(-n_factors // width) * (2**width + n_rows)


def below(bound: int, count: int, purpose: str) -> list[int]:
    """Secret uniform numbers 0 … bound−1."""
    size = (bound.bit_length() + 7) // 8 + _SPARE_BYTES
    stream = prg.stream(secret(prg.SEED_BYTES), purpose, size * count)
    return [number % bound for number in from_bytes(stream, size)]


def from_bytes(data: bytes, size: int) -> list[int]:
    """Numbers of `size` bytes each, most significant byte first."""
    return [
        int.from_bytes(data[start : start + size], "big") for start in range(0, len(data), size)
    ]


def to_bytes(numbers: Iterable[int], size: int) -> bytes:
    """The reverse of `from_bytes`."""
    return b"".join(int(number).to_bytes(size, "big") for number in numbers)
