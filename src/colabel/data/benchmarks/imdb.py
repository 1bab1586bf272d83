"""IMDB reviews (polarity 2.0): texts, for a text embedder."""

import csv
import gzip
from pathlib import Path

import numpy as np

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.folder import data_file


def imdb(folder: Path) -> Benchmark:
    """2,000 full film reviews, half of them positive; the points are texts."""
    path = data_file(folder, "text_imdb_polarity_v2/imdb_polarity2000.tsv.gz")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return Benchmark(
        "imdb",
        # of variable width: one long review must not widen all of them
        np.array([row["text"] for row in rows], dtype=np.dtypes.StringDType()),
        np.array([int(row["label"]) for row in rows], np.int64),
        ("negative", "positive"),
        licence="CC BY 4.0",
        source="Movie Review Data, polarity 2.0 (nltk_data)",
        groups={"fold_tag": np.array([row["cv_tag"] for row in rows])},
    )
