"""The labelling job in this process: across sites, each site alone, or all points pooled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.data import Site, Sites, check_sites
from colabel.engines.costs import Costs
from colabel.engines.faults import Fault
from colabel.engines.local import Listener, LocalEngine
from colabel.errors import InputError
from colabel.federation.labelling import Labelled, cross_client_labels, label_newcomers
from colabel.federation.own_labels import OwnLabels
from colabel.federation.plan import LabellingPlan
from colabel.federation.roles import LABELLING
from colabel.federation.site import SiteSession
from colabel.privacy.ledger import Ledger


@dataclass(frozen=True)
class Outcome:
    """Each site's own labels (None where the site was lost), and what the run left behind."""

    own: Mapping[str, OwnLabels | None]
    labelled: Labelled | None
    ledger: Ledger
    costs: Costs


def label(
    sites: Sites,
    plan: LabellingPlan,
    *,
    faults: Sequence[Fault] = (),
    listen: Listener | None = None,
) -> Outcome:
    """Label across sites. A site that is alone is labelled without protections."""
    if problems := check_sites(sites):
        raise InputError(problems)
    engine = _engine(sites.sites, faults, listen)
    plan = followed(plan.validate(), len(sites))
    labelled = engine.run(cross_client_labels(sites.names, plan))
    own = {name: _own(engine.sessions[name]) for name in sites.names}
    return Outcome(own, labelled, engine.ledger, engine.costs)


def label_new(
    sites: Sites,
    newcomers: Sites,
    labelled: Labelled,
    plan: LabellingPlan,
    *,
    listen: Listener | None = None,
) -> Outcome:
    """Label new points by a graph that was made before; nothing about old points changes."""
    plan = followed(plan, len(sites))
    engine = _engine([*sites.sites, *newcomers.sites], (), listen)
    engine.run(label_newcomers(labelled.group.names, newcomers.names, labelled, plan))
    own = {name: _own(engine.sessions[name]) for name in newcomers.names}
    return Outcome(own, labelled, engine.ledger, engine.costs)


def label_alone(sites: Sites, plan: LabellingPlan) -> Outcome:
    """Label each site by its own labels only; nothing leaves a site."""
    own = {site.name: _alone(site, sites, unprotected(plan)) for site in sites.sites}
    return Outcome(own, None, Ledger(), Costs())


def label_pooled(sites: Sites, plan: LabellingPlan) -> Outcome:
    """Label as if all points were in one place: what sharing everything would give."""
    points = np.concatenate([site.points for site in sites.sites])
    labels = np.concatenate([site.labels for site in sites.sites])
    pool = Sites((Site("pool", points, labels),), sites.classes, sites.columns)
    pooled = label(pool, plan).own["pool"]
    ends = np.cumsum([len(site) for site in sites.sites])[:-1]
    own = {} if pooled is None else _split(pooled, sites.names, ends)
    return Outcome(own, None, Ledger(), Costs())


def followed(plan: LabellingPlan, n_sites: int) -> LabellingPlan:
    """The plan as a run between so many sites follows it: one alone has nothing to protect."""
    return plan if n_sites > 1 else unprotected(plan)


def unprotected(plan: LabellingPlan) -> LabellingPlan:
    """The same plan for data that stays in one place: nothing to protect, nothing to pay for."""
    return msgspec.structs.replace(plan, hamming="clear")


def _alone(site: Site, sites: Sites, plan: LabellingPlan) -> OwnLabels | None:
    if len(site) < 2 or not site.labelled.any():
        nothing = np.zeros((len(site), plan.n_classes))
        return OwnLabels(site.labels, site.labelled.astype(np.float64), nothing)
    alone = Sites((site,), sites.classes, sites.columns)
    return label(alone, plan).own[site.name]


def _split(
    pooled: OwnLabels, names: Sequence[str], ends: NDArray[np.intp]
) -> dict[str, OwnLabels | None]:
    parts = zip(
        np.split(pooled.labels, ends),
        np.split(pooled.confidence, ends),
        np.split(pooled.distributions, ends),
        strict=True,
    )
    return {name: OwnLabels(*part) for name, part in zip(names, parts, strict=True)}


def _engine(sites: Sequence[Site], faults: Sequence[Fault], listen: Listener | None) -> LocalEngine:
    if listen is None:
        return LocalEngine(sites, LABELLING, faults=faults)
    return LocalEngine(sites, LABELLING, faults=faults, listen=listen)


def _own(session: SiteSession) -> OwnLabels | None:
    return session.recall(OwnLabels) if session.knows(OwnLabels) else None
