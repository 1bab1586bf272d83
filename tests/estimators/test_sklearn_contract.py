"""scikit-learn's own checks, all of them."""

import pytest
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel import (
    CoTraining,
    CrossClientLabelPropagation,
    PerSiteLabelPropagation,
    PooledLabelPropagation,
)

EXPECTED_FAILURES = {
    "check_classifiers_classes": "it names a class -1, which here means unlabelled",
}


@parametrize_with_checks(
    [
        CrossClientLabelPropagation(n_bits=1024),
        CrossClientLabelPropagation(preset="paper"),
        PerSiteLabelPropagation(n_bits=1024),
        PooledLabelPropagation(n_bits=1024),
        CoTraining(DecisionTreeClassifier(random_state=0)),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
# the checks' small sets have fewer points than neighbours, which is warned about; scikit-learn
# itself casts infinite labels to int in one check
@pytest.mark.filterwarnings("ignore:n_neighbors:colabel.ColabelWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_estimator(estimator, check):
    check(estimator)
