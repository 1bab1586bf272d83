"""Slow, obvious versions of what oblivious transfer is made of: integers and bytes only.

They follow RFC 8032 (the curve) and FIPS 197 (AES).
"""

import hashlib
import struct

from slow_ciphers import stream

# --- the curve

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
NEUTRAL = (0, 1)


def add(a, b):
    product = D * a[0] * b[0] * a[1] * b[1]
    x = (a[0] * b[1] + a[1] * b[0]) * pow(1 + product, -1, P)
    y = (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, P)
    return x % P, y % P


def negative(a):
    return -a[0] % P, a[1]


def times(scalar, point):
    total = NEUTRAL
    for bit in bin(scalar)[2:]:
        total = add(total, total)
        if bit == "1":
            total = add(total, point)
    return total


def encoded(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def decoded(data):
    number = int.from_bytes(data, "little")
    y, odd = number & (2**255 - 1), number >> 255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert (x * x - square) % P == 0
    return (x if x & 1 == odd else P - x), y


BASE = decoded((4 * pow(5, -1, P) % P).to_bytes(32, "little"))

# --- the cipher


def product(a, b):
    total = 0
    while b:
        total ^= a if b & 1 else 0
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return total


def substituted(byte):
    inverse = next((x for x in range(256) if product(byte, x) == 1), 0)
    turned = [(inverse << i | inverse >> (8 - i)) & 0xFF for i in range(5)]
    return turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63


BOX = [substituted(byte) for byte in range(256)]


def round_keys(key):
    words, constant = [list(key[i : i + 4]) for i in range(0, 16, 4)], 1
    for i in range(4, 44):
        last = list(words[-1])
        if i % 4 == 0:
            last = [BOX[b] for b in (*last[1:], last[0])]
            last[0] ^= constant
            constant = product(constant, 2)
        words.append([x ^ y for x, y in zip(words[i - 4], last, strict=True)])
    return [[byte for word in words[i : i + 4] for byte in word] for i in range(0, 44, 4)]


def aes(key, block):
    keys = round_keys(key)
    state = [x ^ k for x, k in zip(block, keys[0], strict=True)]
    for number in range(1, 11):
        state = [BOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < 10:
            state = [
                product(state[c + r], 2)
                ^ product(state[c + (r + 1) % 4], 3)
                ^ state[c + (r + 2) % 4]
                ^ state[c + (r + 3) % 4]
                for c in range(0, 16, 4)
                for r in range(4)
            ]
        state = [x ^ k for x, k in zip(state, keys[number], strict=True)]
    return bytes(state)


# --- oblivious transfer


def scalars(seed, count):
    wide = stream(seed, "base ot scalars", 64 * count)
    return [int.from_bytes(wide[i : i + 64], "little") % ORDER for i in range(0, 64 * count, 64)]


def base_key(tag, number, offered, point, shared):
    text = b"colabel/base ot" + struct.pack(">I", len(tag)) + tag + struct.pack(">I", number)
    return hashlib.sha256(text + encoded(offered) + encoded(point) + encoded(shared)).digest()


def base_transfers(tag, sender_seed, receiver_seed, choices):
    """The offer, the points, the keys chosen and both keys of each."""
    a = scalars(sender_seed, 1)[0]
    offered, points, chosen, both = times(a, BASE), [], [], []
    for number, (choice, b) in enumerate(
        zip(choices, scalars(receiver_seed, len(choices)), strict=True)
    ):
        point = add(times(b, BASE), offered) if choice else times(b, BASE)
        points.append(encoded(point))
        chosen.append(base_key(tag, number, offered, point, times(b, offered)))
        both.append(
            tuple(
                base_key(tag, number, offered, point, times(a, shifted))
                for shifted in (point, add(point, negative(offered)))
            )
        )
    return encoded(offered), points, chosen, both


def bits_of(data):
    return [byte >> (7 - i) & 1 for byte in data for i in range(8)]


def as_bytes(bits):
    padded = [*bits, *[0] * (-len(bits) % 8)]
    return bytes(
        sum(bit << (7 - i) for i, bit in enumerate(padded[j : j + 8]))
        for j in range(0, len(padded), 8)
    )


def column(key, first, count):
    return bits_of(stream(key, f"ot column/{first}", -(-count // 8)))


def extended(pairs, choices, first):
    """The receiver's columns u, as bytes, and its rows t."""
    zeros = [column(pair[0], first, len(choices)) for pair in pairs]
    ones = [column(pair[1], first, len(choices)) for pair in pairs]
    padded = [*choices, *[0] * (-len(choices) % 8)]
    sent = b"".join(
        as_bytes([x ^ y ^ c for x, y, c in zip(zero, one, padded, strict=True)])
        for zero, one in zip(zeros, ones, strict=True)
    )
    return sent, [as_bytes([zero[i] for zero in zeros]) for i in range(len(choices))]


def plus(a, b):
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def pad(key, row, number, n_blocks):
    """π(π(x) ⊕ tweak) ⊕ π(x), block by block."""
    once = aes(key, row)
    return b"".join(
        plus(aes(key, plus(once, struct.pack("<QQ", number, block))), once)
        for block in range(n_blocks)
    )
