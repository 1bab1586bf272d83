"""Scores of labels that sites received."""

from collections.abc import Mapping

import numpy as np

from colabel.data import Site, Sites
from colabel.federation.own_labels import OwnLabels
from colabel.report.metrics import (
    NONE,
    Labels,
    accuracy,
    balanced_accuracy,
    coverage,
)
from colabel.report.results import Repeat, Score

Own = Mapping[str, OwnLabels | None]
Truth = Mapping[str, Labels]


def received(site: Site, own: Own) -> Labels:
    """What the site's unlabelled points were labelled; −1 for all if the site was lost."""
    found = own.get(site.name)
    labels = np.full(len(site), NONE) if found is None else np.asarray(found.labels)
    return labels[~site.labelled]


def true_labels(site: Site, truth: Truth | None) -> Labels:
    """The true classes of the unlabelled points; −1 where unknown."""
    labels = np.full(len(site), NONE) if truth is None else truth[site.name]
    return labels[~site.labelled]


def score(got: Labels, true: Labels) -> Score:
    """The scores of some points."""
    judged = true != NONE
    return Score(
        coverage(got),
        accuracy(true[judged], got[judged]),
        balanced_accuracy(true[judged], got[judged]),
    )


def score_site(site: Site, own: Own, truth: Truth | None) -> Score:
    """The score of one site's unlabelled points."""
    return score(received(site, own), true_labels(site, truth))


def score_sites(sites: Sites, own: Own, truth: Truth | None) -> Score:
    """The score of all sites' unlabelled points together."""
    got = np.concatenate([received(site, own) for site in sites.sites])
    true = np.concatenate([true_labels(site, truth) for site in sites.sites])
    return score(got, true)


def repeat(seed: int, sites: Sites, found: Mapping[str, Own], truth: Truth | None) -> Repeat:
    """The scores of one seed, by method."""
    return Repeat(seed, {name: score_sites(sites, own, truth) for name, own in found.items()})
