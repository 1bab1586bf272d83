"""Messages and states as bytes: msgpack with NumPy arrays, checked on the way in. No pickle."""

import hashlib
import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import msgspec
import numpy as np

from colabel.conversation import Message
from colabel.errors import RemoteProtocolError

FORMAT = 1
SESSION_LENGTH = 32
_DTYPES = frozenset(
    {"|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8"}
)

_MALFORMED = (msgspec.MsgspecError, ValueError, TypeError)

Thing = TypeVar("Thing")
Refuse = Callable[[str, str, str], NoReturn]


class Envelope(msgspec.Struct, frozen=True):
    """A message with where it belongs: session, step number, sender."""

    session: str
    step: int
    sender: str
    kind: str
    body: memoryview
    format: int = FORMAT


def _array_out(thing: Any) -> Any:
    if not isinstance(thing, np.ndarray):
        raise TypeError(f"{type(thing).__name__} cannot travel")
    plain = np.ascontiguousarray(thing)
    return plain.dtype.str, plain.shape, plain.reshape(-1).view(np.uint8).data


def _array_in(kind: type, raw: Any) -> Any:
    if kind is not np.ndarray:
        raise TypeError(f"{kind.__name__} cannot travel")
    dtype, shape, data = msgspec.convert(raw, tuple[str, tuple[int, ...], bytes])
    if dtype not in _DTYPES:
        raise ValueError(f"array of forbidden type {dtype!r}")
    if any(size < 0 for size in shape):
        raise ValueError(f"array of impossible shape {shape}")
    if math.prod(shape) * np.dtype(dtype).itemsize != len(data):
        raise ValueError(f"array of shape {shape} and type {dtype} with {len(data)} bytes")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


_encoder = msgspec.msgpack.Encoder(enc_hook=_array_out)


def pack(thing: Any) -> bytes:
    """A struct, with its arrays, as bytes."""
    return _encoder.encode(thing)


def unpack(data: bytes | memoryview, kind: type[Thing]) -> Thing:
    """A struct of a known type from bytes; arrays are read-only views of them."""
    return msgspec.msgpack.decode(data, type=kind, dec_hook=_array_in)


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def seal_in(
    session: str, step: int, sender: str, message: Message, body: bytes | None = None
) -> bytes:
    """A message in its envelope, as bytes; `body` is the message, if it was packed before."""
    packed = pack(message) if body is None else body
    return pack(Envelope(session, step, sender, type(message).__name__, memoryview(packed)))


def open_envelope(data: bytes, *, site: str, step: str) -> tuple[Envelope, Message]:
    """The envelope and the message in it; anything malformed is the sender's fault."""

    def refuse(rule: str, expected: str, got: str) -> NoReturn:
        raise RemoteProtocolError(rule, site=site, step=step, expected=expected, got=got)

    try:
        envelope = unpack(data, Envelope)
    except _MALFORMED as error:
        refuse("malformed envelope", "an envelope", str(error))
    if envelope.format != FORMAT:
        refuse("other wire format", f"format {FORMAT}", f"format {envelope.format}")
    return envelope, read_message(envelope.kind, envelope.body, refuse)


def open_reply(data: bytes, session: str, number: int, *, site: str, step: str) -> Message:
    """A site's reply to what was asked; one of another session, step or sender is refused."""
    envelope, message = open_envelope(data, site=site, step=step)
    expected = (session, number, site)
    got = (envelope.session, envelope.step, envelope.sender)
    if got != expected:
        raise RemoteProtocolError(
            "a reply from elsewhere", site=site, step=step, expected=repr(expected), got=repr(got)
        )
    return message


def read_message(kind: str, body: bytes | memoryview, refuse: Refuse) -> Message:
    """A message of this kind; an unknown kind or a malformed body is refused."""
    known = Message.kinds.get(kind)
    if known is None:
        refuse("unknown message", "a known kind of message", repr(kind))
    try:
        return unpack(body, known)
    except _MALFORMED as error:
        refuse("malformed message", kind, str(error))


def weigh(sender: str, message: Message, more: int = 0) -> int:
    """How many bytes a message takes in its envelope (in the first 128 steps of a session).

    `more`: how many bytes its fields lack that were left empty (see `blank`, `blank_array`).
    """
    envelope = Envelope("0" * SESSION_LENGTH, 0, sender, type(message).__name__, memoryview(b""))
    return len(pack(envelope)) + blank(len(pack(message)) + more)


def blank(n: int) -> int:
    """How many bytes a byte string of this length takes more than an empty one."""
    return n + (0 if n < 2**8 else 1 if n < 2**16 else 3)


def blank_array(dtype: str, *shape: int) -> int:
    """How many bytes an array of this shape takes more than an empty one of as many dimensions."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    return len(pack(shape)) - len(pack((0,) * len(shape))) + blank(n_bytes)
