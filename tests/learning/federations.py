"""Small federations for tests of training: images with a class each, at a few sites."""

import numpy as np

from colabel.data import Site, Sites
from colabel.federation.plan import LabellingPlan
from colabel.federation.training_plan import Stage, TrainingPlan
from colabel.learning.models import ModelPlan
from colabel.learning.plan import LocalPlan, OptimiserPlan

SHAPE = (1, 8, 8)
CLASSES = 3


def draw(n, seed=0):
    """Noisy images of three patterns, and their classes."""
    rng = np.random.default_rng(seed)
    patterns = np.random.default_rng(99).standard_normal((CLASSES, *SHAPE))
    truth = rng.integers(0, CLASSES, n)
    points = patterns[truth] + 0.8 * rng.standard_normal((n, *SHAPE))
    return points.astype(np.float32), truth.astype(np.int64)


def make_federation(n_sites=4, n_points=24, n_labels=6, unlabelled_sites=0, seed=0):
    """Sites, and the truth about all their points."""
    points, truth = draw(n_sites * n_points, seed)
    found = []
    for number in range(n_sites):
        rows = slice(number * n_points, (number + 1) * n_points)
        has = n_labels if number < n_sites - unlabelled_sites else 0
        labels = np.where(np.arange(n_points) < has, truth[rows], -1)
        found.append(Site(f"site-{number}", points[rows], labels))
    sites = Sites(tuple(found), tuple(str(c) for c in range(CLASSES)))
    return sites, {
        site.name: part for site, part in zip(found, np.split(truth, n_sites), strict=True)
    }


def graph_plan(**settings):
    """Labels along the graph, fast and repeatable."""
    defaults = {
        "n_neighbors": 5,
        "alpha": 0.9,
        "n_bits": 256,
        "hamming": "clear",
        "features": "identity",
        "equalise": False,
        "sharpness": 1.0,
        "density_correction": False,
        "confidence": "entropy",
        "seed": bytes(32),
    }
    return LabellingPlan(n_classes=CLASSES, **(defaults | settings))


def model_plan(**settings):
    """A model that takes no time."""
    defaults = {"name": "mlp_head", "shape": SHAPE, "n_classes": CLASSES}
    return ModelPlan(**(defaults | settings))


def plan(rounds=2, stages=None, **settings):
    """A training plan for such a federation."""
    defaults = {
        "model": model_plan(),
        "stages": stages or (Stage(rounds=rounds),),
        "local": LocalPlan(epochs=1, optimiser=OptimiserPlan(rate=0.05)),
        "graph": graph_plan(),
        "sites_per_round": 3,
        "judge_every": 1,
    }
    return TrainingPlan(**(defaults | settings))
