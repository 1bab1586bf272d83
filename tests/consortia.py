"""Small consortia that tests share."""

import numpy as np

from colabel.data.site import Sites, from_groups


def make_sites(
    n_sites=4, n_points=30, n_classes=3, n_labels=4, seed=0, n_features=6, separation=2.0
) -> Sites:
    """Sites with points in clusters, one per class, and a few labels at each site."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_sites * n_points)
    centres = separation * rng.standard_normal((n_classes, n_features))
    points = centres[truth] + rng.standard_normal((len(truth), n_features))
    groups = np.repeat([f"site-{number}" for number in range(n_sites)], n_points)
    hidden = np.tile(np.arange(n_points) >= n_labels, n_sites)
    labels = np.where(hidden, -1, truth)
    return from_groups(points, labels, groups, [str(c) for c in range(n_classes)])
