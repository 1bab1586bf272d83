"""The lossless coding that keeps image files small: differences of neighbours and of colours."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def decode_images(coded: NDArray[np.generic]) -> Bytes:
    """Grey (N, H, W) or colour (3, N, H, W) differences to grey (N, H, W) or (N, H, W, 3)."""
    values = np.cumsum(coded, axis=-1, dtype=np.uint8)
    np.cumsum(values, axis=-2, dtype=np.uint8, out=values)
    if values.ndim == 3:
        return values
    # the planes are R − G, G, B − G, modulo 256
    images: Bytes = np.ascontiguousarray(values.transpose(1, 2, 3, 0))
    images[..., 0] += images[..., 1]
    images[..., 2] += images[..., 1]
    return images


def encode_images(images: NDArray[np.generic]) -> Bytes:
    """The inverse of `decode_images`."""
    values = images.astype(np.uint8)
    if values.ndim == 4:
        green = values[..., 1].copy()
        values[..., 0] -= green
        values[..., 2] -= green
        values = values.transpose(3, 0, 1, 2)
    for axis in (-2, -1):
        first = np.zeros_like(values.take([0], axis))
        values = np.diff(values, axis=axis, prepend=first)
    return values
