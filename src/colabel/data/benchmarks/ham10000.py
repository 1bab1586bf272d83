"""HAM10000: skin lesions from four real centres, seven skewed classes.

Several images show the same lesion: the test part is disjoint in lesions, never in images only.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.coding import decode_images
from colabel.data.benchmarks.folder import load_arrays

_FEATURES = "ham10000/ham10000_lite0_pca128.npz"


def ham10000(folder: Path) -> Benchmark:
    """10,015 colour images, 32 × 32."""
    arrays = load_arrays(folder, "ham10000/ham10000_32.npz")
    is_test = load_arrays(folder, _FEATURES)["is_test_lesion"]
    return _benchmark("ham10000", decode_images(arrays["x_enc"]), arrays, is_test)


def ham10000_features(folder: Path) -> Benchmark:
    """The same 10,015 images as 128 principal components of EfficientNet-lite0 features."""
    arrays = load_arrays(folder, "ham10000/ham10000_32.npz")
    stored = load_arrays(folder, _FEATURES)
    points = stored["features"].astype(np.float64)
    return _benchmark("ham10000_features", points, arrays, stored["is_test_lesion"])


def _benchmark(
    name: str,
    points: NDArray[np.generic],
    arrays: dict[str, NDArray[np.generic]],
    is_test: NDArray[np.generic],
) -> Benchmark:
    centres = arrays["center_names"].astype(str)
    return Benchmark(
        name,
        points,
        arrays["y"].astype(np.int64),
        tuple(arrays["class_names"].astype(str).tolist()),
        licence="CC BY-NC 4.0",
        source="HAM10000 / ISIC 2019",
        metric="balanced_accuracy",
        natural_sites=centres[arrays["center"].astype(np.int64)],
        is_test=is_test.astype(np.bool_),
        groups={key: arrays[key] for key in ("lesion", "age", "sex")},
    )
