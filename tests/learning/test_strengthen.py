"""Strong changes: each operation against a slow one for one image, and all of them together."""

import math

import numpy as np
import pytest
import torch
from test_augment import affine_slowly, gen, images

from colabel.learning import tones
from colabel.learning.strengthen import OPERATIONS, cut_out, operate, strengthen

H, W = 9, 7


def blended(other, image, s):
    kept = 0.05 + 0.9 * s
    return (1 - kept) * other + kept * image


def smooth(image):
    out = image.copy()
    for y in range(1, image.shape[1] - 1):
        for x in range(1, image.shape[2] - 1):
            window = image[:, y - 1 : y + 2, x - 1 : x + 2].sum(axis=(1, 2))
            out[:, y, x] = (window + 4 * image[:, y, x]) / 13
    return out


def posterised(image, s):
    low, span = image.min(), image.max() - image.min()
    bits = 4 + min(int(s * 5), 4)
    levels = np.floor((image - low) / span * 255).astype(int)
    return (levels >> (8 - bits) << (8 - bits)) / 255 * span + low


def solarised(image, s):
    low, high = image.min(), image.max()
    out = image.copy()
    out[image >= low + s * (high - low)] = low + high - image[image >= low + s * (high - low)]
    return out


def stretched(image, s):
    low, span = image.min(), image.max() - image.min()
    return np.stack([(c - c.min()) / (c.max() - c.min()) * span + low for c in image])


def equalised(image, s):
    low, span = image.min(), image.max() - image.min()
    out = np.empty_like(image)
    for c, channel in enumerate(image):
        darker = np.array([(channel < value).sum() for value in channel.ravel()])
        out[c] = (darker / darker.max()).reshape(channel.shape) * span + low
    return out


def moved(**settings):
    full = {"a": 1.0, "b": 0.0, "c": 0.0, "d": 1.0, "right": 0.0, "down": 0.0} | settings
    return lambda image: affine_slowly(image, **full)


def rotated(image, s):
    t = math.radians(30) * (2 * s - 1)
    cos, sin = math.cos(t), math.sin(t)
    return moved(a=cos, b=-sin * H / W, c=sin * W / H, d=cos)(image)


SLOW = {
    "identity": lambda image, s: image,
    "rotate": rotated,
    "shear_x": lambda image, s: moved(b=0.3 * (2 * s - 1) * H / W)(image),
    "shear_y": lambda image, s: moved(c=0.3 * (2 * s - 1) * W / H)(image),
    "translate_x": lambda image, s: moved(right=0.6 * (2 * s - 1))(image),
    "translate_y": lambda image, s: moved(down=0.6 * (2 * s - 1))(image),
    "brightness": lambda image, s: blended(image.min(), image, s),
    "contrast": lambda image, s: blended(image.mean(), image, s),
    "colour": lambda image, s: blended(image.mean(axis=0, keepdims=True), image, s),
    "sharpness": lambda image, s: blended(smooth(image), image, s),
    "posterise": posterised,
    "solarise": solarised,
    "stretch": stretched,
    "equalise": equalised,
}


def test_every_operation_has_a_slow_one():
    assert SLOW.keys() == OPERATIONS.keys()


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("channels", [1, 3])
def test_an_operation_is_the_slow_one_for_each_image(name, channels):
    batch = images(5, channels, H, W) * 2 + 1
    strength = torch.tensor([0.0, 0.13, 0.47, 0.71, 1.0])
    got = OPERATIONS[name](batch, strength)
    assert (got.shape, got.dtype) == (batch.shape, torch.float32)
    for i, image in enumerate(batch.double().numpy()):
        wanted = SLOW[name](image, float(strength[i]))
        np.testing.assert_allclose(got[i], wanted, atol=3e-5, err_msg=f"image {i}")


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "identity"])
def test_an_operation_does_something(name):
    batch = images(4, 3, H, W)
    changed = OPERATIONS[name](batch, torch.full((4,), 0.2))
    assert float((changed - batch).abs().amax(dim=(1, 2, 3)).min()) > 1e-3


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_image_of_one_value_gives_numbers(name):
    assert (
        OPERATIONS[name](torch.full((2, 3, 5, 5), 2.0), torch.tensor([0.0, 1.0])).isfinite().all()
    )


def test_tones_do_not_depend_on_the_range_of_values():
    batch, strength = images(4, 3, H, W), torch.tensor([0.1, 0.4, 0.6, 0.9])
    for name in ("brightness", "contrast", "colour", "sharpness", "solarise", "stretch"):
        change = getattr(tones, name)
        np.testing.assert_allclose(
            change(batch * 50 + 120, strength), change(batch, strength) * 50 + 120, atol=1e-3
        )


def test_each_image_gets_the_operation_it_drew():
    batch = images(len(OPERATIONS), 3, H, W)
    drawn, strength = torch.arange(len(OPERATIONS)).flip(0), torch.rand(len(OPERATIONS))
    got = operate(batch, drawn, strength)
    for i, number in enumerate(drawn.tolist()):
        change = list(OPERATIONS.values())[number]
        np.testing.assert_allclose(got[i : i + 1], change(batch[i : i + 1], strength[i : i + 1]))


def test_cutting_out():
    batch = torch.ones(2, 2, 8, 6)
    got = cut_out(batch, torch.tensor([[0.5, 0.5], [0.0, 1.0]]))
    middle, corner = np.ones((2, 8, 6)), np.ones((2, 8, 6))
    middle[:, 2:6, 2:4], corner[:, :2, 5:] = 0, 0
    np.testing.assert_array_equal(got[0], middle)
    np.testing.assert_array_equal(got[1], corner)


@pytest.mark.parametrize("shape", [(1, 12, 12), (3, 12, 10), (20,)])
def test_strong_changes_are_own_to_each_point_and_repeatable(shape):
    one = torch.randn(1, *shape, generator=gen(4))
    batch = one.expand(24, *shape)
    got = strengthen(batch, gen())
    assert (got.shape, got.dtype) == (batch.shape, batch.dtype)
    np.testing.assert_array_equal(got, strengthen(batch, gen()))
    assert len({point.numpy().tobytes() for point in got}) > 20
    assert got.isfinite().all()


def test_a_point_that_is_no_image_loses_columns():
    got = strengthen(torch.ones(200, 50), gen())
    assert {0.0, 1.0} == set(got.unique().tolist())
    assert abs(float((got == 0).float().mean()) - 0.2) < 0.02


def test_strong_is_stronger_than_weak():
    from colabel.learning.augment import weaken

    batch = images(64, 3, 16, 16)
    weak = weaken(batch, "rotate_flip", gen())
    kept = float((weak * batch).mean()), float((strengthen(weak, gen()) * batch).mean())
    assert kept[1] < kept[0]
