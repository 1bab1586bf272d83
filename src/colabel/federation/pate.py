"""PATE across sites: teachers label the public points once [PATE: Papernot et al. 2017, 2018].

step    message                 bytes up per site          who learns what
hello   Hello → Welcome         ~150                       server: sizes
label   Vote → Answer           n · ⌈log₂ C⌉ / 8           server: each site's labels of the public
                                                           points
        … as a masked sum       n · C (a byte a count)     server: how many voted for each class
(none)                          0                          everyone: the labels by these votes, from
                                                           which a student learns

The noise of GNMax protects what the *student* shows, not what the server sees: it has the exact
counts, or in clear every site's labels [FedCT App. D.3]. Only noise that is added inside the sum
(`plan.privacy`, mechanism "counts") protects from the server as well. Sites learn nothing.

A site lost in the step "label" has no vote.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import UNPROTECTED, Conversation, Release
from colabel.cotrain.consensus import NONE, consensus
from colabel.crypto.gaussian import gaussian
from colabel.errors import InputError, Problem
from colabel.federation.cotraining import meet, votes_of
from colabel.federation.cotraining_plan import CotrainingPlan
from colabel.federation.cotraining_role import cotraining_role
from colabel.federation.own_cotraining import DeskOf, LabelPublic, label_public
from colabel.federation.site import Role
from colabel.privacy.gnmax import Gnmax

Labels = NDArray[np.int64]


class Vote(LabelPublic, frozen=True):
    """Learn from your points, and label the public ones. Unlike in co-training nothing comes back,
    so this tells the site nothing.
    """

    reveals: ClassVar[tuple[Release, ...]] = ()


def pate_role(desk_of: DeskOf) -> Role:
    """A site that votes once."""
    role = cotraining_role(desk_of)
    return role._replace(handlers={**role.handlers, Vote: label_public(desk_of)})


@dataclass(frozen=True)
class Aggregated:
    """The labels (−1: none), and the votes that only the server has seen."""

    labels: Labels
    votes: NDArray[np.float64]
    sites: tuple[str, ...]


def pate(
    names: Sequence[str], plan: CotrainingPlan, gnmax: Gnmax | None = None
) -> Conversation[Aggregated]:
    """One exchange. Without `gnmax`: plurality, by the rule of the plan's consensus."""
    group, sums = yield from meet(names, plan)
    counts, came = yield from votes_of(group, sums, plan, Vote(0))
    return Aggregated(aggregate(counts, plan, gnmax), counts, tuple(came))


def aggregate(counts: NDArray[np.float64], plan: CotrainingPlan, gnmax: Gnmax | None) -> Labels:
    """What is released of the counts. Noise is drawn anew in every call, and cannot be seeded.

    Of noisy counts nothing leaves but which one is largest: that they are floats shows nowhere.
    """
    if gnmax is None:
        return consensus(counts, plan.consensus, plan.seed, 0)
    noisy = counts + gaussian(counts.size, gnmax.noise).reshape(counts.shape)
    answered = np.ones(len(counts), np.bool_)
    if gnmax.threshold is not None:  # [PATE 2018, Alg. 1]
        sure = counts.max(axis=1) + gaussian(len(counts), gnmax.threshold_noise)
        answered = sure >= gnmax.threshold
    answered &= np.cumsum(answered) <= gnmax.answers(len(counts))
    return np.where(answered, noisy.argmax(axis=1), NONE).astype(np.int64)


def released(plan: CotrainingPlan, gnmax: Gnmax | None) -> Release:
    """What the ledger says of the labels that the student learns from."""
    mechanism = UNPROTECTED if gnmax is None else gnmax.named()
    if plan.privacy is not None:
        mechanism = plan.privacy.named()
    return Release("labels of the public points by the teachers' votes", "everyone", mechanism)


def check_pate(plan: CotrainingPlan, gnmax: Gnmax | None) -> None:
    """Refuse a plan that is no PATE."""
    found = plan.problems() if gnmax is None else [*plan.problems(), *gnmax.problems()]
    if plan.turns != 1:
        what = f"teachers label once, and the plan has {plan.turns} exchanges"
        found.append(Problem(what, "Give rounds = 1 and period = 1."))
    if plan.exchange != "labels":
        found.append(Problem("teachers vote with hard labels", 'Give exchange = "labels".'))
    if gnmax is not None and plan.privacy is not None:
        what = "noise by the sites and noise by the server, of which only one is counted"
        found.append(Problem(what, "Leave out one of them."))
    if found:
        raise InputError(found)
