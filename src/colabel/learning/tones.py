"""Operations on the brightness and colours of images, each with a strength from 0 to 1 per image.

Black and white of an image are its own smallest and largest value, over all channels. Where one
thing is blended with another, the image keeps a part between 0.05 and 0.95.
"""

import torch
from torch import Tensor
from torch.nn import functional

LEVELS = 256


def brightness(images: Tensor, strength: Tensor) -> Tensor:
    """Towards black."""
    low, _ = _range(images)
    return _blend(low, images, strength)


def contrast(images: Tensor, strength: Tensor) -> Tensor:
    """Towards the image's mean."""
    return _blend(images.mean(dim=(1, 2, 3), keepdim=True), images, strength)


def colour(images: Tensor, strength: Tensor) -> Tensor:
    """Towards grey; a grey image stays as it is."""
    return _blend(images.mean(dim=1, keepdim=True), images, strength)


def sharpness(images: Tensor, strength: Tensor) -> Tensor:
    """Towards the image smoothed by 3 × 3 pixels, of which the middle one counts 5 times."""
    smooth = images.clone()
    if min(images.shape[2:]) >= 3:
        around = functional.avg_pool2d(images, 3, stride=1) * 9
        middle = images[:, :, 1:-1, 1:-1]
        smooth[:, :, 1:-1, 1:-1] = (around + 4 * middle) / 13
    return _blend(smooth, images, strength)


def posterise(images: Tensor, strength: Tensor) -> Tensor:
    """Keep 4 to 8 of the 8 bits of a pixel."""
    low, span = _range(images)
    bits = 4 + (strength * 5).floor().clamp(max=4)
    coarse = (2.0 ** (8 - bits))[:, None, None, None]
    levels = ((images - low) / span * (LEVELS - 1)).floor()
    return (levels / coarse).floor() * coarse / (LEVELS - 1) * span + low


def solarise(images: Tensor, strength: Tensor) -> Tensor:
    """Turn around what is brighter than a threshold (at strength 0: all)."""
    low, span = _range(images)
    bright = images >= low + strength[:, None, None, None] * span
    return torch.where(bright, 2 * low + span - images, images)


def stretch(images: Tensor, strength: Tensor) -> Tensor:
    """Let every channel reach from black to white."""
    low, span = _range(images)
    least = images.amin(dim=(2, 3), keepdim=True)
    own = _nonzero(images.amax(dim=(2, 3), keepdim=True) - least)
    return (images - least) / own * span + low


def equalise(images: Tensor, strength: Tensor) -> Tensor:
    """Give all values of a channel the same share: a pixel becomes the part that is darker."""
    low, span = _range(images)
    rows = images.flatten(2)
    darker = torch.searchsorted(rows.sort(dim=2).values, rows.contiguous())
    most = _nonzero(darker.amax(dim=2, keepdim=True).float())
    return (darker / most).reshape(images.shape) * span + low


def _range(images: Tensor) -> tuple[Tensor, Tensor]:
    """Black of each image, and what is between black and white."""
    low = images.amin(dim=(1, 2, 3), keepdim=True)
    return low, _nonzero(images.amax(dim=(1, 2, 3), keepdim=True) - low)


def _nonzero(span: Tensor) -> Tensor:
    """1 instead of 0, for images of one value only."""
    return torch.where(span > 0, span, torch.ones_like(span))


def _blend(other: Tensor, images: Tensor, strength: Tensor) -> Tensor:
    kept = (0.05 + 0.9 * strength)[:, None, None, None]
    return other + kept * (images - other)
