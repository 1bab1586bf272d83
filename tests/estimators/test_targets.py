"""What users hand over as y and groups: words, numbers, and the many ways to say unknown."""

import numpy as np
import pandas as pd
import pytest

from colabel import CrossClientLabelPropagation, PerSiteLabelPropagation
from colabel.errors import InputError
from colabel.estimators.targets import decode, encode, site_names

WORDS = ["red", None, "green", "red"]


@pytest.mark.parametrize(
    "y",
    [
        ["red", None, "green", "red"],
        ["red", -1, "green", "red"],
        ["red", float("nan"), "green", "red"],
        np.array(["red", "-1", "green", "red"]),  # what NumPy makes of ["red", -1, …]
        np.array(["red", "", "green", "red"]),
        np.array(["red", np.int64(-1), "green", "red"], dtype=object),
        np.array(["red", -1.0, "green", "red"], dtype=object),
        pd.Series(["red", None, "green", "red"]),
        pd.Series(["red", pd.NA, "green", "red"], dtype="string"),
        pd.Series(["red", pd.NA, "green", "red"], dtype=object),
        pd.Series(["red", None, "green", "red"], dtype="category"),
    ],
    ids=repr,
)
def test_words_with_every_way_to_say_unknown(y) -> None:
    classes, codes = encode(y, 4)
    assert classes.tolist() == ["green", "red"]
    assert codes.tolist() == [1, -1, 0, 1]
    assert decode(codes, classes).tolist() == ["red", None, "green", "red"]


@pytest.mark.parametrize(
    "y",
    [
        [3, -1, 2, 3],
        [3, None, 2, 3],
        [3.0, np.nan, 2.0, 3.0],
        np.array([3, -1, 2, 3], np.int8),
        pd.Series([3, pd.NA, 2, 3], dtype="Int64"),
        pd.Series([3, None, 2, 3], dtype=object),
    ],
    ids=repr,
)
def test_numbers_with_every_way_to_say_unknown(y) -> None:
    classes, codes = encode(y, 4)
    assert classes.tolist() == [2, 3]
    assert codes.tolist() == [1, -1, 0, 1]
    assert decode(codes, classes).tolist() == [3, -1, 2, 3]


def test_dates_and_long_numbers_are_classes_like_others() -> None:
    classes, codes = encode(np.array(["2020-01-02", "NaT", "2020-01-01"], "datetime64[D]"), 3)
    assert len(classes) == 2
    assert codes.tolist() == [1, -1, 0]
    classes, codes = encode(np.array([2**53 + 1, 2**53, -1]), 3)
    assert codes.tolist() == [1, 0, -1]


def test_words_and_numbers_do_not_mix() -> None:
    with pytest.raises(InputError, match="mix words and numbers, such as 2"):
        encode(["zero", 2, None, -1], 4)


@pytest.mark.parametrize(
    "groups",
    [
        ["a", None, "b", None],
        ["a", "", "b", " "],
        [1.0, np.nan, 2.0, np.nan],
        pd.Series(["a", pd.NA, "b", pd.NA], dtype="string"),
        pd.Series(["a", None, "b", None], dtype="category"),
    ],
    ids=repr,
)
def test_rows_without_a_site_are_one_problem(groups) -> None:
    with pytest.raises(InputError, match=r"^row 1: a row has no site \(and 1 more\)\. Name"):
        site_names(groups, 4)


def test_a_site_may_be_named_by_a_float() -> None:
    assert site_names([1.0, 2.0], 2).tolist() == ["1", "2"] == site_names([1, 2], 2).tolist()
    assert site_names([1.5, 2.0], 2).tolist() == ["1.5", "2.0"]


def test_settings_of_a_wrong_type_are_all_named() -> None:
    X, y = np.eye(4), [0, 1, -1, -1]
    wrong = {"alpha": "far", "n_bits": 12.5, "sharpness": "big", "equalise": "yes"}
    with pytest.raises(InputError) as caught:
        CrossClientLabelPropagation(**wrong, n_neighbors=True).fit(X, y)
    assert [p.what for p in caught.value.problems] == [
        "n_neighbors is True",
        "alpha is 'far'",
        "sharpness is 'big'",
        "n_bits is 12.5",
        "equalise is 'yes'",
    ]


def test_settings_may_be_numpy_numbers() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 3)), np.array([0, 1, -1, -1] * 2)
    settings = {"n_neighbors": 3, "alpha": 0.5, "n_bits": 256, "random_state": 1}
    as_numpy = {name: np.asarray(value)[()] for name, value in settings.items()}
    plain = PerSiteLabelPropagation(**settings).fit(X, y)
    numpy = PerSiteLabelPropagation(**as_numpy).fit(X, y)
    assert np.array_equal(plain.label_distributions_, numpy.label_distributions_)


def test_the_sharpest_graph_that_is_allowed_gives_numbers() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 50)), np.array([0, 1, -1, -1] * 10)
    fitted = PerSiteLabelPropagation(sharpness=32, n_bits=65_535, random_state=0).fit(X, y)
    assert np.isfinite(fitted.label_distributions_).all()
    with pytest.raises(InputError, match="sharpness is inf"):
        PerSiteLabelPropagation(sharpness=np.inf).fit(X, y)


def test_epochs_in_nanoseconds_are_features_like_others() -> None:
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 2
    X = np.stack([1.7e18 + 1e15 * kind + 1e14 * rng.normal(size=60), rng.normal(size=60)], axis=1)
    y = np.where(np.arange(60) < 20, kind, -1)
    fitted = CrossClientLabelPropagation(random_state=0).fit(X, y, groups=np.arange(60) // 30)
    assert (fitted.transduction_ == kind).mean() > 0.9
