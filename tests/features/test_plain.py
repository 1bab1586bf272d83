import numpy as np
import pytest

from colabel.errors import InputError
from colabel.features import Features, Identity, Precomputed


def test_identity_keeps_floats_and_flattens_images() -> None:
    features: Features = Identity()
    singles = np.ones((3, 2), dtype=np.float32)
    assert features.transform(singles).dtype == np.float32
    images = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
    rows = features.transform(images)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, images.reshape(2, 12))


@pytest.mark.parametrize("kind", [np.float16, np.int8, np.uint64, np.bool_])
def test_identity_makes_other_numbers_float64(kind: type) -> None:
    assert Identity().transform(np.ones((2, 3), dtype=kind)).dtype == np.float64


def test_identity_keeps_the_width_of_no_points() -> None:
    assert Identity().transform(np.empty((0, 4))).shape == (0, 4)


@pytest.mark.parametrize(
    "points",
    [
        np.array([["a"], ["b"]], dtype=object),
        np.array([["a"], ["b"]]),
        np.ones((2, 2), dtype=complex),
        np.array([["2020-01-01"]], dtype="datetime64[D]"),
    ],
)
def test_identity_refuses_what_is_no_number(points: np.ndarray) -> None:
    with pytest.raises(InputError, match="not a number"):
        Identity().transform(points)


def test_identity_refuses_one_dimension() -> None:
    with pytest.raises(InputError, match="reshape"):
        Identity().transform(np.ones(3))


def test_identity_names_each_missing_value() -> None:
    points = np.zeros((3, 2))
    points[1, 0], points[2, 1] = np.nan, np.inf
    with pytest.raises(InputError) as caught:
        Identity().transform(points)
    assert [(p.row, p.column) for p in caught.value.problems] == [(1, "0"), (2, "1")]


def test_precomputed_by_id_follows_the_points() -> None:
    features = Precomputed({"a": np.array([1, 2]), "b": np.array([3, 4])})
    np.testing.assert_array_equal(
        features.transform(np.array(["b", "a", "b"])), [[3, 4], [1, 2], [3, 4]]
    )
    assert features.transform(np.array([], dtype=str)).shape == (0, 2)


def test_precomputed_ids_may_be_numbers() -> None:
    features = Precomputed({7: np.array([1.0]), 9: np.array([2.0])})
    np.testing.assert_array_equal(features.transform(np.array([[9], [7]])), [[2], [1]])


def test_precomputed_names_unknown_ids() -> None:
    with pytest.raises(InputError, match="'c'") as caught:
        Precomputed({"a": np.array([1])}).transform(np.array(["a", "c", "d"]))
    assert [problem.row for problem in caught.value.problems] == [1, 2]


@pytest.mark.parametrize("table", [{}, {"a": np.ones(2), "b": np.ones(3)}])
def test_precomputed_refuses_uneven_or_empty_tables(table: dict[str, np.ndarray]) -> None:
    with pytest.raises(InputError, match="same width"):
        Precomputed(table)


def test_precomputed_rows_align_with_points() -> None:
    rows = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(Precomputed(rows).transform(np.zeros((3, 9))), rows)
    with pytest.raises(InputError, match="2 points but 3"):
        Precomputed(rows).transform(np.zeros((2, 9)))
