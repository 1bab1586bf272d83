"""One round at one site, for tests of terms, and its model in NumPy."""

import numpy as np
import torch
from federations import CLASSES, draw, model_plan

from colabel.learning.models import make
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.learning.pseudo_labels import only_truth
from colabel.learning.work import Progress, Work, as_tensor, batches, generator


def make_work(n_labelled=10, n=26, model=None, turn=0, augmentation="translate", **settings):
    """A site with so many labels; the first step has 6 + 6 points."""
    points, truth = draw(n)
    known = np.where(np.arange(n) < n_labelled, truth, -1)
    model = model or model_plan()
    mover = OptimiserPlan(rate=0.05)
    defaults = {
        "network": make(model, 3),
        "model": model,
        "plan": LocalPlan(steps=3, augmentation=augmentation, optimiser=mover),
        "points": as_tensor(points),
        "targets": only_truth(as_tensor(known)),
        "labelled": as_tensor(known >= 0),
        "batch": 6,
        "rate": 0.05,
        "progress": Progress(turn, 200),
        "generator": generator(5),
    }
    return Work(**(defaults | settings))


def first_step(work):
    return next(batches(work, use_unlabelled=True))


def replay(work):
    """The same draws once more: a generator that stands where the work's stands now."""
    return torch.Generator().set_state(work.generator.get_state())


def answer(network, points):
    """Class probabilities of `mlp_head`, written out."""
    held = {name: part.detach().double().numpy() for name, part in network.named_parameters()}
    w1, b1, w2, b2 = (held[name] for name in held)
    rows = np.asarray(points, dtype=np.float64).reshape(len(points), -1)
    logits = np.maximum(rows @ w1.T + b1, 0.0) @ w2.T + b2
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def one_hot(labels):
    return np.eye(CLASSES)[np.asarray(labels)]


def gradients(network, loss):
    network.zero_grad()
    loss.backward()
    return {name: part.grad.clone() for name, part in network.named_parameters()}
