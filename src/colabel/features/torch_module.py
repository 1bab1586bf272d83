"""Features from any torch module: its output for each point, flattened."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem
from colabel.features.optional import require
from colabel.features.plain import check_finite

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


class TorchFeatures:
    """The output of a torch module in evaluation mode, without gradients.

    Points are cast to the module's own floating type. `device` None computes where the module
    is; otherwise the module moves there for good. The module's training modes are left as found.
    """

    name: ClassVar[str] = "torch"
    order: ClassVar[None] = None

    def __init__(self, module: "Module", batch_size: int = 256, device: str | None = None) -> None:
        torch = require("torch", "torch")
        if not isinstance(module, torch.nn.Module):
            raise InputError(
                Problem(f"{type(module).__name__} is no torch module", "Pass a torch.nn.Module.")
            )
        self.module = module if device is None else module.to(device)
        self.batch_size = batch_size

    def transform(self, points: NDArray[np.generic]) -> NDArray[np.float32]:
        """The module's output for each point, (n, d) float32."""
        torch = require("torch", "torch")
        array = np.asarray(points)
        if array.dtype.kind not in "fiub" or array.ndim < 2:
            raise InputError(
                Problem(
                    f"points are {array.dtype} of shape {array.shape}",
                    "A torch module needs numbers, at least (n, d).",
                )
            )
        like = next((p for p in self.module.parameters() if p.is_floating_point()), torch.empty(0))

        def forward(batch: NDArray[np.generic]) -> "Tensor":
            output: Tensor = self.module(torch.tensor(batch).to(like))
            return output

        with evaluating(self.module):
            features = in_batches(forward, array, self.batch_size)
        check_finite(features)
        return features


@contextmanager
def evaluating(module: "Module") -> Iterator[None]:
    """Evaluation mode without gradients; each part goes back to the mode that it was in."""
    torch = require("torch", "torch")
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        for part in training:
            part.training = True


def in_batches(
    forward: Callable[[NDArray[np.generic]], "Tensor"],
    points: NDArray[np.generic],
    batch_size: int,
) -> NDArray[np.float32]:
    """Forward's output for all points, as rows; no points give no rows of the right width."""
    if batch_size < 1:
        raise InputError(Problem(f"batch size is {batch_size}", "Choose at least 1."))
    if not len(points):
        one = np.zeros((1, *points.shape[1:]), dtype=points.dtype)
        return in_batches(forward, one, 1)[:0]
    rows = [
        _rows(forward(points[start : start + batch_size]), len(points[start : start + batch_size]))
        for start in range(0, len(points), batch_size)
    ]
    return np.concatenate(rows)


def _rows(output: "Tensor", count: int) -> NDArray[np.float32]:
    if output.ndim == 0 or len(output) != count:
        raise InputError(
            Problem(
                f"the module gave shape {tuple(output.shape)} for {count} points",
                "Its first dimension must be the points.",
            )
        )
    array: NDArray[np.float32] = output.float().cpu().numpy().reshape(count, -1)
    return array
