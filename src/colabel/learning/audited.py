"""What a model and an update say of single points: losses, gradients, and where these point.

For audits (`privacy.audit`): numbers that anybody can compute who sees a site's model before and
after a round. All in evaluation mode, each point for itself.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from colabel.learning.models.network import ModelPlan, Network
from colabel.learning.parameters import Parameters, trainable, write
from colabel.learning.threads import enough_threads
from colabel.learning.work import as_input, as_tensor

Floats = NDArray[np.float64]
_NUMBERS = 2**25  # of single points' gradients that are held at a time
_BATCH = 500


class Seen(NamedTuple):
    """One round about each point: its loss and the norm of its gradient under the model that a
    site sent, and the cosine of a step down its gradient with the site's step, where both began.
    """

    losses: Floats
    alignments: Floats
    norms: Floats


def seen(
    network: Network,
    before: Parameters,
    after: Parameters,
    points: NDArray[np.generic],
    labels: NDArray[np.int64],
    model: ModelPlan,
) -> Seen:
    """What a site's round says of points. The network holds the model of `after` then."""
    step = {name: torch.from_numpy(after[name] - before[name]) for name in trainable(network)}
    length = float(sum(part.double().square().sum() for part in step.values())) ** 0.5
    write(network, before)
    down, norms = _gradients(network, points, labels, model, step)
    alignments = np.divide(-down, norms * length, out=np.zeros_like(down), where=norms * length > 0)
    write(network, after)
    _, norms = _gradients(network, points, labels, model, {})
    return Seen(losses(network, points, labels, model), alignments, norms)


def losses(
    network: Network, points: NDArray[np.generic], labels: NDArray[np.int64], model: ModelPlan
) -> Floats:
    """The cross-entropy of each point."""
    found = []
    for view, true in _parts(points, labels, model, _BATCH):
        with torch.no_grad(), _judged(network), enough_threads(model, len(true)):
            found.append(cross_entropy(network(view).double(), true, reduction="none"))
    return torch.cat(found).numpy()


def _gradients(
    network: Network,
    points: NDArray[np.generic],
    labels: NDArray[np.int64],
    model: ModelPlan,
    step: Mapping[str, Tensor],
) -> tuple[Floats, Floats]:
    """Of each point's gradient: its product with the step, and its length."""
    held = {name: part.detach() for name, part in trainable(network).items()}
    fixed = dict(network.named_buffers())

    def loss(parameters: dict[str, Tensor], view: Tensor, true: Tensor) -> Tensor:
        logits: Tensor = functional_call(network, (parameters, fixed), (view[None],))
        return cross_entropy(logits, true[None])

    each = vmap(grad(loss), in_dims=(None, 0, 0))
    size = max(_NUMBERS // max(sum(part.numel() for part in held.values()), 1), 1)
    products, lengths = [], []
    for view, true in _parts(points, labels, model, min(size, _BATCH)):
        with _judged(network), enough_threads(model, len(true)):
            rows = {name: part.flatten(1) for name, part in each(held, view, true).items()}
        along = [rows[name] @ step[name].flatten() for name in step]
        products.append(sum(along, torch.zeros(len(true))))
        lengths.append(sum(part.square().sum(dim=1) for part in rows.values()))
    return torch.cat(products).double().numpy(), torch.cat(lengths).sqrt().double().numpy()


def _parts(
    points: NDArray[np.generic], labels: NDArray[np.int64], model: ModelPlan, size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(labels), size):
        part = slice(start, start + size)
        yield as_input(as_tensor(points[part]), model), as_tensor(labels[part])


@contextmanager
def _judged(network: Network) -> Iterator[None]:
    was_training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(was_training)
