"""What a server gains by asking twice, or for something else: nothing."""

from types import SimpleNamespace

import numpy as np
import pytest
from peers import Peer
from sessions import Consortium, RecordingEngine
from telling import flaws
from views import N_BITS, codes_of, of_dealer

from colabel.errors import RemoteProtocolError
from colabel.protocols.hamming import dealer
from colabel.protocols.hamming.dealer import DealerHamming
from colabel.protocols.hamming.sketch import SendSketch, SketchHamming


class Twice(DealerHamming):
    """Deals and compares twice in one session."""

    def conversation(self, *given):
        yield from super().conversation(*given)
        return (yield from super().conversation(*given))


def at_server():
    """What two comparisons in one session show the server, taken together."""
    talk = Consortium(codes_of("dealer", "ones"), engine=RecordingEngine)
    talk.distances(Twice(), N_BITS["dealer"])
    told = [m for m in talk.engine.messages if m[0].startswith("dealer")]
    halves = told[: len(told) // 2], told[len(told) // 2 :]
    first, second = (server_view(talk.engine.sessions, half) for half in halves)
    return flaws(first, second)


def server_view(sessions, messages):
    engine = SimpleNamespace(sessions=sessions, messages=messages)
    return of_dealer(SimpleNamespace(engine=engine), None)[0]


def test_dealt_twice_in_one_session():
    assert at_server() == set()


def test_dealt_twice_under_one_mask_is_caught(monkeypatch):
    true = dealer._pair_mask
    monkeypatch.setattr(
        dealer, "_pair_mask", lambda site, peer, shown, *sizes: true(site, peer, shown[:0], *sizes)
    )
    assert {"X − W", "Y − W + M·N"} <= at_server()


def sketch_of(bits, n_bits):
    return Peer(SketchHamming.handlers, "a", bits, "ab").handle(SendSketch(n_bits)).codes


def test_no_bit_of_a_sketch_is_left_unmasked():
    """Not even if a server says that codes are shorter than they are."""
    zeros, ones = np.zeros((1, 64), int), np.ones((1, 64), int)
    for n_bits in (57, 60, 64):
        np.testing.assert_array_equal(sketch_of(zeros, n_bits), sketch_of(zeros, 64))
        np.testing.assert_array_equal(sketch_of(ones, n_bits) ^ sketch_of(zeros, 64), [[255] * 8])
    assert len(np.unique(sketch_of(zeros, 64))) > 2


@pytest.mark.parametrize("n_bits", [-1, 0, 1, 8, 56, 65, 2**40])
def test_sketches_of_another_length_are_refused(n_bits):
    with pytest.raises(RemoteProtocolError, match="codes of another length"):
        sketch_of(np.zeros((1, 64), int), n_bits)
