"""Paillier between sites that a test holds in its hands; the keys are too short to be safe."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import peers
from peers import SESSION, group_of, slow

from colabel.conversation import Ask
from colabel.crypto import paillier as crypto
from colabel.protocols.channels import unseal
from colabel.protocols.hamming import WAYS, paillier
from colabel.protocols.hamming.paillier import PaillierHamming
from colabel.wire import open_envelope, seal_in

KEY_BITS = 1024
HANDLERS = paillier.site_side(weakest_bits=KEY_BITS)
STEPS = ("paillier.codes", "paillier.sums", "paillier.totals")
Peer = partial(peers.Peer, HANDLERS)


def peers_of(codes):
    return {name: Peer(name, bits, codes) for name, bits in codes.items()}


def run(codes, *, lost=(), newcomers=(), meddle=None, handlers=HANDLERS):
    """H by a whole conversation; `lost` holds (site, step, whether its reply is what is lost)."""
    peers, seen = peers_of(codes), SimpleNamespace(up=0, down=0, asked={}, replies={})
    n_bits = next(iter(codes.values())).shape[1]
    talk = PaillierHamming(KEY_BITS).conversation(group_of(codes), n_bits, newcomers)
    replies, gone = None, set()
    while True:
        try:
            ask = talk.send(replies)
        except StopIteration as end:
            return *end.value, seen
        assert isinstance(ask, Ask)
        step = ask.step
        assert ask.releases
        seen.asked[step] = set(ask.messages)
        replies = {}
        for name, message in ask.messages.items():
            here = [late for site, when, late in lost if (site, when) == (name, step)]
            if name in gone or False in here:
                gone.add(name)
                continue
            sent = seal_in(SESSION, 0, "server", message)
            reply = peers[name].handle(open_envelope(sent, site=name, step=step)[1], handlers)
            if here:
                gone.add(name)
                continue
            if meddle:
                reply = meddle(name, reply)
            back = seal_in(SESSION, 0, name, reply)
            seen.up, seen.down = seen.up + len(back), seen.down + len(sent)
            replies[name] = open_envelope(back, site="server", step=step)[1]
        seen.replies[step] = replies


def pooled(codes, names):
    return np.concatenate([codes[name] for name in names])


def check(codes, **options):
    group, distances, seen = run(codes, **options)
    everything = pooled(codes, group.names)
    np.testing.assert_array_equal(distances.rows(0, len(everything)), slow(everything, everything))
    return group, seen


class WeakPaillier(PaillierHamming):
    handlers = HANDLERS

    def __init__(self):
        super().__init__(KEY_BITS)


def a_pair(n_right=400, n_bits=8, left_bits=None):
    left = np.zeros((3, n_bits), int) if left_bits is None else left_bits
    a = Peer("a", left, "ab")
    b = Peer("b", np.tile([0, 1], (n_right, n_bits // 2)), "ab")
    reply = a.handle(paillier.PaillierEncrypt(KEY_BITS, n_bits))
    return a, b, reply


def what_j_decrypts(a, reply):
    key = a.recall(paillier.PaillierKey).private()
    sealed = unseal(a, "b", "paillier sums", reply.sums["a"], paillier.EncryptedSums)
    return key.decrypt(key.public.unpack(sealed.ciphertexts)), key.public


TINY_BITS = 150
TINY = crypto.from_primes(2**61 - 1, 2**89 - 1, weakest_bits=TINY_BITS)


class TinyPaillier(PaillierHamming):
    """With a key that is known to all: for tests of everything but secrecy (see `tiny_keys`)."""

    handlers = paillier.site_side(weakest_bits=TINY_BITS)

    def __init__(self):
        super().__init__(TINY_BITS)


def tiny_keys(monkeypatch):
    """Compare by `TinyPaillier` where Paillier is asked for."""
    monkeypatch.setitem(WAYS, "paillier", TinyPaillier)
    monkeypatch.setattr(crypto, "generate", lambda n_bits, weakest_bits: TINY)
