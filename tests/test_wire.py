import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from colabel.conversation import Message
from colabel.errors import ColabelError, RemoteProtocolError
from colabel.federation.roles import LABELLING
from colabel.protocols.hamming.clear import Codes
from colabel.protocols.sums import Summand
from colabel.wire import Envelope, open_envelope, pack, seal_in, unpack


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([np.uint8, np.uint16, np.int64, np.float32, np.float64, np.bool_]).flatmap(
        lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=3, min_side=0))
    )
)
def test_arrays_survive(array):
    back = unpack(pack(Summand(array)), Summand).matrix
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_big_endian_and_strided_arrays_arrive_as_plain_ones():
    array = np.arange(12, dtype="<i4").reshape(3, 4)[:, ::2]
    np.testing.assert_array_equal(unpack(pack(Codes(array)), Codes).codes, array)


def broken(dtype="<f8", shape=(2,), data=bytes(16)):
    return msgspec.msgpack.encode({"matrix": (dtype, shape, data)})


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (broken(dtype="|O"), "forbidden type"),
        (broken(dtype=">f8"), "forbidden type"),
        (broken(shape=(3,)), "with 16 bytes"),
        (broken(shape=(-1, -2)), "impossible shape"),
        (broken(data=b""), "with 0 bytes"),
        (b"\xc1", "malformed"),
        (msgspec.msgpack.encode({"matrix": 3}), "malformed"),
    ],
)
def test_malformed_arrays_are_the_senders_fault(body, why):
    data = pack(Envelope("s", 0, "mallory", "Summand", body))
    with pytest.raises(RemoteProtocolError, match=why):
        open_envelope(data, site="a", step="0")


def test_unknown_messages_and_formats_are_refused():
    with pytest.raises(RemoteProtocolError, match="unknown message"):
        open_envelope(pack(Envelope("s", 0, "x", "Pwn", b"")), site="a", step="0")
    with pytest.raises(RemoteProtocolError, match="other wire format"):
        open_envelope(pack(Envelope("s", 0, "x", "Summand", b"", 99)), site="a", step="0")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_noise_is_refused(noise):
    with pytest.raises(RemoteProtocolError):
        open_envelope(noise, site="a", step="0")


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_flipped_bytes_are_refused_or_harmless(data):
    original = seal_in("s", 0, "server", Codes(np.arange(6, dtype=np.uint8).reshape(2, 3)))
    at = data.draw(st.integers(0, len(original) - 1))
    value = data.draw(st.integers(0, 255))
    changed = original[:at] + bytes([value]) + original[at + 1 :]
    try:
        open_envelope(changed, site="a", step="0")
    except ColabelError as error:
        assert isinstance(error, RemoteProtocolError)


def test_objects_cannot_travel():
    with pytest.raises(TypeError, match="cannot travel"):
        pack(Codes(object()))


def test_every_request_has_a_name_of_its_own():
    assert all(Message.kinds[kind.__name__] is kind for kind in LABELLING.handlers)
    with pytest.raises(TypeError, match="two messages are called Codes"):
        type(Message)("Codes", (Message,), {"__module__": "elsewhere"}, frozen=True)
