"""Paillier's additively homomorphic encryption, with g = 1 + N [Paillier 1999, scheme 1].

A ciphertext is c = (1 + m·N) · r^N mod N². Products of ciphertexts encrypt sums of plaintexts
modulo N. The primes come from OpenSSL's generator of RSA keys, which is reviewed and finds primes
of equal length far apart, as is needed here too. Semi-honest: nothing proves that a peer's N is
a product of two primes. Running times depend on the numbers. Not audited.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
from cryptography.hazmat.primitives.asymmetric import rsa
from numpy.typing import NDArray

from colabel.crypto.big_integers import below, big, from_bytes, powers, subset_products, to_bytes

KEY_BITS = 3072  # 128 bits of security [NIST SP 800-57, part 1, table 2]
WEAKEST_BITS = 2048
_STRONGEST_BITS = 16384  # more would only keep us busy
_SMALL_PRIMES = [n for n in range(2, 1000) if all(n % divisor for divisor in range(2, n))]


def _size(number: int) -> int:
    return (number.bit_length() + 7) // 8


@dataclass(frozen=True)
class PublicKey:
    """What anybody may encrypt with. Keys from a peer are made by `of_peer`, which checks them."""

    modulus: int

    @classmethod
    def of_peer(cls, modulus: bytes, *, weakest_bits: int = WEAKEST_BITS) -> "PublicKey":
        """The key with this N, unless it is obviously weak: then a `ValueError`."""
        number = int.from_bytes(modulus, "big")
        refuse_length(number.bit_length(), weakest_bits)
        if any(number % prime == 0 for prime in _SMALL_PRIMES):
            raise ValueError("the modulus has a small factor: it is no product of two large primes")
        return cls(number)

    @cached_property
    def square(self) -> int:
        """N²: ciphertexts are numbers modulo this."""
        return big((self.modulus**2,))[0]

    @property
    def n_bits(self) -> int:
        """The length of N."""
        return self.modulus.bit_length()

    @property
    def plain_size(self) -> int:
        """How many bytes a plaintext takes."""
        return _size(self.modulus)

    @property
    def cipher_size(self) -> int:
        """How many bytes a ciphertext takes; the same for all keys of this length."""
        return 2 * self.plain_size

    def to_bytes(self) -> bytes:
        """N, for `of_peer`."""
        return self.modulus.to_bytes(self.plain_size, "big")

    def hide(self, values: Sequence[int], residues: Sequence[int]) -> list[int]:
        """The ciphertexts of values, given uniform N-th residues that nobody else knows."""
        return [
            (1 + value % self.modulus * self.modulus) * residue % self.square
            for value, residue in zip(values, residues, strict=True)
        ]

    def residues(self, count: int) -> list[int]:
        """Uniform N-th residues r^N mod N²: the slow part of an encryption."""
        return powers(self._units(count), self.modulus, self.square)

    def _units(self, count: int) -> list[int]:
        units = [unit for unit in below(self.modulus, count, "paillier units") if self._fits(unit)]
        return units if len(units) == count else units + self._units(count - len(units))

    def _fits(self, unit: int) -> bool:
        return gcd(unit, self.modulus) == 1

    def encrypt(self, values: Sequence[int]) -> list[int]:
        """Ciphertexts of values modulo N."""
        return self.hide(values, self.residues(len(values)))

    def add_plain(self, ciphertexts: Sequence[int], values: Sequence[int]) -> list[int]:
        """Add values to what is encrypted, and blind: the results look freshly encrypted."""
        fresh = self.encrypt(values)
        return [a * b % self.square for a, b in zip(ciphertexts, fresh, strict=True)]

    def blind(self, ciphertexts: Sequence[int]) -> list[int]:
        """Encrypt the same again, so that nobody can tell what the ciphertexts were made from."""
        return self.add_plain(ciphertexts, [0] * len(ciphertexts))

    def add(self, left: int, right: int) -> int:
        """A ciphertext of the sum. It shows what it was made from until it is blinded."""
        return left * right % self.square

    def subset_sums(self, ciphertexts: Sequence[int], chosen: NDArray[np.bool_]) -> list[int]:
        """For every row, a ciphertext of the sum of the plaintexts chosen; not blinded."""
        return subset_products(ciphertexts, chosen, self.square)

    def pack(self, ciphertexts: Sequence[int]) -> bytes:
        """Ciphertexts as bytes, all of one size."""
        return to_bytes(ciphertexts, self.cipher_size)

    def unpack(self, data: bytes) -> list[int]:
        """A peer's ciphertexts; a `ValueError` if any cannot be one."""
        if len(data) % self.cipher_size:
            raise ValueError(f"{len(data)} bytes are no ciphertexts of {self.cipher_size} bytes")
        ciphertexts = big(from_bytes(data, self.cipher_size))
        if any(not 0 < number < self.square for number in ciphertexts):
            raise ValueError("a ciphertext is out of range")
        together = big((1,))[0]
        for number in ciphertexts:
            together = together * number % self.modulus
        if gcd(int(together), self.modulus) != 1:
            raise ValueError("a ciphertext shares a factor with the modulus")
        return ciphertexts


@dataclass(frozen=True, repr=False)
class PrivateKey:
    """The two primes of a key: who has them decrypts, and encrypts several times faster."""

    p: int
    q: int

    def __repr__(self) -> str:
        return f"PrivateKey({self.public.n_bits} bits)"

    @cached_property
    def public(self) -> PublicKey:
        """The key for others."""
        return PublicKey(self.p * self.q)

    def residues(self, count: int) -> list[int]:
        """Uniform N-th residues, by the Chinese remainder theorem.

        Modulo p² the N-th residues are the group of order p − 1, and u ↦ u^p mod p² maps the units
        modulo p onto it one to one: half the length of modulus and exponent, twice.
        """
        units = [
            [1 + unit for unit in below(prime - 1, count, "paillier units of a prime")]
            for prime in (self.p, self.q)
        ]
        return self.lift(*units)

    def lift(self, units_p: Sequence[int], units_q: Sequence[int]) -> list[int]:
        """The N-th residues that belong to these units modulo p and modulo q."""
        p2, q2 = big((self.p**2, self.q**2))
        shift = q2 * pow(q2, -1, p2)
        pairs = zip(powers(units_p, self.p, p2), powers(units_q, self.q, q2), strict=True)
        return [(of_q + (of_p - of_q) * shift) % self.public.square for of_p, of_q in pairs]

    def encrypt(self, values: Sequence[int]) -> list[int]:
        """Ciphertexts of values modulo N, distributed as those of `PublicKey.encrypt`."""
        return self.public.hide(values, self.residues(len(values)))

    def decrypt(self, ciphertexts: Sequence[int]) -> list[int]:
        """The plaintexts, 0 … N−1 [Paillier 1999, §7, decryption using Chinese-remaindering]."""
        of_p, of_q = (
            self._modulo(self.p, self.q, ciphertexts),
            self._modulo(self.q, self.p, ciphertexts),
        )
        inverse = pow(self.q, -1, self.p)
        return [
            int(b + self.q * ((a - b) * inverse % self.p)) for a, b in zip(of_p, of_q, strict=True)
        ]

    def _modulo(self, prime: int, other: int, ciphertexts: Sequence[int]) -> list[int]:
        square = prime * prime
        raised = powers([number % square for number in ciphertexts], prime - 1, square)
        factor = pow(-other, -1, prime)  # (1 + N)^(p−1) = 1 − N mod p²
        return [(power - 1) // prime * factor % prime for power in raised]


def refuse_length(n_bits: int, weakest_bits: int) -> None:
    """A `ValueError` if keys of this length can be factored, or would take for ever."""
    if n_bits > _STRONGEST_BITS:
        raise ValueError(f"a modulus of {n_bits} bits is too long: at most {_STRONGEST_BITS} bits")
    if n_bits < weakest_bits:
        raise ValueError(f"a modulus of {n_bits} bits is weak: at least {weakest_bits} bits")


def generate(n_bits: int = KEY_BITS, *, weakest_bits: int = WEAKEST_BITS) -> PrivateKey:
    """A new key; anything below `weakest_bits`, which only tests lower, is refused."""
    refuse_length(n_bits, weakest_bits)
    numbers = rsa.generate_private_key(public_exponent=65537, key_size=n_bits).private_numbers()
    return from_primes(numbers.p, numbers.q, weakest_bits=weakest_bits)


def from_primes(p: int, q: int, *, weakest_bits: int = WEAKEST_BITS) -> PrivateKey:
    """The key with these primes; a `ValueError` if they make none."""
    refuse_length((p * q).bit_length(), weakest_bits)
    if p == q or gcd(p * q, (p - 1) * (q - 1)) != 1:
        raise ValueError("these primes make no key: N and (p − 1)·(q − 1) share a factor")
    return PrivateKey(p, q)
