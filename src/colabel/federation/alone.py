"""Label propagation along one site's own graph [FedProp Alg. 1; the papers' per-client LP].

Nothing leaves the site, so the hyperplanes need not be secret, and are the same every time.
"""

import numpy as np
from numpy.typing import NDArray

from colabel.federation.graphs import find_nearest, weigh
from colabel.federation.own_labels import class_weights
from colabel.federation.plan import LabellingPlan
from colabel.graph import scores
from colabel.graph.codes import codes, hyperplanes
from colabel.graph.distances import CodeDistances
from colabel.graph.propagate import solve
from colabel.graph.weights import normalise

_SEED = bytes(32)


def propagate_alone(
    vectors: NDArray[np.floating], labels: NDArray[np.int64], plan: LabellingPlan
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """A label and a confidence for every point; −1 and 0 where no label reaches."""
    known = scores.one_hot(labels, plan.n_classes)
    if len(vectors) < 2 or not known.any():
        return labels, known.sum(axis=1)
    packed = codes(vectors, hyperplanes(_SEED, plan.n_bits, vectors.shape[1]))
    distances = CodeDistances(packed, packed, plan.n_bits)
    n_neighbors = 20 if plan.n_neighbors == "auto" else plan.n_neighbors
    near = find_nearest(distances, min(n_neighbors, len(vectors) - 1), plan)
    graph = normalise(weigh(near, plan))
    alpha = plan.alpha_for(int(known.sum()), len(vectors))
    found = solve(graph, alpha, known * class_weights(plan, known.sum(axis=0)))
    shares = scores.distributions(found)
    return scores.labels(shares), scores.certainty(shares)
