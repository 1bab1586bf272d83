"""Mini-ImageNet in the split files of Ravi and Larochelle: `images/` and three CSV files.

Their split is by classes (64 + 16 + 20), for few-shot learning; it is the group `few_shot_part`.
The papers classify all 100 classes and say 50,000 + 10,000 images, not which: here the last 100
images of each class, in the order of the files, are the test part.
"""

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.official.pictures import pictures, there
from colabel.data.benchmarks.official.reading import Reading, broken
from colabel.data.lazy import Points

_PARTS = {"train": 38_400, "val": 9_600, "test": 12_000}
_STORED = "mini_imagenet.npz"
_N_TEST = 100


def mini_imagenet(reading: Reading) -> Benchmark:
    """60,000 colour photographs, 100 balanced classes, decoded when asked for; 1.3 GB at 84 × 84.

    Or an NPZ file `mini_imagenet.npz` of one's own: x (n, H, W, 3) uint8 and y (n words).
    """
    if reading.find(_STORED):
        points, words = _arrays(reading)
        parts = None
    else:
        points, words, parts = _listed(reading)
    classes, labels = np.unique(words, return_inverse=True)
    reading.count(
        {"classes": 100} | {f"images of {word}": 600 for word in classes.tolist()},
        {"classes": len(classes)}
        | {
            f"images of {word}": n
            for word, n in zip(*np.unique(words, return_counts=True), strict=True)
        },
    )
    return Benchmark(
        "mini_imagenet",
        points,
        labels.astype(np.int64),
        tuple(classes.tolist()),
        licence="ImageNet's terms: non-commercial research",
        source="Mini-ImageNet (Vinyals et al. 2016), files of Ravi and Larochelle (2017)",
        is_test=_last_of_each(labels, _N_TEST),
        groups={} if parts is None else {"few_shot_part": parts},
    )


def _listed(reading: Reading) -> tuple[Points, NDArray[np.str_], NDArray[np.str_]]:
    paths, words, parts = list[Path](), list[str](), list[str]()
    for name in reading.present([f"{part}.csv" for part in _PARTS]):
        for file, word in _rows(reading.path(name)):
            paths.append(reading.folder / "images" / file)
            words.append(word)
            parts.append(name.removesuffix(".csv"))
    kept = there(reading, paths)
    images = pictures([paths[k] for k in kept], reading.side)
    return images, np.array(words)[kept], np.array(parts)[kept]


def _rows(path: Path) -> list[tuple[str, str]]:
    with path.open(encoding="ascii", errors="replace", newline="") as lines:
        head, *rows = [row for row in csv.reader(lines) if row] or [[]]
    if head != ["filename", "label"]:
        raise broken(path, f"its head is {','.join(head)!r}, not 'filename,label'")
    for number, row in enumerate(rows):
        # a name only: no way out of the folder
        if len(row) != 2 or not row[1] or Path(row[0]).name != row[0]:
            raise broken(path, f"{','.join(row)!r} is not a file name and a label", number)
    return [(file, word) for file, word in rows]


def _arrays(reading: Reading) -> tuple[Points, NDArray[np.str_]]:
    path = reading.path(_STORED)
    try:
        with np.load(path, allow_pickle=False) as stored:
            images, words = stored["x"], stored["y"].astype(str)
    except (OSError, ValueError, KeyError) as error:
        raise broken(path, str(error)) from error
    if images.ndim != 4 or images.shape[3] != 3 or images.dtype != np.uint8:
        raise broken(path, f"x is {images.dtype} {images.shape}, not uint8 (n, H, W, 3)")
    if words.shape != images.shape[:1]:
        raise broken(path, f"{len(words):,} labels for {len(images):,} images")
    return images, words


def _last_of_each(labels: NDArray[np.generic], n: int) -> NDArray[np.bool_]:
    chosen = np.zeros(len(labels), np.bool_)
    for c in np.unique(labels):
        chosen[np.flatnonzero(labels == c)[-n:]] = True
    return chosen
