"""Pseudo-labels that a site makes alone: from the model's own predictions, or along its own graph.

Those from all sites' graph come from `federation.labelling`. True labels stay as they are, and
count 1; a point that gets no label counts 0.
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from colabel.learning.models.network import ModelPlan, Network
from colabel.learning.threads import enough_threads
from colabel.learning.work import Targets, as_input

_BATCH = 500
_DOUBT = 0.1  # of what a graph says


def embed(network: Network, points: Tensor, model: ModelPlan) -> Tensor:
    """f_φ of all points, in evaluation mode [XCLP Alg. 2, line 6]."""
    return _in_batches(network, network.features, points, model)


def predict(network: Network, points: Tensor, model: ModelPlan) -> Tensor:
    """Class probabilities of all points, in evaluation mode."""
    return _in_batches(network, network, points, model).softmax(dim=1)


def _in_batches(
    network: Network, forward: torch.nn.Module, points: Tensor, model: ModelPlan
) -> Tensor:
    was_training = network.training
    network.eval()
    with torch.no_grad(), enough_threads(model, min(len(points), _BATCH)):
        parts = [forward(as_input(part, model)) for part in torch.split(points, _BATCH)]
    network.train(was_training)
    return torch.cat(parts) if parts else torch.empty(0, model.n_classes)


def guess(network: Network, view: Tensor) -> Tensor:
    """Class probabilities of points as they are seen in training, in evaluation mode."""
    was_training = network.training
    network.eval()
    with torch.no_grad():
        probabilities: Tensor = network(view).softmax(dim=1)
    network.train(was_training)
    return probabilities


def certainty(probabilities: Tensor) -> Tensor:
    """ω = 1 − H(p) / log C [XCLP Alg. 1, line 16]."""
    entropy = -torch.xlogy(probabilities, probabilities).sum(dim=1)
    return (1.0 - entropy / math.log(max(probabilities.shape[1], 2))).clamp(0.0, 1.0)


def from_network(network: Network, points: Tensor, known: Tensor, model: ModelPlan) -> Targets:
    """What the model says of the unlabelled points, and how sure it is."""
    probabilities = predict(network, points, model)
    return with_truth(probabilities.argmax(dim=1), certainty(probabilities), known)


def joint(
    network: Network,
    points: Tensor,
    shares: NDArray[np.floating],
    known: Tensor,
    model: ModelPlan,
) -> Targets:
    """What the model and a propagation say together: the product of both, as if each had seen
    other evidence. A share that is 0 rules a class out only as far as a graph can: not quite.
    """
    own = predict(network, points, model)
    along = torch.from_numpy(np.array(shares, dtype=np.float32))
    flat = 1.0 / model.n_classes
    product = own * ((1 - _DOUBT) * along + _DOUBT * flat)
    both = product / product.sum(dim=1, keepdim=True).clamp(min=1e-12)
    return with_truth(both.argmax(dim=1), certainty(both), known)


def with_truth(labels: Tensor, weights: Tensor, known: Tensor) -> Targets:
    """True labels stand above pseudo-labels."""
    is_known = known >= 0
    chosen = torch.where(is_known, known, labels)
    counted = torch.where(is_known, torch.ones_like(weights), weights)
    return Targets(chosen, torch.where(chosen >= 0, counted, torch.zeros_like(counted)).float())


def only_truth(known: Tensor) -> Targets:
    """No pseudo-labels."""
    return with_truth(torch.full_like(known, -1), torch.zeros(len(known)), known)


def from_arrays(
    labels: NDArray[np.int64], weights: NDArray[np.floating], known: Tensor, *, scale: bool
) -> Targets:
    """Pseudo-labels that came as arrays; `scale` divides the weights by the largest."""
    counted = torch.from_numpy(np.array(weights, dtype=np.float32))
    others = counted[known < 0]
    if scale and len(others) and others.max() > 0:
        counted = counted / others.max()
    return with_truth(torch.from_numpy(np.array(labels, dtype=np.int64)), counted, known)
