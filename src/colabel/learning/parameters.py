"""A model's parameters as named arrays: what travels, is averaged and is stored.

Buffers of floating type (running statistics) are among them; counters are not.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

Parameters = dict[str, NDArray[np.float32]]


def read(module: nn.Module) -> Parameters:
    """A copy of the module's parameters."""
    return {name: held.detach().cpu().numpy().copy() for name, held in _held(module)}


def write(module: nn.Module, parameters: Mapping[str, NDArray[np.float32]]) -> None:
    """Put parameters into a module of the same shape."""
    with torch.no_grad():
        for name, held in _held(module):
            if held.device.type == "cpu":  # at once: torch would copy a read-only array before
                np.copyto(held.detach().numpy(), parameters[name], casting="same_kind")
            else:
                held.copy_(torch.from_numpy(np.array(parameters[name], dtype=np.float32)))


def trainable(module: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that have gradients, by name."""
    return {name: held for name, held in module.named_parameters() if held.requires_grad}


def shapes(module: nn.Module) -> dict[str, tuple[int, ...]]:
    """What `read` would give, without the numbers."""
    return {name: tuple(held.shape) for name, held in _held(module)}


def tensors(parameters: Mapping[str, NDArray[np.float32]]) -> dict[str, torch.Tensor]:
    """As tensors of their own."""
    return {name: torch.from_numpy(np.array(held)) for name, held in parameters.items()}


def flatten(parameters: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """One long row, in the order of the names."""
    rows = [parameters[name].reshape(-1) for name in sorted(parameters)]
    return np.concatenate([np.empty(0, np.float32), *rows])


def unflatten(row: NDArray[np.floating], like: Mapping[str, tuple[int, ...]]) -> Parameters:
    """Back again, given the shapes."""
    sizes = [int(np.prod(like[name])) for name in sorted(like)]
    parts = np.split(row.astype(np.float32), np.cumsum(sizes)[:-1])
    return {name: part.reshape(like[name]) for name, part in zip(sorted(like), parts, strict=True)}


def n_bytes(parameters: Mapping[str, NDArray[np.float32]]) -> int:
    """How much memory they take, which is nearly what they take on the wire."""
    return sum(held.nbytes for held in parameters.values())


def _held(module: nn.Module) -> Iterable[tuple[str, torch.Tensor]]:
    yield from module.named_parameters()
    for name, buffer in module.named_buffers():
        if buffer.is_floating_point():
            yield name, buffer
