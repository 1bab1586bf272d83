import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from colabel.crypto.prg import stream
from colabel.graph.codes import _quantiles, codes, hyperplanes

SEED = bytes(range(32))


def slow_codes(points, planes):
    """Exact integer arithmetic, one bit at a time."""
    n_features = points.shape[1]
    bits = 53 - 15 - int(np.ceil(np.log2(max(n_features, 2))))
    out = []
    for point in points:
        largest = max(abs(float(v)) for v in point) or 1.0
        whole = [round(float(v) / largest * 2**bits) for v in point]
        out.append(
            [sum(w * int(u) for w, u in zip(whole, plane, strict=True)) >= 0 for plane in planes]
        )
    return np.packbits(np.array(out, dtype=np.uint8), axis=1)


def test_codes_equal_exact_integer_arithmetic():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((6, 37)) * 10.0 ** rng.integers(-9, 9, (6, 1))
    planes = hyperplanes(SEED, 101, 37)
    np.testing.assert_array_equal(codes(points, planes), slow_codes(points, planes))


def test_known_answers_hold_on_every_machine():
    """If these change, sites with different versions or machines would not understand another."""
    assert stream(SEED, "hyperplanes", 8).hex() == "419d7aaa042ba8b9"
    assert hashlib.sha256(_quantiles().tobytes()).hexdigest()[:16] == "1ea009ce409dac97"
    points = np.sin(np.arange(200.0)).reshape(10, 20)
    packed = codes(points, hyperplanes(SEED, 64, 20))
    assert hashlib.sha256(packed.tobytes()).hexdigest()[:16] == "916cb0b3c9edcd83"


def test_hyperplanes_are_gaussian():
    values = hyperplanes(SEED, 512, 512).astype(float).ravel() * 2.0**-12
    assert abs(values.mean()) < 0.01
    assert abs(values.std() - 1) < 0.01
    assert abs((np.abs(values) < 1.96).mean() - 0.95) < 0.005
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 0.01


def test_another_seed_gives_other_hyperplanes():
    other = hyperplanes(bytes(32), 64, 20)
    assert (other != hyperplanes(SEED, 64, 20)).mean() > 0.99


def test_distance_estimates_the_angle():
    rng = np.random.default_rng(1)
    points = rng.standard_normal((40, 24))
    packed = codes(points, hyperplanes(SEED, 16_384, 24))
    bits = np.unpackbits(packed, axis=1).astype(bool)
    distances = (bits[:, None] != bits[None]).sum(-1)
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    np.testing.assert_allclose(np.cos(np.pi * distances / 16_384), unit @ unit.T, atol=0.05)


@settings(max_examples=50, deadline=None)
@given(
    arrays(np.float64, (3, 5), elements=st.floats(-1e300, 1e300)),
    st.floats(1e-3, 1e3),
)
def test_codes_depend_on_directions_only(points, scale):
    planes = hyperplanes(SEED, 40, 5)
    whole = np.rint(points / 1e295)  # so that scaling does not round
    np.testing.assert_array_equal(codes(whole, planes), codes(whole * 2.0**9, planes))
    assert codes(points * scale, planes).shape == (3, 5)


def test_tiny_and_huge_points_do_not_overflow():
    planes = hyperplanes(SEED, 64, 3)
    directions = np.array([[1.0, -2.0, 3.0]])
    for scale in (1e-310, 1e-300, 1.0, 1e300):
        got = np.unpackbits(codes(directions * scale, planes))
        want = np.unpackbits(codes(directions, planes))
        assert (got == want).mean() > 0.98


def test_float32_and_float64_of_the_same_numbers_agree():
    points = np.random.default_rng(2).standard_normal((5, 8)).astype(np.float32)
    planes = hyperplanes(SEED, 64, 8)
    np.testing.assert_array_equal(codes(points, planes), codes(points.astype(float), planes))


@pytest.mark.parametrize("n_bits", [0, -1, 65_536])
def test_impossible_lengths_are_refused(n_bits):
    with pytest.raises(ValueError, match="n_bits must be between"):
        hyperplanes(SEED, n_bits, 3)


def test_a_short_seed_is_refused():
    with pytest.raises(ValueError, match="a seed has 32 bytes"):
        stream(b"short", "x", 1)
