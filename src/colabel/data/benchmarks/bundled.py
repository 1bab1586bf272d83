"""The small sets that scikit-learn brings along: no data folder needed."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets

from colabel.data.benchmarks.benchmark import Benchmark


def breast_cancer() -> Benchmark:
    """569 biopsies, 30 measurements, malignant or benign."""
    return _bundled("breast_cancer", datasets.load_breast_cancer, "CC BY 4.0")


def digits() -> Benchmark:
    """1,797 digits, 8 × 8 pixels as 64 columns."""
    return _bundled("digits", datasets.load_digits, "CC BY 4.0")


def wine() -> Benchmark:
    """178 wines, 13 measurements, three growers."""
    return _bundled("wine", datasets.load_wine, "CC BY 4.0")


def iris() -> Benchmark:
    """150 irises, 4 measurements, three species."""
    return _bundled("iris", datasets.load_iris, "CC BY 4.0")


def _bundled(name: str, load: Callable[[], Any], licence: str) -> Benchmark:
    bunch = load()
    return Benchmark(
        name,
        np.asarray(bunch.data, np.float64),
        np.asarray(bunch.target, np.int64),
        tuple(str(c) for c in bunch.target_names),
        licence=licence,
        source="UCI, bundled with scikit-learn",
        columns=tuple(str(c) for c in bunch.feature_names),
    )
