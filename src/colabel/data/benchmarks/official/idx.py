"""MNIST and Fashion-MNIST: idx files, a big-endian head and then bytes.

MNIST alone does not say who wrote a digit. QMNIST does, in the same order: with its label files
beside MNIST's, the natural sites are the writers.
"""

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.images import FASHION
from colabel.data.benchmarks.official.reading import Reading, broken, check_labels

_FILES = (
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
)  # fmt: skip
_QMNIST = ("qmnist-train-labels-idx2-int", "qmnist-test-labels-idx2-int")
_MNIST_MD5 = (
    "md5:6bbc9ace898e44ae57da46a324031adb",
    "md5:a25bea736e30d166cdddb491f175f624",
    "md5:2646ac647ad5339dbf082846283269ea",
    "md5:27ae3e4e09519cfbb04c329615203637",
)
_FASHION_MD5 = (
    "md5:f4a8712d7a061bf5bd6d2ca38dc4d50a",
    "md5:9018921c3c673c538a1fc5bad174d6f9",
    "md5:8181f5470baa50b63fa0f6fddb340f0a",
    "md5:15d484375f8d13e6eb1aabb0c3f46965",
)
_BYTES, _INTEGERS = 0x08, 0x0C


def mnist(reading: Reading) -> Benchmark:
    """60,000 + 10,000 digits, 28 × 28; with QMNIST's label files the sites are the writers."""
    images, labels, n_train = _both(reading, _MNIST_MD5)
    sites, groups = _writers(reading, labels, n_train)
    return Benchmark(
        "mnist",
        images,
        labels,
        tuple("0123456789"),
        licence="CC BY-SA 3.0; writers: BSD",
        source="MNIST",
        natural_sites=sites,
        is_test=np.arange(len(labels)) >= n_train,
        groups=groups,
    )


def fashion_mnist(reading: Reading) -> Benchmark:
    """60,000 + 10,000 grey images of clothes, 28 × 28, 10 balanced classes."""
    images, labels, n_train = _both(reading, _FASHION_MD5)
    return Benchmark(
        "fashion_mnist",
        images,
        labels,
        FASHION,
        licence="MIT",
        source="zalandoresearch/fashion-mnist",
        is_test=np.arange(len(labels)) >= n_train,
    )


def _both(
    reading: Reading, checksums: tuple[str, ...]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], int]:
    train_x, train_y, test_x, test_y = (
        _array(reading, name, _BYTES, 3 if "images" in name else 1, checksum)
        for name, checksum in zip(_FILES, checksums, strict=True)
    )
    for name, images, labels in ((_FILES[1], train_x, train_y), (_FILES[3], test_x, test_y)):
        if len(images) != len(labels):
            why = f"{len(labels):,} labels for {len(images):,} images"
            raise broken(reading.path(name), why)
        check_labels(reading.path(name), labels, 0, 9)
    reading.count(
        {"training images": 60_000, "test images": 10_000},
        {"training images": len(train_x), "test images": len(test_x)},
    )
    both = np.concatenate([train_y, test_y]).astype(np.int64)
    return np.concatenate([train_x, test_x]), both, len(train_y)


def _writers(
    reading: Reading, labels: NDArray[np.int64], n_train: int
) -> tuple[NDArray[np.str_] | None, Mapping[str, NDArray[np.generic]]]:
    if not any(reading.find(name) for name in _QMNIST):
        return None, {}
    # QMNIST's test file has 50,000 more digits, after those of MNIST
    sizes = (n_train, len(labels) - n_train)
    tables = [
        _array(reading, name, _INTEGERS, 2)[:n] for name, n in zip(_QMNIST, sizes, strict=True)
    ]
    table = np.concatenate(tables)
    if table.shape != (len(labels), 8) or not np.array_equal(table[:, 0], labels):
        raise broken(reading.path(_QMNIST[0]), "its digits are not those of MNIST, in this order")
    writers = table[:, 2].astype(np.int64)
    names = np.array([f"writer-{w:04}" for w in writers.tolist()])
    return names, {"writer": writers, "hsf": table[:, 1].astype(np.int64)}


def _array(reading: Reading, name: str, kind: int, ndim: int, checksum: str = "") -> NDArray[Any]:
    data, head = reading.content(name, checksum), 4 + 4 * ndim
    if len(data) < head or data[:4] != bytes([0, 0, kind, ndim]):
        raise broken(reading.path(name), f"it begins with {data[:4].hex()}")
    shape = struct.unpack(f">{ndim}I", data[4:head])
    dtype = np.dtype(np.uint8 if kind == _BYTES else ">i4")
    expected = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if len(data) - head != expected:
        why = f"its head promises {expected:,} bytes, and {len(data) - head:,} follow"
        raise broken(reading.path(name), why)
    return np.frombuffer(data, dtype, offset=head).reshape(shape)
