"""Heart Disease: four real hospitals, 13 measurements, is a coronary artery narrowed?

`?` is missing. A cholesterol or a blood pressure of 0 is impossible and so missing too; all of
Switzerland's cholesterol is. A missing value becomes the median of the column's present values
over the four hospitals; every column is kept. The label is 0 against 1 to 4.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.folder import data_file

HOSPITALS = ("cleveland", "hungarian", "switzerland", "va")
_COLUMNS = (
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg",
    "thalach", "exang", "oldpeak", "slope", "ca", "thal",
)  # fmt: skip
_NEVER_ZERO = ("trestbps", "chol")


def heart(folder: Path) -> Benchmark:
    """303 + 294 + 123 + 200 patients; Switzerland has 8 healthy ones only."""
    tables = [_read(data_file(folder, f"uci_heart/processed.{name}.data")) for name in HOSPITALS]
    values = np.concatenate(tables)
    points = values[:, :-1]
    for column in _NEVER_ZERO:
        c = _COLUMNS.index(column)
        points[points[:, c] == 0, c] = np.nan
    return Benchmark(
        "heart",
        np.where(np.isnan(points), np.nanmedian(points, axis=0), points),
        (values[:, -1] > 0).astype(np.int64),
        ("absent", "present"),
        licence="CC BY 4.0",
        source="UCI Heart Disease",
        metric="balanced_accuracy",
        columns=_COLUMNS,
        natural_sites=np.repeat(HOSPITALS, [len(table) for table in tables]),
        groups={"has_missing": np.asarray(np.isnan(points).any(axis=1))},
    )


def _read(path: Path) -> NDArray[np.float64]:
    text = path.read_text(encoding="ascii").replace("?", "nan")
    return np.loadtxt(text.splitlines(), delimiter=",", ndmin=2)
