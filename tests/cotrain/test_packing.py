"""Labels in few bits: there and back, exact sizes, nothing else accepted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel.cotrain.packing import Packed, pack_labels, unpack_labels, width


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_there_and_back(data):
    n_classes = data.draw(st.integers(1, 70))
    labels = np.array(data.draw(st.lists(st.integers(-1, n_classes - 1), max_size=40)), np.int64)
    packed = pack_labels(labels, n_classes)
    np.testing.assert_array_equal(unpack_labels(packed, len(labels), n_classes), labels)


@pytest.mark.parametrize(("n_classes", "bits"), [(1, 1), (2, 1), (3, 2), (10, 4), (16, 4), (17, 5)])
def test_bits_of_a_label(n_classes, bits):
    assert width(n_classes) == bits


def test_the_papers_sizes():
    assert pack_labels(np.zeros(50_000, np.int64), 10).n_bytes == 25_000
    assert pack_labels(np.zeros(10_000, np.int64), 10).n_bytes == 5_000
    assert pack_labels(np.full(10_000, -1), 10).n_bytes == 5_000 + 1_250


@pytest.mark.parametrize(
    ("packed", "match"),
    [
        (Packed(b"12"), "bytes for"),
        (Packed(b""), "bytes for"),
        (Packed(b"\xff", b"12"), "have no label"),
        (Packed(b"\xff"), "label 3 of 3 classes"),
    ],
)
def test_other_bytes_are_refused(packed, match):
    with pytest.raises(ValueError, match=match):
        unpack_labels(packed, 4, 3)
