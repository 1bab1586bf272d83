"""FEMNIST as LEAF's scripts write it: JSON files of writers; the natural sites are the writers.

`all_data/` holds everything; `train/` and `test/`, if both are there, are LEAF's own split.
Pixels are 0 (ink) to 1 (paper), here 0 to 255. One file at a time is held as text (about 250 MB),
and one writer at a time as numbers; all images are 641 MB.
"""

import re
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.official.reading import Reading, broken, check_labels
from colabel.errors import InputError

_CLASSES = tuple("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_WRITERS, _IMAGES = 3_597, 817_851  # [XCLP, appendix on FEMNIST]
_SIDE = 28


class _Writer(msgspec.Struct):
    x: msgspec.Raw
    y: list[int]


class _File(msgspec.Struct):
    users: list[str]
    num_samples: list[int]
    user_data: dict[str, _Writer]


def femnist(reading: Reading) -> Benchmark:
    """817,851 handwritten digits and letters, 28 × 28, 62 classes, by 3,597 writers; 641 MB."""
    images, labels, writers = [], [], []
    is_test = list[NDArray[np.bool_]]()
    for path, test in _files(reading):
        for writer, x, y in _read(path):
            images.append(x)
            labels.append(y)
            writers.append(np.full(len(y), writer))
            is_test.append(np.full(len(y), test))
    names = np.concatenate(writers)
    reading.count(
        {"images": _IMAGES, "writers": _WRITERS},
        {"images": len(names), "writers": len(np.unique(names))},
    )
    test_rows = np.concatenate(is_test)
    return Benchmark(
        "femnist",
        np.concatenate(images),
        np.concatenate(labels),
        _CLASSES,
        licence="LEAF: BSD-2-Clause; NIST Special Database 19: public",
        source="FEMNIST (LEAF, Caldas et al. 2018)",
        natural_sites=names,
        is_test=test_rows if test_rows.any() else None,
    )


def _files(reading: Reading) -> list[tuple[Path, bool]]:
    """Every file, and whether it is of the test part."""
    split = all((reading.folder / part).is_dir() for part in ("train", "test"))
    parts = ("train", "test") if split else ("all_data",)
    found = [
        (path, part == "test")
        for part in parts
        # as numbers: all_data_10 comes after all_data_9
        for path in sorted((reading.folder / part).glob("*.json"), key=_numbers)
    ]
    if not found:
        raise broken(reading.folder / parts[0], "there are no JSON files in it")
    return found


def _numbers(path: Path) -> list[tuple[int, str]]:
    return [
        (int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"(\d+)", path.name)
    ]


def _read(path: Path) -> list[tuple[str, NDArray[np.uint8], NDArray[np.int64]]]:
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=_File)
        return [
            (name, *_writer(path, name, stored.user_data[name], n))
            for name, n in zip(stored.users, stored.num_samples, strict=True)
        ]
    except InputError:
        raise
    except (msgspec.DecodeError, KeyError, ValueError) as error:
        raise broken(path, f"{type(error).__name__}: {error}") from error


def _writer(
    path: Path, name: str, writer: _Writer, n: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    rows = msgspec.json.decode(writer.x, type=list[list[float]])
    if not len(rows) == len(writer.y) == n:
        raise broken(path, f"{name} has {len(rows)} images, {len(writer.y)} labels, and says {n}")
    values = np.array(rows, np.float64).reshape(n, _SIDE, _SIDE)
    if not ((values >= 0) & (values <= 1)).all():
        raise broken(path, f"{name} has pixels that are not between 0 and 1")
    labels = np.array(writer.y, np.int64)
    check_labels(path, labels, 0, len(_CLASSES) - 1)
    return np.rint(values * 255).astype(np.uint8), labels
