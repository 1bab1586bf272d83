"""Strong random changes of images, for FixMatch: two operations and a square cut out.

The operations and their ranges are those of RandAugment in FixMatch (Sohn et al. 2020, App. D).
They work on normalised images (n, channels, height, width), grey or colour, whatever the range of
their values: black and white of an image are its own smallest and largest value. What is moved in
or cut out is 0, the mean of normalised points. Every image is changed in its own way; each
operation is done once for all images of a batch that drew it.

A point that is no image loses a fifth of its columns instead, which become 0.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from colabel.learning import tones
from colabel.learning.augment import affine

N_OPERATIONS = 2
CUT = 0.5  # the side of the square, as a part of the image's
HIDDEN = 0.2
DEGREES, SHEAR, SHIFT = 30.0, 0.3, 0.3

Operation = Callable[[Tensor, Tensor], Tensor]  # images, strength of each from 0 to 1


def strengthen(points: Tensor, generator: torch.Generator) -> Tensor:
    """Change each point strongly."""
    if points.ndim != 4:
        kept = torch.rand(points.shape, generator=generator) >= HIDDEN
        return points * kept
    images = points
    for _ in range(N_OPERATIONS):
        drawn = torch.randint(len(OPERATIONS), (len(images),), generator=generator)
        strength = torch.rand(len(images), generator=generator)
        images = operate(images, drawn, strength)
    centre = torch.rand(len(images), 2, generator=generator)
    return cut_out(images, centre)


def operate(images: Tensor, drawn: Tensor, strength: Tensor) -> Tensor:
    """To each image the operation that it drew."""
    changed = images.clone()
    for number, operation in enumerate(OPERATIONS.values()):
        rows = (drawn == number).nonzero().squeeze(1)
        if len(rows):
            changed[rows] = operation(images[rows], strength[rows])
    return changed


def cut_out(images: Tensor, centre: Tensor) -> Tensor:
    """A square becomes 0; its centre is anywhere, so that a part of it may lie outside."""
    n, _, height, width = images.shape
    inside = torch.ones(n, height, width, dtype=torch.bool, device=images.device)
    for axis, size in ((0, height), (1, width)):
        half = CUT * size / 2
        near = (torch.arange(size) + 0.5 - centre[:, axis, None] * size).abs() < half
        inside &= near[:, :, None] if axis == 0 else near[:, None, :]
    return torch.where(inside[:, None], torch.zeros_like(images), images)


def rotate(images: Tensor, strength: Tensor) -> Tensor:
    """Up to 30 degrees to either side."""
    angles = torch.deg2rad(_either_side(strength) * DEGREES)
    ratio = images.shape[2] / images.shape[3]
    cos, sin = angles.cos(), angles.sin()
    return affine(images, a=cos, b=-sin * ratio, c=sin / ratio, d=cos)


def shear_x(images: Tensor, strength: Tensor) -> Tensor:
    """Move each row the farther, the farther it is from the middle."""
    ratio = images.shape[2] / images.shape[3]
    return affine(images, b=_either_side(strength) * SHEAR * ratio)


def shear_y(images: Tensor, strength: Tensor) -> Tensor:
    """The same with columns."""
    ratio = images.shape[3] / images.shape[2]
    return affine(images, c=_either_side(strength) * SHEAR * ratio)


def translate_x(images: Tensor, strength: Tensor) -> Tensor:
    """To the left or right by up to 0.3 of the width."""
    return affine(images, right=_either_side(strength) * SHIFT * 2)


def translate_y(images: Tensor, strength: Tensor) -> Tensor:
    """Up or down by up to 0.3 of the height."""
    return affine(images, down=_either_side(strength) * SHIFT * 2)


def _either_side(strength: Tensor) -> Tensor:
    """From 0 … 1 to −1 … 1."""
    return strength * 2 - 1


OPERATIONS: dict[str, Operation] = {
    "identity": lambda images, strength: images,
    "rotate": rotate,
    "shear_x": shear_x,
    "shear_y": shear_y,
    "translate_x": translate_x,
    "translate_y": translate_y,
    "brightness": tones.brightness,
    "contrast": tones.contrast,
    "colour": tones.colour,
    "sharpness": tones.sharpness,
    "posterise": tones.posterise,
    "solarise": tones.solarise,
    "stretch": tones.stretch,
    "equalise": tones.equalise,
}
