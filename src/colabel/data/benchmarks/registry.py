"""The public data sets by name.

Where the official files of a set lie in the data folder they are read; otherwise colabel's own
smaller copy, or the one that scikit-learn brings along. `Benchmark.source` says which it was.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from colabel.data.benchmarks import bundled, images, tabular
from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.folder import Absent, data_folder, known_folder
from colabel.data.benchmarks.ham10000 import ham10000, ham10000_features
from colabel.data.benchmarks.heart import heart
from colabel.data.benchmarks.imdb import imdb
from colabel.data.benchmarks.official import OFFICIAL
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
BENCHMARKS: tuple[str, ...] = tuple(sorted({*_BUNDLED, *_STORED, *OFFICIAL}))


def load(
    name: str,
    data_dir: str | Path | None = None,
    *,
    allow_partial: bool = False,
    side: int | None = None,
) -> Benchmark:
    """A data set by name; `data_dir` defaults to the variable COLABEL_DATA.

    Official files must be complete: their counts and checksums are compared, unless
    `allow_partial`. `side` is the size to which image files of all sizes are brought.
    """
    _check_name(name)
    official = OFFICIAL.get(name)
    root = known_folder(data_dir) if name in _BUNDLED else data_folder(data_dir)
    here = official.find(root) if official and root else None
    if official and here:
        return official.load(here, allow_partial, side)
    if side is not None and (official is None or official.side is None):
        what = f"the points of {name} have a size of their own, and side={side} was given"
        raise InputError(Problem(what, "Leave out `side`."))
    if name in _BUNDLED:
        return _BUNDLED[name]()
    folder = data_folder(data_dir)
    if name not in _STORED:
        raise InputError(OFFICIAL[name].absent(folder))
    try:
        return _STORED[name](folder)
    except Absent as error:
        if official is None:
            raise
        raise InputError([*error.problems, official.absent(folder)]) from None


def describe(name: str) -> str:
    """What a data set is, in one line."""
    _check_name(name)
    readers = {**{key: one.read for key, one in OFFICIAL.items()}, **_BUNDLED, **_STORED}
    return (readers[name].__doc__ or "").splitlines()[0]


def _check_name(name: str) -> None:
    if name not in BENCHMARKS:
        raise InputError(Problem(f"unknown data set {name!r}", did_you_mean(name, BENCHMARKS)))
