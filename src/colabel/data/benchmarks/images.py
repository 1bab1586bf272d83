"""Fashion-MNIST, MNIST with its writers, CIFAR-10."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.coding import decode_images
from colabel.data.benchmarks.folder import load_arrays

FASHION = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
CIFAR10 = (
    "airplane", "automobile", "bird", "cat", "deer",
    "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip

Arrays = dict[str, NDArray[np.generic]]


def fashion_mnist(folder: Path) -> Benchmark:
    """60,000 + 10,000 grey images of clothes, 28 × 28, 10 balanced classes."""
    arrays = load_arrays(folder, "fashion_mnist/fashion_mnist.npz")
    return Benchmark(
        "fashion_mnist",
        _both(arrays, "x"),
        _both(arrays, "y").astype(np.int64),
        FASHION,
        licence="MIT",
        source="zalandoresearch/fashion-mnist",
        is_test=_is_test(arrays),
    )


def mnist(folder: Path) -> Benchmark:
    """60,000 + 10,000 digits; the natural sites are the 539 + 297 people who wrote them."""
    arrays = load_arrays(folder, "mnist/mnist.npz")
    writers = _both(arrays, "writer")
    return Benchmark(
        "mnist",
        _both(arrays, "x"),
        _both(arrays, "y").astype(np.int64),
        tuple("0123456789"),
        licence="CC BY-SA 3.0; writers: BSD",
        source="MNIST; writer ids from QMNIST",
        natural_sites=np.array([f"writer-{w:04}" for w in writers.tolist()]),
        is_test=_is_test(arrays),
        groups={"writer": writers, "hsf": _both(arrays, "hsf")},
    )


def cifar10(folder: Path) -> Benchmark:
    """25,000 + 5,000 colour images, 32 × 32, a balanced part of CIFAR-10."""
    arrays = load_arrays(folder, "cifar10/cifar10_sub.npz")
    parts = [decode_images(arrays[f"x_{part}_enc"]) for part in ("train", "test")]
    return Benchmark(
        "cifar10",
        np.concatenate(parts),
        _both(arrays, "y").astype(np.int64),
        CIFAR10,
        licence="none stated: use, do not redistribute",
        source="CIFAR-10 (Krizhevsky 2009)",
        is_test=_is_test(arrays),
        groups={"original_row": _both(arrays, "idx")},
    )


def _both(arrays: Arrays, name: str) -> NDArray[np.generic]:
    return np.concatenate([arrays[f"{name}_train"], arrays[f"{name}_test"]])


def _is_test(arrays: Arrays) -> NDArray[np.bool_]:
    n = len(arrays["y_train"])
    return np.arange(n + len(arrays["y_test"])) >= n
