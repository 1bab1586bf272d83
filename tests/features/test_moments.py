import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from colabel.errors import InputError
from colabel.features import Moments, Order, add, moments, total

ORDERS: tuple[Order, ...] = ("sum", "squares")
SMALL = arrays(np.float64, (7, 3), elements=st.floats(-1e3, 1e3))


@given(SMALL, st.integers(0, 7), st.sampled_from(ORDERS))
def test_moments_add_up_to_the_pooled_ones(points: np.ndarray, cut: int, order: Order) -> None:
    pooled = moments(points, order)
    parts = total([moments(points[:cut], order), moments(points[cut:], order)])
    assert parts.count == pooled.count == 7
    np.testing.assert_allclose(parts.sum, points.sum(axis=0), atol=1e-9)
    if order == "squares":
        np.testing.assert_allclose(parts.second, (points**2).sum(axis=0), atol=1e-6)


@given(SMALL, st.sampled_from(ORDERS))
def test_vectors_survive_the_way(points: np.ndarray, order: Order) -> None:
    about = np.array([1.0, -2.0, 0.5])
    sums = moments(points, order, about)
    back = Moments.from_vector(sums.to_vector(), sums.width, order, about)
    assert (back.count, back.order) == (sums.count, order)
    np.testing.assert_array_equal(back.sum, sums.sum)
    np.testing.assert_array_equal(back.about, about)
    if sums.second is not None:
        np.testing.assert_array_equal(back.second, sums.second)


def test_sizes_of_vectors() -> None:
    points = np.ones((4, 5))
    assert [len(moments(points, order).to_vector()) for order in ORDERS] == [6, 11]


def test_a_sum_of_vectors_is_the_total() -> None:
    points = np.random.default_rng(0).normal(size=(9, 2))
    parts = [moments(points[:4], "squares"), moments(points[4:], "squares")]
    summed = parts[0].to_vector() + parts[1].to_vector()
    back = Moments.from_vector(summed, 2, "squares")
    np.testing.assert_allclose(back.second, (points**2).sum(axis=0))


@pytest.mark.parametrize("vector", [np.ones(4), np.array([1.0, np.nan, 0.0])])
def test_from_vector_refuses_other_lengths_and_nan(vector: np.ndarray) -> None:
    with pytest.raises(InputError, match="3 finite numbers"):
        Moments.from_vector(vector, 2, "sum")


def test_mismatches_are_refused() -> None:
    one = moments(np.ones((2, 3)), "sum")
    for other in (
        moments(np.ones((2, 4)), "sum"),
        moments(np.ones((2, 3)), "squares"),
        moments(np.ones((2, 3)), "sum", about=np.ones(3)),
    ):
        with pytest.raises(InputError, match="do not match"):
            add(one, other)
    with pytest.raises(InputError, match="no moments"):
        total([])
    with pytest.raises(InputError, match="about"):
        moments(np.ones((2, 3)), "sum", about=np.ones(2))


def test_sites_without_points_add_nothing() -> None:
    some = moments(np.ones((2, 3)), "squares")
    none = moments(np.empty((0, 3)), "squares")
    np.testing.assert_array_equal(add(some, none).to_vector(), some.to_vector())


def test_points_are_left_alone() -> None:
    points = np.arange(6.0).reshape(3, 2)
    moments(points, "squares", about=np.ones(2))
    np.testing.assert_array_equal(points, np.arange(6.0).reshape(3, 2))
