"""SVHN, cropped digits: MATLAB files with X (32, 32, 3, n) and y, in which 10 is the digit 0."""

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.official.reading import Reading, broken, check_labels

_MD5 = {
    "train": "md5:e26dedcc434d2e4c54c9b2d4a06d8373",
    "test": "md5:eb5a983be6a315427106f1b164d9cef3",
    "extra": "md5:a93ce644f1a588dc4d68dda5feec44a7",
}
_COUNTS = {"train": 73_257, "test": 26_032, "extra": 531_131}


def svhn(reading: Reading) -> Benchmark:
    """73,257 + 26,032 colour images of house numbers' digits, 32 × 32; 305 MB."""
    return _read(reading, "svhn", ("train", "test"))


def svhn_extra(reading: Reading) -> Benchmark:
    """The same with the 531,131 extra, somewhat easier images as training images; 1.9 GB."""
    return _read(reading, "svhn_extra", ("train", "test", "extra"))


def _read(reading: Reading, name: str, wanted: tuple[str, ...]) -> Benchmark:
    files = reading.present([f"{part}_32x32.mat" for part in wanted])
    parts = [file.removesuffix("_32x32.mat") for file in files]
    found = [_part(reading, part) for part in parts]
    sizes = [len(labels) for _, labels in found]
    reading.count(
        {f"images in {part}_32x32.mat": _COUNTS[part] for part in wanted},
        {f"images in {file}": size for file, size in zip(files, sizes, strict=True)},
    )
    part_of_row = np.repeat(parts, sizes)
    return Benchmark(
        name,
        np.concatenate([images for images, _ in found]),
        np.concatenate([labels for _, labels in found]),
        tuple("0123456789"),
        licence="non-commercial use",
        source="SVHN, cropped digits (Netzer et al. 2011)",
        is_test=part_of_row == "test",
        groups={"part": part_of_row},
    )


def _part(reading: Reading, part: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    path = reading.verified(f"{part}_32x32.mat", _MD5[part])
    try:
        stored = loadmat(path, variable_names=["X", "y"])
        images, labels = stored["X"], stored["y"].ravel()
    # scipy lets through whatever its parser stumbles over
    except Exception as error:
        raise broken(path, f"{type(error).__name__}: {error}") from error
    if images.shape != (32, 32, 3, len(labels)) or images.dtype != np.uint8:
        raise broken(path, f"X has shape {images.shape} and y has {len(labels)} labels")
    check_labels(path, labels, 1, 10)
    return images.transpose(3, 0, 1, 2), labels.astype(np.int64) % 10
