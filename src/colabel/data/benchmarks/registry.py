"""The public data sets by name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from colabel.data.benchmarks import bundled, images, tabular
from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.folder import data_folder
from colabel.data.benchmarks.ham10000 import ham10000, ham10000_features
from colabel.data.benchmarks.heart import heart
from colabel.data.benchmarks.imdb import imdb
from colabel.errors import InputError, Problem, did_you_mean

_BUNDLED: Mapping[str, Callable[[], Benchmark]] = {
    "breast_cancer": bundled.breast_cancer,
    "digits": bundled.digits,
    "iris": bundled.iris,
    "wine": bundled.wine,
}
_STORED: Mapping[str, Callable[[Path], Benchmark]] = {
    "adult": tabular.adult,
    "cifar10": images.cifar10,
    "covertype": tabular.covertype,
    "fashion_mnist": images.fashion_mnist,
    "ham10000": ham10000,
    "ham10000_features": ham10000_features,
    "heart": heart,
    "imdb": imdb,
    "mnist": images.mnist,
    "mushroom": tabular.mushroom,
    "wine_colour": tabular.wine_colour,
    "wine_quality": tabular.wine_quality,
}
BENCHMARKS: tuple[str, ...] = tuple(sorted([*_BUNDLED, *_STORED]))


def load(name: str, data_dir: str | Path | None = None) -> Benchmark:
    """A data set by name; `data_dir` defaults to the variable COLABEL_DATA."""
    if name in _BUNDLED:
        return _BUNDLED[name]()
    if name not in _STORED:
        raise InputError(Problem(f"unknown data set {name!r}", did_you_mean(name, BENCHMARKS)))
    return _STORED[name](data_folder(data_dir))


def describe(name: str) -> str:
    """What a data set is, in one line."""
    loaders = {**_BUNDLED, **_STORED}
    if name not in loaders:
        raise InputError(Problem(f"unknown data set {name!r}", did_you_mean(name, BENCHMARKS)))
    return (loaders[name].__doc__ or "").splitlines()[0]
