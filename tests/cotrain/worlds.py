"""A small world to co-train in: three clouds of points, some sites, a public set."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from colabel.cotrain.learners import Fitted
from colabel.data.site import from_groups
from colabel.jobs.cotrain import cotrain_sites, plan_for

N_CLASSES = 3


def draw(n, seed, spread=1.6):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_CLASSES, n)
    centres = np.array([[0.0, 0.0, 2.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    return centres[labels] + spread * rng.normal(size=(n, 3)), labels


def world(n_sites=4, n_each=12, n_public=200, seed=0):
    points, labels = draw(n_sites * n_each, seed)
    names = [f"site-{number % n_sites}" for number in range(len(labels))]
    sites = from_groups(points, labels, names, [str(c) for c in range(N_CLASSES)])
    return sites, draw(n_public, seed + 100)[0]


def trees(sites, **settings):
    def make():
        return DecisionTreeClassifier(random_state=0, **settings)

    return {name: Fitted(make, N_CLASSES) for name in sites.names}


def run(sites, public, learners=None, faults=(), judge=None, **settings):
    plan = plan_for(public, N_CLASSES, **settings)
    return cotrain_sites(sites, public, learners or trees(sites), plan, faults=faults, judge=judge)
