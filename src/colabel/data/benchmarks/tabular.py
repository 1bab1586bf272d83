"""Covertype, Adult, Mushroom and Wine Quality, from UCI."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.columns import encode_columns
from colabel.data.benchmarks.folder import data_file, load_arrays

WINE_COLOURS = ("red", "white")
_LICENCE = "CC BY 4.0"
_WILDERNESS = ("Rawah", "Neota", "Comanche Peak", "Cache la Poudre")
_COVER = (
    "Spruce/Fir", "Lodgepole Pine", "Ponderosa Pine", "Cottonwood/Willow",
    "Aspen", "Douglas-fir", "Krummholz",
)  # fmt: skip
_FOREST = (
    "Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology", "Horizontal_Distance_To_Roadways", "Hillshade_9am",
    "Hillshade_Noon", "Hillshade_3pm", "Horizontal_Distance_To_Fire_Points",
)  # fmt: skip
_ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country",
)  # fmt: skip
_ADULT_NUMERIC = (
    "age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week",
)  # fmt: skip


def covertype(folder: Path) -> Benchmark:
    """581,012 pieces of forest, 10 numbers + 4 areas + 40 soils; sites are the four areas."""
    arrays = load_arrays(folder, "uci_covertype/covertype.npz")
    area, soil = arrays["wilderness"].astype(np.int64), arrays["soil"].astype(np.int64)
    numeric = arrays["numeric"].T
    points = np.concatenate(
        [numeric, np.eye(4, dtype=numeric.dtype)[area], np.eye(40, dtype=numeric.dtype)[soil]],
        axis=1,
    )
    return forest(points, arrays["y"].astype(np.int64) - 1)


def forest(points: NDArray[np.generic], labels: NDArray[np.int64]) -> Benchmark:
    """Covertype from its 54 columns."""
    area = points[:, 10:14].argmax(axis=1)
    return Benchmark(
        "covertype",
        points,
        labels,
        _COVER,
        licence=_LICENCE,
        source="UCI Covertype",
        metric="balanced_accuracy",
        columns=(
            *_FOREST,
            *(f"Wilderness={name}" for name in _WILDERNESS),
            *(f"Soil={s + 1}" for s in range(40)),
        ),
        natural_sites=np.array(_WILDERNESS)[area],
    )


def adult(folder: Path) -> Benchmark:
    """32,561 + 16,281 people; does one earn over $50,000? `?` is a category of its own."""
    train = _lines(data_file(folder, "uci_adult/adult.data.gz"))
    # the test file begins with a remark and ends its labels with a full stop
    test = [line.rstrip(".") for line in _lines(data_file(folder, "uci_adult/adult.test.gz"))[1:]]
    rows = [line.split(", ") for line in [*train, *test]]
    return people(rows, len(train))


def people(rows: list[list[str]], n_train: int) -> Benchmark:
    """Adult from its rows of words."""
    table = np.array(rows)
    points, columns = encode_columns(table[:, :-1], _ADULT, _ADULT_NUMERIC)
    return Benchmark(
        "adult",
        points,
        (table[:, -1] == ">50K").astype(np.int64),
        ("<=50K", ">50K"),
        licence=_LICENCE,
        source="UCI Adult",
        columns=columns,
        is_test=np.arange(len(table)) >= n_train,
    )


def mushroom(folder: Path) -> Benchmark:
    """8,124 mushrooms, 22 categories as 0/1 columns; `?` is a category of its own."""
    header, *lines = _lines(data_file(folder, "uci_mushroom/agaricus-lepiota.csv.gz"))
    return mushrooms([line.split(",") for line in lines], header.split(",")[1:])


def mushrooms(rows: list[list[str]], names: Sequence[str]) -> Benchmark:
    """Mushroom from its rows of words, the first of which says whether it is edible."""
    table = np.array(rows)
    points, columns = encode_columns(table[:, 1:], names)
    return Benchmark(
        "mushroom",
        points,
        (table[:, 0] == "p").astype(np.int64),
        ("edible", "poisonous"),
        licence=_LICENCE,
        source="UCI Mushroom",
        columns=columns,
    )


def wine_quality(folder: Path) -> Benchmark:
    """1,599 red + 4,898 white wines; the label is the tasters' score, 3 to 9, as seven classes.

    The natural sites are the two colours.
    """
    return rated_wines(_wines(folder))


def wine_colour(folder: Path) -> Benchmark:
    """The same 6,497 wines; the label is the colour."""
    return coloured_wines(_wines(folder))


class Wines(NamedTuple):
    """The rows of both files."""

    points: NDArray[np.float64]
    columns: tuple[str, ...]
    quality: NDArray[np.int64]
    colour: NDArray[np.str_]


def rated_wines(wines: Wines) -> Benchmark:
    """Wine Quality, by the tasters' score."""
    points, columns, quality, colour = wines
    return Benchmark(
        "wine_quality",
        points,
        quality - 3,
        tuple("3456789"),
        licence=_LICENCE,
        source="UCI Wine Quality",
        metric="balanced_accuracy",
        columns=columns,
        natural_sites=colour,
    )


def coloured_wines(wines: Wines) -> Benchmark:
    """Wine Quality, by the colour."""
    points, columns, quality, colour = wines
    return Benchmark(
        "wine_colour",
        points,
        (colour == "white").astype(np.int64),
        ("red", "white"),
        licence=_LICENCE,
        source="UCI Wine Quality",
        columns=columns,
        groups={"quality": quality},
    )


def _wines(folder: Path) -> Wines:
    paths = [data_file(folder, f"uci_wine_quality/winequality-{c}.csv") for c in WINE_COLOURS]
    with paths[0].open(encoding="ascii") as lines:
        columns = tuple(lines.readline().strip().split(",")[:-1])
    tables = [np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2) for path in paths]
    return wines_of(tables, columns)


def wines_of(tables: Sequence[NDArray[np.float64]], columns: tuple[str, ...]) -> Wines:
    """The two tables as one; the last column is the score."""
    values = np.concatenate(tables)
    colour = np.repeat(WINE_COLOURS, [len(table) for table in tables])
    return Wines(values[:, :-1], columns, values[:, -1].astype(np.int64), colour)


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="ascii") as lines:
        return [line.strip() for line in lines if line.strip()]
