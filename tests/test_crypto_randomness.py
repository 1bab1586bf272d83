"""The three doors of randomness, and the stream cipher."""

import numpy as np
import pytest
from scipy.stats import kstest

from colabel import randomness
from colabel.crypto.gaussian import gaussian
from colabel.crypto.prg import stream


def test_doors_do_not_mix():
    same = randomness.data(1, "deal").integers(0, 2**63, 4)
    np.testing.assert_array_equal(same, randomness.data(1, "deal").integers(0, 2**63, 4))
    for other in (
        randomness.data(2, "deal"),
        randomness.data(1, "hide"),
        randomness.model(1, "deal"),
    ):
        assert (other.integers(0, 2**63, 4) != same).all()


def test_secrets_cannot_be_seeded():
    assert randomness.secret(32) != randomness.secret(32)
    assert len(randomness.secret(7)) == 7
    with pytest.raises(TypeError):
        randomness.secret(32, seed=1)


def test_streams_differ_by_purpose_and_seed():
    seed = bytes(32)
    assert stream(seed, "a", 64) == stream(seed, "a", 64)
    assert stream(seed, "a", 64)[:16] == stream(seed, "a", 16)
    assert stream(seed, "a", 64) != stream(seed, "b", 64)
    assert stream(seed, "a", 64) != stream(b"\x01" + bytes(31), "a", 64)


def test_a_stream_is_balanced():
    bits = np.unpackbits(np.frombuffer(stream(bytes(32), "bits", 100_000), np.uint8))
    assert abs(bits.mean() - 0.5) < 0.003


def test_secret_noise_is_normal_and_never_the_same():
    drawn = gaussian(100_000, 1.0).reshape(-1, 2)
    assert kstest(drawn.ravel(), "norm").pvalue > 1e-6
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.03
    assert gaussian(100_000, 3.0).std() == pytest.approx(3.0, rel=0.02)
    assert (gaussian(6, 1.0) != gaussian(6, 1.0)).all()
