"""CIFAR-10 and CIFAR-100, binary version: label byte(s), then the red, green and blue 32 × 32."""

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.images import CIFAR10
from colabel.data.benchmarks.official.reading import Reading, broken, check_labels, split_records

_PIXELS = 3 * 32 * 32
_LICENCE = "none stated: use, do not redistribute"
_BATCH = 10_000
_CIFAR10_SHA1 = {
    "data_batch_1.bin": "sha1:aadd24acce27caa71bf4b10992e9e7b2d74c2540",
    "data_batch_2.bin": "sha1:c0ba65cce70568cd57b4e03e9ac8d2a5367c1795",
    "data_batch_3.bin": "sha1:1dd00a74ab1d17a6e7d73e185b69dbf31242f295",
    "data_batch_4.bin": "sha1:aab85764eb3584312d3c7f65fd2fd016e36a258e",
    "data_batch_5.bin": "sha1:26e2849e66a845b7f1e4614ae70f4889ae604628",
    "test_batch.bin": "sha1:67eb016db431130d61cd03c7ad570b013799c88c",
}
_CIFAR100_SHA1 = {
    "train.bin": "sha1:e207cd2e05b73b1393c74c7f5e7bea451d63e08e",
    "test.bin": "sha1:8fb6623e830365ff53cf14adec797474f5478006",
}


def cifar10(reading: Reading) -> Benchmark:
    """50,000 + 10,000 colour images, 32 × 32, 10 balanced classes; 184 MB."""
    names = reading.present(list(_CIFAR10_SHA1))
    parts = [_records(reading, name, _CIFAR10_SHA1[name], (10,)) for name in names]
    reading.count(
        {f"images in {name}": _BATCH for name in _CIFAR10_SHA1},
        {f"images in {name}": len(labels) for name, (_, labels) in zip(names, parts, strict=True)},
    )
    starts = [0 if n.startswith("test") else _BATCH * (int(n[11]) - 1) for n in names]
    sizes = [len(labels) for _, labels in parts]
    return Benchmark(
        "cifar10",
        np.concatenate([images for images, _ in parts]),
        np.concatenate([labels[:, 0] for _, labels in parts]),
        CIFAR10,
        licence=_LICENCE,
        source="CIFAR-10 (Krizhevsky 2009), binary version",
        is_test=np.repeat([n.startswith("test") for n in names], sizes),
        groups={
            "original_row": np.concatenate(
                [start + np.arange(size) for start, size in zip(starts, sizes, strict=True)]
            )
        },
    )


def cifar100(reading: Reading) -> Benchmark:
    """50,000 + 10,000 colour images, 32 × 32, 100 balanced classes in 20 superclasses; 184 MB."""
    names = reading.present(list(_CIFAR100_SHA1))
    parts = [_records(reading, name, _CIFAR100_SHA1[name], (20, 100)) for name in names]
    reading.count(
        {"images in train.bin": 50_000, "images in test.bin": 10_000},
        {f"images in {name}": len(labels) for name, (_, labels) in zip(names, parts, strict=True)},
    )
    labels = np.concatenate([labels for _, labels in parts])
    superclasses = np.array(_names(reading, "coarse_label_names.txt", 20))
    return Benchmark(
        "cifar100",
        np.concatenate([images for images, _ in parts]),
        labels[:, 1],
        _names(reading, "fine_label_names.txt", 100),
        licence=_LICENCE,
        source="CIFAR-100 (Krizhevsky 2009), binary version",
        is_test=np.repeat([name == "test.bin" for name in names], [len(y) for _, y in parts]),
        groups={"superclass": superclasses[labels[:, 0]]},
    )


def _records(
    reading: Reading, name: str, checksum: str, n_classes: tuple[int, ...]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    path, data = reading.path(name), reading.content(name, checksum)
    records = split_records(path, data, len(n_classes) + _PIXELS)
    labels = records[:, : len(n_classes)].astype(np.int64)
    for column, n in enumerate(n_classes):
        check_labels(path, labels[:, column], 0, n - 1)
    planes = records[:, len(n_classes) :].reshape(-1, 3, 32, 32)
    return planes.transpose(0, 2, 3, 1), labels


def _names(reading: Reading, name: str, n: int) -> tuple[str, ...]:
    words = tuple(reading.content(name).decode("ascii", "replace").split())
    if len(words) != n or len(set(words)) != n:
        raise broken(reading.path(name), f"expected {n} different names, found {len(set(words))}")
    return words
