"""Oblivious transfer between sites that a test holds in its hands."""

from functools import partial

import numpy as np
import peers
from peers import draw, group_of, slow

from colabel.protocols.hamming.ot import OtHamming

SMALL = 600  # bytes of a chunk, so that there are several
CODES = draw((4, 3, 2), 20)
Peer = partial(peers.Peer, OtHamming.handlers)


def run(codes, *, chunk_bytes=SMALL, newcomers=(), lost=(), meddle=None, watch=None):
    """A whole conversation; `lost` holds (site, step number, whether it worked before)."""
    peers = {name: Peer(name, bits, codes) for name, bits in codes.items()}
    n_bits = next(iter(codes.values())).shape[1]
    talk = OtHamming(chunk_bytes).conversation(group_of(codes), n_bits, newcomers)
    replies, gone, number = None, set(), 0
    while True:
        try:
            ask = talk.send(replies)
        except StopIteration as end:
            return end.value
        assert ask.step == f"ot.{number}"
        replies = {}
        for name, message in ask.messages.items():
            fates = [worked for site, when, worked in lost if (site, when) == (name, number)]
            if watch:
                watch(peers[name].copy(), message)
            if name not in gone and False not in fates:
                reply = peers[name].handle(message)
                replies[name] = meddle(name, number, reply) if meddle else reply
            if fates:
                gone.add(name)
                replies.pop(name, None)
        number += 1


def check(codes, names=None, **options):
    group, distances = run(codes, **options)
    assert group.names == tuple(names or codes)
    everything = np.concatenate([codes[name] for name in group.names])
    got = distances.rows(0, len(everything))
    assert got.dtype == np.uint16
    np.testing.assert_array_equal(got, slow(everything.tolist(), everything.tolist()))


def steps_of(codes):
    n_bits = next(iter(codes.values())).shape[1]
    return OtHamming(SMALL).cost(group_of(codes), n_bits).steps
