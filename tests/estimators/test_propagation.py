import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from colabel import (
    ColabelWarning,
    CrossClientLabelPropagation,
    InputError,
    PerSiteLabelPropagation,
    PooledLabelPropagation,
)


@pytest.fixture(scope="module")
def digits():
    X, truth = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(X))[:600]
    X, truth = X[rows], truth[rows]
    groups = np.array(["north", "south", "west"])[rng.integers(0, 3, 600)]
    y = np.where(rng.random(600) < 0.1, truth, -1)
    return X, truth, y, groups


def accuracy(model, truth, y):
    return (model.transduction_ == truth)[y == -1].mean()


def test_sites_together_do_better_than_alone_and_as_well_as_pooled(digits):
    X, truth, y, groups = digits
    kinds = (CrossClientLabelPropagation, PerSiteLabelPropagation, PooledLabelPropagation)
    across, alone, pooled = (kind(random_state=0).fit(X, y, groups) for kind in kinds)
    assert accuracy(across, truth, y) > accuracy(alone, truth, y) + 0.05
    assert abs(accuracy(across, truth, y) - accuracy(pooled, truth, y)) < 0.02
    assert len(alone.ledger_) == 0
    assert len(across.ledger_) > 0
    assert across.sites_ == ("north", "south", "west")
    assert pooled.sites_ == ("pool",)


def test_one_site_equals_scikit_learn_on_the_same_graph(digits):
    X, _, y, _ = digits
    model = CrossClientLabelPropagation(preset="paper", alpha=0.9, random_state=0).fit(X, y)
    _, outcome = model._fitted["all"]
    place = np.empty(len(y), int)
    place[np.argsort(y == -1, kind="stable")] = np.arange(len(y))  # labelled first
    weights = outcome.labelled.weights.matrix.toarray()[np.ix_(place, place)]
    theirs = LabelSpreading(kernel=lambda a, b: weights, alpha=0.9, max_iter=10_000, tol=1e-12)
    theirs.fit(X, y)
    np.testing.assert_array_equal(model.transduction_, theirs.transduction_)
    np.testing.assert_allclose(model.label_distributions_, theirs.label_distributions_, atol=1e-5)


def test_pooled_is_one_site(digits):
    X, _, y, groups = digits
    pooled = PooledLabelPropagation(random_state=0).fit(X, y, groups)
    one = CrossClientLabelPropagation(random_state=0).fit(X, y)
    np.testing.assert_allclose(pooled.label_distributions_, one.label_distributions_, atol=1e-5)


def test_new_rows_are_labelled(digits):
    X, truth, y, groups = digits
    model = CrossClientLabelPropagation(random_state=0).fit(X[:450], y[:450], groups[:450])
    predicted = model.predict(X[450:], groups[450:])
    assert (predicted == truth[450:]).mean() > 0.8
    shares = model.predict_proba(X[450:])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], predicted)


def test_alone_needs_to_know_the_site_of_new_rows(digits):
    X, truth, y, groups = digits
    model = PerSiteLabelPropagation(random_state=0).fit(X, y, groups)
    assert (model.predict(X, groups) == truth).mean() > 0.5
    with pytest.raises(InputError, match="groups is missing"):
        model.predict(X)
    with pytest.raises(InputError, match=r"no such site at fit: noth.*Did you mean 'north'"):
        model.predict(X[:1], ["noth"])


@pytest.mark.parametrize("unknown", [None, np.nan, -1])
def test_words_as_labels(digits, unknown):
    X, truth, y, groups = digits
    words = np.array([f"digit {t}" for t in truth], dtype=object)
    words[y == -1] = unknown
    model = CrossClientLabelPropagation(random_state=0).fit(X, words, groups)
    plain = CrossClientLabelPropagation(random_state=0).fit(X, y, groups)
    assert model.classes_.dtype.kind == "U"
    expected = [f"digit {label}" for label in plain.transduction_]
    assert model.transduction_.tolist() == expected


def test_floats_with_nan_as_labels(digits):
    X, _, y, groups = digits
    missing = np.where(y == -1, np.nan, y)
    model = CrossClientLabelPropagation(random_state=0).fit(X, missing, groups)
    plain = CrossClientLabelPropagation(random_state=0).fit(X, y, groups)
    np.testing.assert_array_equal(model.transduction_, plain.transduction_)


def test_what_no_label_reaches_has_none():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(5, 0.1, (20, 2)), rng.normal(-5, 0.1, (20, 2))])
    labels = np.array([0, 0, *[-1] * 38])
    settings = {"features": "identity", "equalise": False, "random_state": 0, "n_neighbors": 12}
    model = CrossClientLabelPropagation(**settings).fit(points, labels)
    assert model.transduction_.tolist() == [0] * 20 + [-1] * 20
    assert model.confidence_[20:].tolist() == [0.0] * 20
    words = np.array(["a", "a", *[None] * 38], dtype=object)
    model = CrossClientLabelPropagation(**settings).fit(points, words)
    assert model.transduction_.tolist() == ["a"] * 20 + [None] * 20
    assert model.predict([[-4.0, -4.0]]).tolist() == [None]


def test_the_paper_preset_gives_way_to_what_is_set(digits):
    X, _, y, groups = digits
    paper = CrossClientLabelPropagation(preset="paper", random_state=0).fit(X, y, groups)
    assert (paper.n_neighbors_, paper.alpha_) == (10, 0.99)
    mine = CrossClientLabelPropagation(preset="paper", n_neighbors=3, random_state=0)
    assert mine.fit(X, y, groups).n_neighbors_ == 3
    with pytest.raises(InputError, match=r"preset is 'papr'\. Did you mean 'paper'"):
        CrossClientLabelPropagation(preset="papr").fit(X, y)


def test_all_settings_that_are_wrong_are_named(digits):
    X, _, y, _ = digits
    wrong = CrossClientLabelPropagation(n_neighbors=0, alpha=2, hamming="clera", sharpness=-1)
    with pytest.raises(InputError) as caught:
        wrong.fit(X, y)
    assert len(caught.value.problems) == 4
    assert "Did you mean 'clear'?" in str(caught.value)


def test_auto_chooses_and_reports(digits):
    X, truth, y, groups = digits
    auto = CrossClientLabelPropagation("auto", "auto", random_state=0).fit(X, y, groups)
    assert auto.n_neighbors_ in (10, 20, 40)
    assert accuracy(auto, truth, y) > 0.8


def test_few_rows_have_fewer_neighbours():
    with pytest.warns(ColabelWarning, match="n_neighbors=20 with 4 points: 3 neighbours"):
        model = CrossClientLabelPropagation(random_state=0).fit(np.eye(4), [0, 1, -1, -1])
    assert model.n_neighbors_ == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [-1, -1, -1]}, "no row has a label"),
        ({"y": None}, "requires y to be passed"),
        ({"y": [0, 1]}, "2 labels for 3 rows"),
        ({"groups": ["a", "b"]}, r"groups has shape \(2,\) for 3 rows"),
        ({"groups": np.array(["a", None, "b"], dtype=object)}, "row 1: a row has no site"),
        ({"X": [[0.0], [np.nan], [1.0]]}, "NaN"),
        ({"X": [["a"], ["b"], ["c"]]}, "could not convert|dtype"),
    ],
)
def test_bad_input_is_refused(change, message):
    arguments = {"X": [[0.0], [1.0], [2.0]], "y": [0, 1, -1], "groups": None} | change
    with pytest.raises(ValueError, match=message):
        CrossClientLabelPropagation().fit(**arguments)


def test_the_same_random_state_gives_the_same_labels(digits):
    X, _, y, groups = digits
    model = CrossClientLabelPropagation(random_state=7)
    first, second = (clone(model).fit(X, y, groups) for _ in range(2))
    np.testing.assert_array_equal(first.label_distributions_, second.label_distributions_)
    public = [entry for entry in first.ledger_ if "fixed in the plan" in entry.what]
    assert len(public) == 1
    secret = CrossClientLabelPropagation().fit(X, y, groups)
    assert not any("fixed in the plan" in entry.what for entry in secret.ledger_)


def test_a_fitted_model_survives_pickling(digits):
    X, _, y, groups = digits
    model = CrossClientLabelPropagation(random_state=0).fit(X, y, groups)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  our own bytes
    np.testing.assert_array_equal(model.predict(X[:9]), again.predict(X[:9]))


def test_a_site_without_labels_is_labelled_by_the_others(digits):
    X, truth, y, groups = digits
    y = np.where(groups == "west", -1, y)
    west = groups == "west"
    across = CrossClientLabelPropagation(random_state=0).fit(X, y, groups)
    alone = PerSiteLabelPropagation(random_state=0).fit(X, y, groups)
    assert (across.transduction_ == truth)[west].mean() > 0.75
    assert set(alone.transduction_[west]) == {-1}
