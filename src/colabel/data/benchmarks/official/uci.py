"""The UCI sets in the files that UCI gives out."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from colabel.data.benchmarks import bundled, tabular
from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.official.reading import Reading, broken, check_labels, check_words

_COVERTYPE = "sha256:0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945"
_ADULT = {
    "adult.data": "sha256:5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "sha256:a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
_MUSHROOM = "sha256:e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e"
_WINE = {
    "red": "sha256:4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
    "white": "sha256:76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
}
_WDBC = "sha256:d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a"
_MUSHROOM_COLUMNS = (
    "cap-shape", "cap-surface", "cap-color", "bruises", "odor", "gill-attachment",
    "gill-spacing", "gill-size", "gill-color", "stalk-shape", "stalk-root",
    "stalk-surface-above-ring", "stalk-surface-below-ring", "stalk-color-above-ring",
    "stalk-color-below-ring", "veil-type", "veil-color", "ring-number", "ring-type",
    "spore-print-color", "population", "habitat",
)  # fmt: skip


def covertype(reading: Reading) -> Benchmark:
    """581,012 pieces of forest, 10 numbers + 4 areas + 40 soils; sites are the four areas."""
    path = reading.path("covtype.data")
    values = _numbers(path, reading.content("covtype.data", _COVERTYPE), 55)
    reading.count({"rows": 581_012}, {"rows": len(values)})
    check_labels(path, values[:, -1], 1, 7)
    for what, first, last in (("area", 10, 14), ("soil", 14, 54)):
        wrong = np.flatnonzero(
            (np.sort(values[:, first:last], axis=1)[:, -2:] != (0, 1)).any(axis=1)
        )
        if len(wrong):
            raise broken(path, f"there is not exactly one {what}", int(wrong[0]))
    return tabular.forest(values[:, :-1].astype(np.int16), values[:, -1].astype(np.int64) - 1)


def adult(reading: Reading) -> Benchmark:
    """32,561 + 16,281 people; does one earn over $50,000? `?` is a category of its own."""
    parts = []
    # the test file begins with a remark and ends its labels with a full stop
    for name, skipped, stop in (("adult.data", 0, ""), ("adult.test", 1, ".")):
        rows = _words(reading, name, _ADULT[name], ", ", 15)[skipped:]
        check_words(reading.path(name), [row[-1] for row in rows], (f"<=50K{stop}", f">50K{stop}"))
        parts.append([[*row[:-1], row[-1].removesuffix(".")] for row in rows])
    reading.count(
        {"people in adult.data": 32_561, "people in adult.test": 16_281},
        {"people in adult.data": len(parts[0]), "people in adult.test": len(parts[1])},
    )
    return tabular.people([*parts[0], *parts[1]], len(parts[0]))


def mushroom(reading: Reading) -> Benchmark:
    """8,124 mushrooms, 22 categories as 0/1 columns; `?` is a category of its own."""
    name = "agaricus-lepiota.data"
    rows = _words(reading, name, _MUSHROOM, ",", 23)
    check_words(reading.path(name), [row[0] for row in rows], ("e", "p"))
    reading.count({"mushrooms": 8_124}, {"mushrooms": len(rows)})
    return tabular.mushrooms(rows, _MUSHROOM_COLUMNS)


def wine_quality(reading: Reading) -> Benchmark:
    """1,599 red + 4,898 white wines; the label is the tasters' score, 3 to 9, as seven classes."""
    return tabular.rated_wines(_wines(reading))


def wine_colour(reading: Reading) -> Benchmark:
    """The same 6,497 wines; the label is the colour."""
    return tabular.coloured_wines(_wines(reading))


def wines_are_official(folder: Path) -> bool:
    """UCI separates columns by semicolons."""
    with (folder / "winequality-red.csv").open("rb") as file:
        return b";" in file.readline()


def breast_cancer(reading: Reading) -> Benchmark:
    """569 biopsies, 30 measurements, malignant or benign."""
    rows = _words(reading, "wdbc.data", _WDBC, ",", 32)
    path = reading.path("wdbc.data")
    check_words(path, [row[1] for row in rows], ("M", "B"))
    reading.count({"biopsies": 569}, {"biopsies": len(rows)})
    try:
        points = np.array([row[2:] for row in rows], np.float64)
    except ValueError as error:
        raise broken(path, str(error)) from error
    return Benchmark(
        "breast_cancer",
        points,
        np.array([row[1] == "B" for row in rows], np.int64),
        ("malignant", "benign"),
        licence="CC BY 4.0",
        source="UCI Breast Cancer Wisconsin (Diagnostic)",
        columns=bundled.breast_cancer().columns,
    )


def _wines(reading: Reading) -> tabular.Wines:
    tables, heads = [], []
    for colour in tabular.WINE_COLOURS:
        name = f"winequality-{colour}.csv"
        path, data = reading.path(name), reading.content(name, _WINE[colour])
        head, _, body = data.partition(b"\n")
        heads.append(head.decode("ascii", "replace").strip().replace('"', "").replace(" ", "_"))
        values = _numbers(path, body, 12, ";").astype(np.float64)
        check_labels(path, values[:, -1], 3, 9)
        tables.append(values)
    if heads[0] != heads[1] or not heads[0].endswith(";quality"):
        raise broken(reading.path("winequality-white.csv"), f"its head is {heads[1]!r}")
    reading.count(
        {"red wines": 1_599, "white wines": 4_898},
        {"red wines": len(tables[0]), "white wines": len(tables[1])},
    )
    return tabular.wines_of(tables, tuple(heads[0].split(";")[:-1]))


def _numbers(path: Path, data: bytes, width: int, delimiter: str = ",") -> NDArray[np.generic]:
    """A table of numbers without a head."""
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(data),
            arrow_csv.ReadOptions(autogenerate_column_names=True),
            arrow_csv.ParseOptions(delimiter=delimiter),
        )
    except pa.ArrowInvalid as error:
        raise broken(path, str(error)) from error
    columns = [column.to_numpy() for column in table.columns]
    if len(columns) != width:
        raise broken(path, f"{len(columns)} columns, not {width}")
    words = [c for c, column in enumerate(columns) if column.dtype.kind not in "iuf"]
    if words or any(column.null_count for column in table.columns):
        raise broken(path, "not every cell is a number")
    return np.column_stack(columns)


def _words(
    reading: Reading, name: str, checksum: str, delimiter: str, width: int
) -> list[list[str]]:
    text = reading.content(name, checksum).decode("ascii", "replace")
    rows = [line.split(delimiter) for line in text.splitlines() if line.strip()]
    for number, row in enumerate(rows):
        # a remark, as at the beginning of adult.test, is not a row
        if len(row) != width and not row[0].startswith("|"):
            raise broken(reading.path(name), f"{len(row)} columns, not {width}", number)
    if not any(len(row) == width for row in rows):
        raise broken(reading.path(name), "it has no rows")
    return rows
