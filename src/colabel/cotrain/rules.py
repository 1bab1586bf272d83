"""RuleFit: rules taken from small boosted trees, weighed by a sparse linear model.

Friedman and Popescu, Predictive learning via rule ensembles, 2008. Every node of the trees but
their roots is a rule, "a ≤ 3 and b > 0.5"; a rule is a column of zeros and ones, beside the columns
themselves, cut off at their 2.5 and 97.5 % quantiles and scaled to the spread of a usual rule.
The weights of classes against the rest are those of an L1-regularised logistic regression.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

_USUAL = 0.4  # the standard deviation of a usual rule
_CUT = 0.025
_MOST_GROWN = 20_000  # points that trees are grown on

Floats = NDArray[np.float64]


class Condition(NamedTuple):
    """column ≤ threshold, or above it."""

    column: int
    above: bool
    threshold: float

    def holds(self, X: Floats) -> NDArray[np.bool_]:
        """For which rows."""
        # float32, as trees compare
        values = X[:, self.column].astype(np.float32)
        return (values > self.threshold) if self.above else (values <= self.threshold)


Rule = frozenset[Condition]


class RuleFit(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """tree_size: leaves of a tree; max_rules: so many rules at most; strength: of the fit (1/C is
    the weight of the L1 penalty).
    """

    def __init__(
        self,
        tree_size: int = 4,
        max_rules: int = 200,
        strength: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.tree_size = tree_size
        self.max_rules = max_rules
        self.strength = strength
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Grow trees, take their rules, weigh them."""
        points, labels = validate_data(self, X, y, dtype=np.float64)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        self.rules_ = self._grow(points, numbers)
        self._low, self._high = np.quantile(points, [_CUT, 1 - _CUT], axis=0)
        spread = np.clip(points, self._low, self._high).std(axis=0)
        self._scale = np.where(spread > 0, _USUAL / np.where(spread > 0, spread, 1.0), 0.0)
        linear = LogisticRegression(
            solver="liblinear", l1_ratio=1.0, C=self.strength, random_state=self.random_state
        )
        self.model_ = OneVsRestClassifier(linear).fit(self._columns(points), numbers)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """The class whose rules weigh most."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Class probabilities."""
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        found = self.model_.predict_proba(self._columns(points))
        shares: Floats = found if found.ndim == 2 else np.column_stack([1 - found, found])
        return shares

    def explain(self, columns: list[str] | None = None) -> list[tuple[str, list[float]]]:
        """Rules that weigh anything, in words, and their weights for each class (or for the second
        of two).
        """
        check_is_fitted(self)
        names = columns or [f"x{number}" for number in range(self.n_features_in_)]
        weights = np.array([held.coef_[0] for held in self.model_.estimators_])
        words = [*names, *(_in_words(rule, names) for rule in self.rules_)]
        return [(word, w.tolist()) for word, w in zip(words, weights.T, strict=True) if w.any()]

    def _grow(self, X: Floats, numbers: NDArray[np.int64]) -> list[Rule]:
        per_tree = 2 * (self.tree_size - 1)  # its nodes but the root
        n_trees = -(-self.max_rules // (per_tree * max(len(self.classes_) - 1, 1)))
        trees = GradientBoostingClassifier(
            n_estimators=n_trees,
            max_leaf_nodes=self.tree_size,
            subsample=min(1.0, _MOST_GROWN / len(X), max(0.5, (100 + 6 * len(X) ** 0.5) / len(X))),
            random_state=self.random_state,
        ).fit(X, numbers)
        found: dict[Rule, None] = {}
        for grown in trees.estimators_.ravel():
            found |= dict.fromkeys(rules_of(grown.tree_))
        return list(found)[: self.max_rules]

    def _columns(self, X: Floats) -> Floats:
        linear = np.clip(X, self._low, self._high) * self._scale
        held = [_holds(rule, X) for rule in self.rules_]
        return np.column_stack([linear, *held]).astype(np.float64)


def rules_of(tree: Any, node: int = 0, before: Rule = frozenset()) -> list[Rule]:
    """The conditions on the way to every node but the root."""
    if tree.children_left[node] < 0:
        return []
    found = []
    for child, above in ((tree.children_left[node], False), (tree.children_right[node], True)):
        step = Condition(int(tree.feature[node]), above, float(tree.threshold[node]))
        found.append(before | {step})
        found += rules_of(tree, int(child), before | {step})
    return found


def _holds(rule: Rule, X: Floats) -> NDArray[np.bool_]:
    return np.logical_and.reduce([condition.holds(X) for condition in rule])


def _in_words(rule: Rule, names: list[str]) -> str:
    return " and ".join(
        f"{names[one.column]} {'>' if one.above else '≤'} {one.threshold:.4g}"
        for one in sorted(rule)
    )
