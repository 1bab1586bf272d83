"""Slow, obvious versions of what keys, streams and seals are made of: integers and bytes only.

They follow RFC 5869 (HKDF), RFC 8439 (ChaCha20, Poly1305) and RFC 7748 (X25519).
"""

import hashlib
import hmac
import struct

# --- keys


def hkdf(secret, info, salt=b"", n_bytes=32):
    fixed = hmac.new(salt or bytes(32), secret, hashlib.sha256).digest()
    found, last = b"", b""
    while len(found) < n_bytes:
        last = hmac.new(fixed, last + info + bytes([len(found) // 32 + 1]), hashlib.sha256).digest()
        found += last
    return found[:n_bytes]


# --- the stream


def rotated(word, by):
    return (word << by | word >> (32 - by)) & 0xFFFFFFFF


def chacha_block(key, counter, nonce=bytes(12)):
    start = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key)]
    start += [counter, *struct.unpack("<3I", nonce)]
    now = list(start)
    columns = [(i, i + 4, i + 8, i + 12) for i in range(4)]
    diagonals = [(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)]
    for _ in range(10):
        for a, b, c, d in columns + diagonals:
            for into, other, target, by in (
                (a, b, d, 16),
                (c, d, b, 12),
                (a, b, d, 8),
                (c, d, b, 7),
            ):
                now[into] = (now[into] + now[other]) & 0xFFFFFFFF
                now[target] = rotated(now[target] ^ now[into], by)
    return struct.pack("<16I", *((x + y) & 0xFFFFFFFF for x, y in zip(start, now, strict=True)))


def key_stream(key, first, nonce, n_bytes):
    blocks = range(first, first + -(-n_bytes // 64))
    return b"".join(chacha_block(key, i, nonce) for i in blocks)[:n_bytes]


def stream(seed, purpose, n_bytes):
    return key_stream(hkdf(seed, f"colabel/{purpose}".encode()), 0, bytes(12), n_bytes)


# --- the seal


def plus(a, b):
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for start in range(0, len(message), 16):
        block = message[start : start + 16] + b"\x01"
        total = (total + int.from_bytes(block, "little")) * r % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def aead(key, nonce, content, bound):
    """The content encrypted, and its tag [RFC 8439, 2.8]."""
    hidden = plus(content, key_stream(key, 1, nonce, len(content)))
    padded = b"".join(part + bytes(-len(part) % 16) for part in (bound, hidden))
    lengths = struct.pack("<QQ", len(bound), len(hidden))
    return hidden + poly1305(chacha_block(key, 0, nonce)[:32], padded + lengths)


def sealed(shared, label, content, salt):
    key = hkdf(shared, b"colabel/sealing/" + label, salt)
    return salt + aead(key, bytes(12), content, label)


# --- agreement

P = 2**255 - 19


def x25519(secret, point):
    """The Montgomery ladder [RFC 7748, 5]."""
    scalar = int.from_bytes(secret, "little") & ~7 & (2**254 - 1) | 2**254
    x = int.from_bytes(point, "little") & (2**255 - 1)
    near, far = (1, 0), (x, 1)
    for place in reversed(range(255)):
        bit = scalar >> place & 1
        near, far = (far, near) if bit else (near, far)
        near, far = ladder(x, near, far)
        near, far = (far, near) if bit else (near, far)
    return (near[0] * pow(near[1], -1, P) % P if near[1] else 0).to_bytes(32, "little")


def ladder(x, near, far):
    """Twice `near`, and `near` plus `far`, whose difference is x."""
    plus_near, minus_near = near[0] + near[1], near[0] - near[1]
    plus_far, minus_far = far[0] + far[1], far[0] - far[1]
    a, b = plus_near**2 % P, minus_near**2 % P
    one, other = minus_far * plus_near, plus_far * minus_near
    doubled = (a * b % P, (a - b) * (a + 121665 * (a - b)) % P)
    return doubled, ((one + other) ** 2 % P, x * (one - other) ** 2 % P)


def public_of(secret):
    return x25519(secret, bytes([9]) + bytes(31))


def agreed(secret, peer, context):
    first, second = sorted((public_of(secret), peer))
    return hkdf(x25519(secret, peer), b"colabel/agreement/" + first + second + context)
