"""Random changes of images that leave their label as it is, on batches of (n, channels, h, w).

Every image of a batch is changed in its own way. Points that are no images are left alone.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from colabel.learning.plan import Augmentation

SHIFT = 4  # pixels, at most [XCLP App. A.2]
DEGREES = 10.0


def weaken(images: Tensor, kind: Augmentation, generator: torch.Generator) -> Tensor:
    """The augmentation of the papers: a small translation (or rotation), and a flip."""
    if kind == "none" or images.ndim != 4:
        return images
    if kind == "rotate_flip":
        return flip(rotate(images, DEGREES, generator), generator)
    moved = translate(images, SHIFT, generator)
    return flip(moved, generator) if kind == "translate_flip" else moved


def translate(images: Tensor, most: int, generator: torch.Generator) -> Tensor:
    """Move each image by up to so many pixels in each direction; what enters is a reflection."""
    n, _, height, width = images.shape
    padded = functional.pad(images, (most, most, most, most), mode="reflect")
    down = torch.randint(2 * most + 1, (n, 1), generator=generator) + torch.arange(height)
    right = torch.randint(2 * most + 1, (n, 1), generator=generator) + torch.arange(width)
    rows = torch.arange(n)[:, None, None]
    return padded.permute(0, 2, 3, 1)[rows, down[:, :, None], right[:, None, :]].permute(0, 3, 1, 2)


def flip(images: Tensor, generator: torch.Generator) -> Tensor:
    """Mirror every second image, at random."""
    turned = torch.rand(len(images), generator=generator) < 0.5
    return torch.where(turned[:, None, None, None], images.flip(-1), images)


def rotate(images: Tensor, degrees: float, generator: torch.Generator) -> Tensor:
    """Turn each image by up to so many degrees to either side; what enters is a reflection."""
    angles = (torch.rand(len(images), generator=generator) * 2 - 1) * math.radians(degrees)
    cos, sin, ratio = angles.cos(), angles.sin(), images.shape[2] / images.shape[3]
    return affine(images, a=cos, b=-sin * ratio, c=sin / ratio, d=cos, outside="reflection")


def affine(
    images: Tensor,
    a: Tensor | float = 1.0,
    b: Tensor | float = 0.0,
    c: Tensor | float = 0.0,
    d: Tensor | float = 1.0,
    right: Tensor | float = 0.0,
    down: Tensor | float = 0.0,
    outside: str = "zeros",
) -> Tensor:
    """Take the pixel at (x, y) from (a·x + b·y + right, c·x + d·y + down), for each image.

    x and y are from −1 to 1 over the width and the height; between pixels it is interpolated.
    """
    parts = [torch.as_tensor(part).expand(len(images)) for part in (a, b, right, c, d, down)]
    matrix = torch.stack([part.to(images) for part in parts], dim=1).reshape(-1, 2, 3)
    grid = functional.affine_grid(matrix, list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, padding_mode=outside, align_corners=False)
