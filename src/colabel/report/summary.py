"""From what a run left behind to everything that its report shows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from colabel.data import Sites
from colabel.engines.costs import Costs
from colabel.federation.labelling import Labelled
from colabel.federation.plan import LabellingPlan
from colabel.jobs.label import Outcome, followed
from colabel.protocols.hamming import by_name
from colabel.report import metrics
from colabel.report.results import (
    ACROSS,
    ALONE,
    POOLED,
    ClassCount,
    Confidence,
    Homophily,
    Repeat,
    Results,
    SiteResult,
    StepCost,
)
from colabel.report.scoring import Own, Truth, received, score_site, score_sites, true_labels


class Compared(NamedTuple):
    """The labelling across sites, and what it is compared with where that was computed."""

    across: Outcome
    alone: Outcome | None = None
    pooled: Outcome | None = None

    def own(self) -> dict[str, Own]:
        """Each method's labels, in the order in which they are shown."""
        named = {ALONE: self.alone, ACROSS: self.across, POOLED: self.pooled}
        return {name: outcome.own for name, outcome in named.items() if outcome is not None}


def summarise(
    title: str,
    sites: Sites,
    compared: Compared,
    *,
    plan: LabellingPlan,
    truth: Truth | None = None,
    repeats: Sequence[Repeat] = (),
) -> Results:
    """Measure everything once, over all sites of this process."""
    found, across = compared.own(), compared.across
    plan = followed(plan, len(sites))
    labelled = across.labelled
    return Results(
        title=title,
        methods=list(found),
        overall={name: score_sites(sites, own, truth) for name, own in found.items()},
        sites=_sites(sites, found, across, truth),
        confidence=_confidence(sites, across.own, truth),
        classes=_classes(sites, across.own, truth),
        homophily=_homophily(sites, across, truth),
        n_edges=0 if labelled is None else int(labelled.weights.matrix.nnz) // 2,
        steps=_steps(across.costs),
        server_seconds=across.costs.server_seconds,
        protection=f"{plan.hamming}, {by_name(plan.hamming).protects}",
        confidence_kind=plan.confidence,
        n_neighbors=None if labelled is None else labelled.n_neighbors,
        alpha=None if labelled is None else labelled.alpha,
        n_other_classes=_n_other_classes(sites, truth),
        repeats=list(repeats),
    )


def _n_other_classes(sites: Sites, truth: Truth | None) -> int:
    """Points whose true class no site has a label of: nobody could label them right."""
    n_classes = len(sites.classes)
    return sum(int((true_labels(site, truth) >= n_classes).sum()) for site in sites.sites)


def _sites(
    sites: Sites, found: Mapping[str, Own], across: Outcome, truth: Truth | None
) -> list[SiteResult]:
    costs = across.costs
    return [
        SiteResult(
            site.name,
            len(site),
            int(site.labelled.sum()),
            across.own.get(site.name) is None,
            {name: score_site(site, own, truth) for name, own in found.items()},
            costs.bytes_up(site.name),
            costs.bytes_down(site.name),
            costs.seconds(site.name),
        )
        for site in sites.sites
    ]


def _confidence(sites: Sites, own: Own, truth: Truth | None) -> Confidence:
    parts = [np.empty(0)]
    for site in sites.sites:
        found = own.get(site.name)
        if found is not None:
            parts.append(np.asarray(found.confidence)[~site.labelled])
    sure = np.concatenate(parts)
    answered = [site for site in sites.sites if own.get(site.name) is not None]
    none = [np.empty(0, np.int64)]
    got = np.concatenate(none + [received(site, own) for site in answered])
    true = np.concatenate(none + [true_labels(site, truth) for site in answered])
    histogram = metrics.bins(sure, got == true, 20)
    mean = float(sure.mean()) if len(sure) else None
    plain = Confidence(
        histogram.edges.tolist(),
        histogram.counts.tolist(),
        mean,
        _no_nan(histogram.confidence),
    )
    judged = true != metrics.NONE
    if not judged.any():
        return plain
    sure, right = sure[judged], got[judged] == true[judged]
    calibration = metrics.bins(sure, right, 20)
    return Confidence(
        plain.edges,
        plain.counts,
        plain.mean,
        _no_nan(calibration.confidence),
        _no_nan(calibration.accuracy),
        metrics.expected_calibration_error(sure, right, 20),
        metrics.ranking(sure, right),
    )


def _no_nan(values: metrics.Floats) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def _classes(sites: Sites, own: Own, truth: Truth | None) -> list[ClassCount]:
    got = np.concatenate([received(site, own) for site in sites.sites])
    true = np.concatenate([true_labels(site, truth) for site in sites.sites])
    given = np.concatenate([site.labels[site.labelled] for site in sites.sites])
    known = bool((true != metrics.NONE).any())
    return [
        ClassCount(
            name,
            int((given == c).sum()),
            int((got == c).sum()),
            int((true == c).sum()) if known else None,
        )
        for c, name in enumerate(sites.classes)
    ]


def _homophily(sites: Sites, across: Outcome, truth: Truth | None) -> list[Homophily]:
    """Only possible because all sites are in this process: no party of a real run could."""
    graph = across.labelled
    if graph is None:
        return []
    kinds = {"predicted": _graph_order(sites, graph, across.own)}
    if truth is not None:
        kinds["true"] = np.concatenate(
            [truth[name][_labelled_first(sites, name)] for name in graph.group.names]
        )
    matrix = graph.weights.matrix
    measured = {kind: metrics.homophily(matrix, labels) for kind, labels in kinds.items()}
    return [
        Homophily(kind, share, chance)
        for kind, (share, chance) in measured.items()
        if share is not None and chance is not None
    ]


def _graph_order(sites: Sites, graph: Labelled, own: Own) -> metrics.Labels:
    parts = []
    for name in graph.group.names:
        found, site = own.get(name), sites[name]
        labels = site.labels if found is None else np.asarray(found.labels)
        parts.append(labels[_labelled_first(sites, name)])
    return np.concatenate(parts)


def _labelled_first(sites: Sites, name: str) -> metrics.Labels:
    """The order of a site's points in the graph, as in `federation.labelling`."""
    order: metrics.Labels = np.argsort(~sites[name].labelled, kind="stable")
    return order


def _steps(costs: Costs) -> list[StepCost]:
    names = dict.fromkeys(exchange.step for exchange in costs.exchanges)
    steps = []
    for name in names:
        here = [e for e in costs.exchanges if e.step == name]
        steps.append(
            StepCost(
                name,
                len({e.site for e in here}),
                sum(e.bytes_up for e in here),
                sum(e.bytes_down for e in here),
                sum(e.seconds for e in here),
                sum(seconds for before, seconds in costs.server if before == name),
            )
        )
    return steps
