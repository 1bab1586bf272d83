import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel.graph.distances import CodeDistances, StoredDistances, hamming


def slow_hamming(a, b):
    left, right = np.unpackbits(a, axis=1), np.unpackbits(b, axis=1)
    return np.array([[int((x != y).sum()) for y in right] for x in left]).reshape(len(a), len(b))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 70), st.integers(1, 70), st.integers(1, 20), st.integers(0, 10**6))
def test_hamming_counts_differing_bits(n, m, n_bytes, seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 256, (n, n_bytes), dtype=np.uint8)
    b = rng.integers(0, 256, (m, n_bytes), dtype=np.uint8)
    np.testing.assert_array_equal(hamming(a, b), slow_hamming(a, b))
    made = CodeDistances(a, b, 8 * n_bytes)
    assert made.shape == (n, m)
    np.testing.assert_array_equal(made.rows(0, n), slow_hamming(a, b))


def test_equal_and_opposite_codes_are_told_apart():
    code = np.random.default_rng(0).integers(0, 256, (1, 512), dtype=np.uint8)
    assert hamming(code, code)[0, 0] == 0
    assert hamming(code, ~code)[0, 0] == 4096


def test_stored_distances_are_a_view():
    matrix = np.arange(12, dtype=np.uint16).reshape(3, 4)
    stored = StoredDistances(matrix, 16)
    assert stored.shape == (3, 4)
    assert np.shares_memory(stored.rows(1, 2), matrix)
