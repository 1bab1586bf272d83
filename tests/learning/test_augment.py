"""Weak changes of images against slow ones, image by image."""

import math

import numpy as np
import pytest
import torch

from colabel.learning.augment import affine, flip, rotate, translate, weaken

KINDS = ["none", "translate", "translate_flip", "rotate_flip"]


def images(n=6, channels=3, height=9, width=7, seed=0):
    return torch.randn(n, channels, height, width, generator=torch.Generator().manual_seed(seed))


def gen(seed=1):
    return torch.Generator().manual_seed(seed)


def reflected(i, size):
    """Where a pixel outside comes from: the border is a mirror, and is not repeated."""
    i = abs(i)
    return i if i < size else 2 * (size - 1) - i


def moved_slowly(image, down, right):
    channels, height, width = image.shape
    out = np.empty_like(image)
    for c in range(channels):
        for y in range(height):
            for x in range(width):
                out[c, y, x] = image[c, reflected(y + down, height), reflected(x + right, width)]
    return out


def affine_slowly(image, a, b, c, d, right, down):
    """Bilinear, with 0 outside; coordinates from -1 to 1 over whole pixels."""
    _, height, width = image.shape
    out = np.zeros_like(image)
    for y in range(height):
        for x in range(width):
            u, v = (2 * x + 1) / width - 1, (2 * y + 1) / height - 1
            column = ((a * u + b * v + right + 1) * width - 1) / 2
            row = ((c * u + d * v + down + 1) * height - 1) / 2
            left, top = math.floor(column), math.floor(row)
            for i in (top, top + 1):
                for j in (left, left + 1):
                    if 0 <= i < height and 0 <= j < width:
                        share = (1 - abs(row - i)) * (1 - abs(column - j))
                        out[:, y, x] += share * image[:, i, j]
    return out


def test_translations():
    batch, n = images(), 4
    got = translate(batch, n, gen()).numpy()
    draws = gen()
    down = torch.randint(2 * n + 1, (len(batch), 1), generator=draws)[:, 0] - n
    right = torch.randint(2 * n + 1, (len(batch), 1), generator=draws)[:, 0] - n
    assert len({*zip(down.tolist(), right.tolist(), strict=True)}) > 1
    for i, image in enumerate(batch.numpy()):
        np.testing.assert_array_equal(got[i], moved_slowly(image, int(down[i]), int(right[i])))


def test_flips():
    batch = images(20)
    got = flip(batch, gen())
    turned = [bool((got[i] == batch[i].flip(-1)).all()) for i in range(20)]
    same = [bool((got[i] == batch[i]).all()) for i in range(20)]
    assert all(t != s for t, s in zip(turned, same, strict=True))
    assert 3 <= sum(turned) <= 17


def test_affine_maps():
    batch = images(3)
    settings = {"a": 0.9, "b": -0.3, "c": 0.2, "d": 1.1, "right": 0.25, "down": -0.4}
    got = affine(batch, **settings).numpy()
    for i, image in enumerate(batch.numpy().astype(np.float64)):
        np.testing.assert_allclose(got[i], affine_slowly(image, **settings), atol=1e-5)


def test_rotations_keep_angles_in_images_that_are_not_square():
    """A bright point lands where the angle says, in pixels."""
    image = torch.zeros(1, 1, 41, 21)
    image[0, 0, 20, 16] = 1.0  # 6 pixels to the right of the middle
    draws = gen(3)
    angle = float((torch.rand(1, generator=draws) * 2 - 1) * math.radians(60.0))
    got = rotate(image, 60.0, gen(3))[0, 0].numpy()
    y, x = np.indices(got.shape) - np.array([20, 10])[:, None, None]
    weight = got * (np.hypot(x, y) < 9)  # further out there are reflections
    where = [(weight * x).sum() / weight.sum(), (weight * y).sum() / weight.sum()]
    assert abs(angle) > 0.1
    np.testing.assert_allclose(where, [6 * math.cos(angle), -6 * math.sin(angle)], atol=0.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channels", [1, 3])
def test_each_image_is_changed_in_its_own_way_and_repeatably(kind, channels):
    one = images(1, channels)
    batch = one.expand(16, *one.shape[1:])
    got = weaken(batch, kind, gen())
    assert (got.shape, got.dtype) == (batch.shape, batch.dtype)
    np.testing.assert_array_equal(got, weaken(batch, kind, gen()))
    different = {image.numpy().tobytes() for image in got}
    assert len(different) == 1 if kind == "none" else len(different) > 8


def test_points_that_are_no_images_stay():
    points = torch.randn(5, 7)
    np.testing.assert_array_equal(weaken(points, "translate_flip", gen()), points)
