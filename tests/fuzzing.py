"""Messages that nobody should send: every field changed, by its type.

    tape = record(engine, conversation)               # one honest run over a TapingEngine
    probe(tape, exchange, changed(exchange.request, random))       # to a site, in the right state
    hear(conversation, tape, exchange, changed(exchange.reply, random))     # to the server

`random` comes from hypothesis: `@given(random=st.randoms(use_true_random=False))`. `probe` and
`hear` fail unless what they send is refused or answered cleanly; whatever else is raised comes
through. Fields that hold packed structs are entered. `changed` answers `(kind, body)`.
"""

from collections import Counter
from typing import NamedTuple

import msgspec
import numpy as np

from colabel.conversation import Message
from colabel.engines.local import LocalEngine
from colabel.errors import InputError, RemoteProtocolError, SitesLost
from colabel.wire import Envelope, open_envelope, pack, read_message, seal_in

INTS = (-1, 0, 1, 2, 7, 255, 256, 2**16, 2**20, 2**62, 2**63 - 1, -(2**63), 2**64 - 1)
FLOATS = (float("nan"), float("inf"), float("-inf"), 0.0, -1.0, 1e-320, 1e308, 2.0**53)
TEXTS = ("", "*", "nobody", "site-0", "site-1", "\0", "x" * 1000, "ü", "rows", "public", "wide")
DTYPES = ("|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8", "|O")
THINGS = (None, True, 0, -1, 1.5, "nobody", b"", b"\xc1", [], {}, [0], {"site-0": 0}, [[[]]])


class Taped(NamedTuple):
    """One exchange of an honest run, and the site's state before it."""

    step: str
    number: int
    name: str
    saved: bytes
    request: Message
    reply: Message


class TapingEngine(LocalEngine):
    """Keeps every exchange."""

    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self.tape = []

    def _exchange(self, name, step, number, message):
        saved = self.sessions[name].save()
        reply = super()._exchange(name, step, number, message)
        if reply is not None:
            self.tape.append(Taped(step, number, name, saved, message, reply))
        return reply


def record(engine, conversation):
    """Run a conversation over a `TapingEngine`; the exchanges."""
    engine.run(conversation)
    return engine.tape


def probe(engine, taped, kind, body):
    """Send this to the site instead of what it was sent; whether it answered."""
    own = engine.identities[taped.name]
    session = type(engine.sessions[taped.name]).load(
        engine.sessions[taped.name].site, engine.role, own, engine.roster, taped.saved
    )
    data = pack(Envelope(engine._session, taped.number, "server", kind, body))
    try:
        answer = session.receive(data)
    except (RemoteProtocolError, InputError) as refusal:
        assert_hides(secrets_of(session), str(refusal))
        true = seal_in(engine._session, taped.number, "server", taped.request)
        _, reply = open_envelope(session.receive(true), site="server", step=taped.step)
        assert type(reply) is type(taped.reply), "the refused message changed the site's state"
        assert len(pack(reply)) == len(pack(taped.reply))
        return False
    open_envelope(answer, site="server", step=taped.step)
    return True


def hear(conversation, tape, lie, kind, body, *, traceable=True):
    """Let the server hear the tape, but this in place of one reply; whether it went on.

    `traceable`: an error must name the site that lied.
    """
    try:
        false = read_message(kind, body, _refuse)
    except RemoteProtocolError:
        return False  # the engine does not pass it on
    replies = {(taped.step, taped.name, nth): taped for nth, taped in counted(tape)}
    turns = Counter()
    try:
        ask = next(conversation)
        while True:
            turns[ask.step] += 1
            known = {name: replies.get((ask.step, name, turns[ask.step])) for name in ask.messages}
            told = {
                name: false if taped is lie else taped.reply
                for name, taped in known.items()
                if taped is not None
            }
            ask = conversation.send(told)
    except StopIteration:
        return True
    except SitesLost:
        return False
    except RemoteProtocolError as refusal:
        # of what two sites make together, nobody else can tell which of them was wrong
        assert not traceable or lie.name in refusal.site.split(" or "), (
            f"{refusal} blames another site than {lie.name}"
        )
        return False


def counted(tape):
    """Every exchange, with how many of this step and site came up to it."""
    turns = Counter()
    for taped in tape:
        turns[taped.step, taped.name] += 1
        yield turns[taped.step, taped.name], taped


def changed(message, random):
    """A message of this kind (mostly) with one field changed, as kind and body."""
    if random.random() < 0.03:
        return random.choice(sorted(Message.kinds)), pack(message)
    if random.random() < 0.03:
        return type(message).__name__, spoil(pack(message), random)
    tree = msgspec.msgpack.decode(pack(message))
    return type(message).__name__, msgspec.msgpack.encode(change(tree, random))


def change(tree, random):
    """The same tree with one node changed."""
    if random.random() < 0.05:
        return random.choice(THINGS)
    inner = unpacked(tree)
    if inner is not None and random.random() < 0.8:
        return msgspec.msgpack.encode(change(inner, random))
    if is_array(tree):
        return change_array(tree, random)
    if isinstance(tree, dict) and tree and random.random() < 0.8:
        key = random.choice(list(tree))
        return {**tree, key: change(tree[key], random)}
    if isinstance(tree, list) and tree and random.random() < 0.7:
        at = random.randrange(len(tree))
        return [*tree[:at], change(tree[at], random), *tree[at + 1 :]]
    return replace(tree, random)


def replace(node, random):
    """Another value of the same type."""
    if isinstance(node, bool) or node is None:
        return random.choice(THINGS)
    if isinstance(node, int):
        return random.choice((*INTS, node - 1, node + 1, -node))
    if isinstance(node, float):
        return random.choice(FLOATS)
    if isinstance(node, str):
        return random.choice((*TEXTS, node[:-1], node + "x"))
    if isinstance(node, bytes):
        return spoil(node, random)
    if isinstance(node, dict):
        return replace_in(node, random)
    return random.choice(
        ([], node[::-1], node[1:], node + node[:1], [*node, random.choice(THINGS)])
    )


def replace_in(node, random):
    """A key missing, added, renamed, or two values swapped."""
    keys = list(node)
    if not keys:
        return {random.choice(TEXTS): random.choice(THINGS)}
    first, last = random.choice(keys), random.choice(keys)
    return random.choice(
        (
            {key: node[key] for key in keys if key != first},
            {**node, random.choice(TEXTS): node[first]},
            {("nobody" if key == first else key): node[key] for key in keys},
            {**node, first: node[last], last: node[first]},
            {},
        )
    )


def spoil(data, random):
    """Bytes cut, made longer, turned, or with a bit flipped."""
    at = random.randrange(len(data)) if data else 0
    flipped = (
        data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :] if data else b"x"
    )
    drawn = bytes(random.randrange(256) for _ in range(min(len(data), 64)))
    return random.choice(
        (b"", data[:at], data + b"\0", flipped, drawn + data[64:], data[::-1], bytes(len(data)))
    )


def is_array(node):
    """Whether this is an array as it travels: type, shape, bytes."""
    return isinstance(node, list) and len(node) == 3 and node[0] in DTYPES


def change_array(node, random):
    """Other numbers, another shape, another type: mostly one that could travel."""
    dtype, shape, data = node
    held = np.frombuffer(data, dtype).reshape(shape)
    if random.random() < 0.2:
        return [random.choice(DTYPES), shape, data]
    if random.random() < 0.2:
        return [dtype, replace(shape, random), data]
    if random.random() < 0.2:
        return [dtype, shape, spoil(data, random)]
    other = random.choice(DTYPES[:-1])
    with np.errstate(all="ignore"):
        made = random.choice(
            (
                held[1:] if held.ndim else held,
                np.concatenate([held, held]) if held.ndim else held,
                held[..., None],
                held.T,
                held.reshape(-1),
                held[:0] if held.ndim else held,
                held.astype(other),
                np.zeros((), dtype),
                np.zeros((0, 2**20), dtype),
                np.full_like(held, extreme(held.dtype, random)),
            )
        )
    return [made.dtype.str, list(made.shape), np.ascontiguousarray(made).tobytes()]


def extreme(dtype, random):
    """A number at the edge of a type."""
    if dtype.kind == "f":
        return random.choice(FLOATS)
    return (
        random.choice((0, 1))
        if dtype.kind == "b"
        else random.choice((0, np.iinfo(dtype).max, np.iinfo(dtype).min))
    )


def unpacked(node):
    """The struct in packed bytes, if there is one."""
    if not isinstance(node, bytes) or not node:
        return None
    try:
        inner = msgspec.msgpack.decode(node)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return inner if isinstance(inner, dict) else None


def secrets_of(session):
    """All 32- and 33-byte strings that a site remembers, but its public keys."""
    found = set()

    def gather(node):
        if isinstance(node, bytes) and len(node) in (32, 33):
            found.add(node)
        for part in (
            node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        ):
            gather(part)

    for name, state in session._memory.items():
        if name in ("OwnKeys", "Channels", "Shares", "SharedSeed", "Secrets", "Met"):
            tree = msgspec.msgpack.decode(
                bytes(state) if isinstance(state, msgspec.Raw) else pack(state)
            )
            gather({key: part for key, part in tree.items() if (name, key) != ("Met", "masks")})
    return found


def assert_hides(secrets, text):
    """None of the secrets is in a text, in any usual writing."""
    for secret in secrets:
        for written in (secret.hex(), repr(secret)[2:-1], str(list(secret))[1:-1]):
            assert written not in text


def _refuse(rule, expected, got):
    raise RemoteProtocolError(rule, site="", step="", expected=expected, got=got)
