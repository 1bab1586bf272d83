"""STL-10, binary version: per image the red, green and blue 96 × 96, each column by column."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.official.reading import AGAIN, Reading, check_labels
from colabel.data.lazy import one_after_another
from colabel.data.site import UNLABELLED
from colabel.errors import InputError, Problem

_CLASSES = (
    "airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck",
)  # fmt: skip
_SIDE = 96
_MD5 = {
    "train_X.bin": "md5:918c2871b30a85fa023e0c44e0bee87f",
    "train_y.bin": "md5:5a34089d4802c674881badbb80307741",
    "test_X.bin": "md5:7f263ba9f9e0b06b93213547f721ac82",
    "test_y.bin": "md5:36f9794fa4beb8a2c72628de14fa638e",
    "unlabeled_X.bin": "md5:5242ba1fed5e4be9e1e742405eb56ca4",
}
_COUNTS = {"train_X.bin": 5_000, "test_X.bin": 8_000, "unlabeled_X.bin": 100_000}


def stl10(reading: Reading) -> Benchmark:
    """5,000 + 8,000 labelled and 100,000 unlabelled colour images, 96 × 96; 3.1 GB, kept on disk.

    The unlabelled images have the label −1, and some show none of the ten classes.
    """
    files = reading.present(list(_COUNTS))
    images = [_images(reading.verified(file, _MD5[file])) for file in files]
    sizes = [len(part) for part in images]
    reading.count(
        {f"images in {file}": n for file, n in _COUNTS.items()},
        {f"images in {file}": n for file, n in zip(files, sizes, strict=True)},
    )
    parts = [file.removesuffix("_X.bin") for file in files]
    part_of_row = np.repeat(parts, sizes)
    return Benchmark(
        "stl10",
        one_after_another(images),
        np.concatenate([_labels(reading, p, n) for p, n in zip(parts, sizes, strict=True)]),
        _CLASSES,
        licence="none stated; the images come from ImageNet",
        source="STL-10 (Coates et al. 2011), binary version",
        is_test=part_of_row == "test",
        groups={"part": part_of_row},
    )


def _images(path: Path) -> NDArray[np.uint8]:
    size, each = path.stat().st_size, 3 * _SIDE * _SIDE
    if size % each or not size:
        what = f"{path} has {size:,} bytes, which is not a number of images of {each:,} bytes"
        raise InputError(Problem(f"{what}: it is cut off, or another file", AGAIN))
    stored = np.memmap(path, np.uint8, mode="r").reshape(-1, 3, _SIDE, _SIDE)
    return stored.transpose(0, 3, 2, 1)  # stored as plane, column, row


def _labels(reading: Reading, part: str, n: int) -> NDArray[np.int64]:
    if part == "unlabeled":
        return np.full(n, UNLABELLED, np.int64)
    name = f"{part}_y.bin"
    path, data = reading.path(name), reading.content(name, _MD5[name])
    labels = np.frombuffer(data, np.uint8).astype(np.int64)
    if len(labels) != n:
        raise InputError(Problem(f"{path} has {len(labels):,} labels for {n:,} images", AGAIN))
    check_labels(path, labels, 1, 10)
    return labels - 1
