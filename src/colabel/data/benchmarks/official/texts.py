"""Reviews and tweets; the points are texts, for a text embedder."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.official.reading import Reading, broken, check_words
from colabel.data.site import UNLABELLED

_REVIEW = re.compile(r"(\d+)_(\d+)\.txt")
_MOODS = ("Irrelevant", "Negative", "Neutral", "Positive")
_TWEETS = {"twitter_training.csv": 74_682, "twitter_validation.csv": 1_000}
_SENTIMENT140 = {
    "training.1600000.processed.noemoticon.csv": 1_600_000,
    "testdata.manual.2009.06.14.csv": 498,
}


def acl_imdb(reading: Reading) -> Benchmark:
    """25,000 + 25,000 film reviews, half of them positive."""
    return _reviews(reading, "acl_imdb", {})


def acl_imdb_unsup(reading: Reading) -> Benchmark:
    """The same with 50,000 more training reviews that have no label (−1)."""
    return _reviews(reading, "acl_imdb_unsup", {"train/unsup": 50_000})


def twitter(reading: Reading) -> Benchmark:
    """74,682 + 1,000 tweets on 32 brands and games, four moods; the sites are what they speak of.

    Several rows are rewordings of one tweet, also across the two parts: see the group `tweet`.
    """
    rows, is_test = _table(reading, _TWEETS, "utf-8", 4, 2, _MOODS)
    return Benchmark(
        "twitter",
        _texts([row[3] for row in rows]),
        np.array([_MOODS.index(row[2]) for row in rows], np.int64),
        _MOODS,
        licence="as stated on its Kaggle page",
        source="Twitter Sentiment Analysis (Kaggle 2021)",
        natural_sites=np.array([row[1] for row in rows]),
        is_test=is_test,
        groups={"tweet": np.array([row[0] for row in rows])},
    )


def sentiment140(reading: Reading) -> Benchmark:
    """1,600,000 tweets labelled by their emoticons + 359 labelled by hand; sites are the authors.

    The 139 neutral tweets of the test file are left out: training has no such class.
    """
    rows, is_test = _table(reading, _SENTIMENT140, "latin-1", 6, 0, ("0", "2", "4"))
    kept = [k for k, row in enumerate(rows) if row[0] != "2"]
    return Benchmark(
        "sentiment140",
        _texts([rows[k][5] for k in kept]),
        np.array([rows[k][0] == "4" for k in kept], np.int64),
        ("negative", "positive"),
        licence="none stated: use, do not redistribute",
        source="Sentiment140 (Go et al. 2009)",
        natural_sites=np.array([rows[k][4] for k in kept]),
        is_test=is_test[kept],
    )


def _reviews(reading: Reading, name: str, more: dict[str, int]) -> Benchmark:
    counts = {f"{part}/{mood}": 12_500 for part in ("train", "test") for mood in ("neg", "pos")}
    counts |= more
    texts, folders, stars = list[str](), list[str](), list[int]()
    for folder in counts:
        for path, number in _files(reading.folder / folder):
            texts.append(path.read_text(encoding="utf-8", errors="replace"))
            folders.append(folder)
            stars.append(number)
    reading.count(
        {f"reviews in {folder}": n for folder, n in counts.items()},
        {f"reviews in {folder}": folders.count(folder) for folder in counts},
    )
    if not texts:
        raise broken(reading.folder, f"there are no reviews in {', '.join(counts)}")
    moods = {"neg": 0, "pos": 1, "unsup": UNLABELLED}
    return Benchmark(
        name,
        _texts(texts),
        np.array([moods[folder.split("/")[1]] for folder in folders], np.int64),
        ("negative", "positive"),
        licence="none stated: use, do not redistribute",
        source="Large Movie Review Dataset (Maas et al. 2011)",
        is_test=np.array([folder.startswith("test/") for folder in folders]),
        groups={"stars": np.array(stars, np.int64)},
    )


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    """The reviews in the order of their numbers, with their stars (0 where unlabelled)."""
    found = []
    for path in folder.glob("*.txt"):
        match = _REVIEW.fullmatch(path.name)
        if match is None:
            raise broken(path, "its name is not number_stars.txt")
        found.append((int(match[1]), int(match[2]), path))
    for _, stars, path in sorted(found):
        yield path, stars


def _table(
    reading: Reading,
    counts: dict[str, int],
    encoding: str,
    width: int,
    label: int,
    words: tuple[str, ...],
) -> tuple[list[list[str]], NDArray[np.bool_]]:
    """All rows of a training and a test file, and which are of the test file."""
    training, test = counts
    parts = dict[str, list[list[str]]]()
    for name in reading.present([training, test]):
        path = reading.path(name)
        text = reading.content(name).decode(encoding, "replace")
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
        except csv.Error as error:
            raise broken(path, str(error)) from error
        for number, row in enumerate(rows):
            if len(row) != width:
                raise broken(path, f"{len(row)} columns, not {width}", number)
        check_words(path, [row[label] for row in rows], words)
        parts[name] = rows
    reading.count(
        {f"rows in {name}": n for name, n in counts.items()},
        {f"rows in {name}": len(rows) for name, rows in parts.items()},
    )
    is_test = [name == test for name, rows in parts.items() for _ in rows]
    return [row for rows in parts.values() for row in rows], np.array(is_test, np.bool_)


def _texts(texts: list[str]) -> NDArray[np.generic]:
    # of variable width: one long text must not widen all of them
    return np.array(texts, dtype=np.dtypes.StringDType())
