"""RuleFit: rules are the trees' own, weights make them a classifier, words say what it does."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from colabel.cotrain.kinds import KINDS, learner
from colabel.cotrain.learners import Examples
from colabel.cotrain.rules import RuleFit, _holds, rules_of
from colabel.errors import InputError


def test_rules_are_the_nodes_of_a_tree():
    X, y = make_moons(200, noise=0.2, random_state=0)
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, y)
    rules = rules_of(tree.tree_)
    assert len(rules) == tree.tree_.node_count - 1
    paths = tree.decision_path(X).toarray()[:, 1:]
    held = np.column_stack([_holds(rule, X) for rule in rules])
    assert sorted(held.sum(axis=0).tolist()) == sorted(paths.sum(axis=0).tolist())
    np.testing.assert_array_equal(held.sum(axis=1), paths.sum(axis=1))


def test_rules_do_what_no_line_can():
    X, y = make_moons(600, noise=0.15, random_state=0)
    lines = LogisticRegression().fit(X[:300], y[:300]).score(X[300:], y[300:])
    rules = RuleFit(random_state=0).fit(X[:300], y[:300])
    assert rules.score(X[300:], y[300:]) > lines + 0.03
    assert len(rules.rules_) <= 200


def test_it_says_what_it_does():
    X, y = load_breast_cancer(return_X_y=True)
    model = RuleFit(max_rules=30, random_state=0).fit(X, y)
    said = model.explain([f"column {number}" for number in range(30)])
    assert any("≤" in word and "column" in word for word, _ in said)
    assert all(any(weights) for _, weights in said)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_learns_three_classes_with_gaps(kind):
    if kind == "xgboost":
        pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    y = rng.choice([0, 2, 5], 150)
    X = rng.normal(size=(150, 4)) + 3 * y[:, None] * np.array([1, 0, 0, 0])
    held = learner(kind, 6, 0)
    held.learn(Examples(X, y), Examples.nothing(X), 0)
    assert (held.predict(X) == y).mean() > 0.9
    np.testing.assert_allclose(held.shares(X).sum(axis=1), 1.0, atol=1e-5)
    assert held.shares(X)[:, [1, 3, 4]].max() == 0


def test_unknown_kinds_have_a_hint():
    with pytest.raises(InputError, match="random_forest"):
        learner("random_forrest", 2, 0)
