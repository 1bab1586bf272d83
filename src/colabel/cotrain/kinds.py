"""Learners by name, with the settings of FedCT's experiments [FedCT App. E.3].

Trees split by the Gini index, from two samples on. RuleFit has trees of 4 leaves and at most 200
rules.
"""

from collections.abc import Callable, Mapping
from typing import Any

from colabel.cotrain.learners import Fitted
from colabel.errors import InputError, Problem, did_you_mean
from colabel.features.optional import require


def _tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(criterion="gini", min_samples_split=2, random_state=seed)


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, random_state=seed)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, random_state=seed))


def _mlp(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(),
        MLPClassifier((64,), max_iter=500, tol=1e-3, random_state=seed),
    )


def _xgboost(seed: int) -> Any:
    return require("xgboost", "cotrain").XGBClassifier(random_state=seed, n_jobs=1)


def _rulefit(seed: int) -> Any:
    from colabel.cotrain.rules import RuleFit

    return RuleFit(tree_size=4, max_rules=200, random_state=seed)


KINDS: Mapping[str, Callable[[int], Any]] = {
    "decision_tree": _tree,
    "random_forest": _forest,
    "logistic": _logistic,
    "mlp": _mlp,
    "xgboost": _xgboost,
    "rulefit": _rulefit,
}


def learner(kind: str, n_classes: int, seed: int) -> Fitted:
    """A learner of this kind."""
    if kind not in KINDS:
        what = f"there is no learner called {kind!r}"
        raise InputError(Problem(what, did_you_mean(kind, tuple(KINDS))))
    return Fitted(lambda: KINDS[kind](seed), n_classes)
