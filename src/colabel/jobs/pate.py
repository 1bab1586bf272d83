"""The PATE job in this process: teachers at sites and public points in, a student out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.cotrain.consensus import NONE
from colabel.cotrain.learners import Examples, Learner
from colabel.cotrain.packing import pack_labels
from colabel.data import Sites
from colabel.engines.costs import Costs
from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import InputError, Problem
from colabel.federation.cotraining_plan import CotrainingPlan
from colabel.federation.own_cotraining import Desk
from colabel.federation.pate import Aggregated, check_pate, pate, pate_role, released
from colabel.jobs.cotrain import check_cotraining
from colabel.privacy.accounting import Spent
from colabel.privacy.gnmax import Gnmax, spent
from colabel.privacy.ledger import Ledger


@dataclass(frozen=True)
class PateOutcome:
    """The student, trained on public points alone; the teachers as they voted.

    spent: what the labels, and so the student, cost a site, to everyone but the server; None
    without GNMax. bytes_released: the size of the labels, for whoever trains the student.
    """

    result: Aggregated
    student: Learner
    teachers: Mapping[str, Learner]
    spent: Spent | None
    bytes_released: int
    ledger: Ledger
    costs: Costs


def pate_sites(
    sites: Sites,
    public: NDArray[np.generic],
    teachers: Mapping[str, Learner],
    student: Learner,
    plan: CotrainingPlan,
    *,
    gnmax: Gnmax | None = None,
    faults: Sequence[Fault] = (),
) -> PateOutcome:
    """Each teacher learns from its site's points, once, and votes; the student from the votes.

    plan: of one exchange of hard labels, `plan_for(public, n_classes, rounds=1)`.
    """
    check_pate(plan, gnmax)
    check_cotraining(sites, public, teachers, plan)
    desks = {name: Desk(public, teachers[name]) for name in sites.names}
    engine = LocalEngine(sites.sites, pate_role(desks.__getitem__), faults=faults)
    result = engine.run(pate(sites.names, plan, gnmax))
    engine.ledger.record("publish", result.sites, released(plan, gnmax))
    given = result.labels != NONE
    if not given.any():
        fix = "Lower the threshold or the noise, or ask more sites."
        raise InputError(Problem("the votes give no public point a label", fix))
    labelled = Examples(public[given], result.labels[given])
    student.learn(Examples.nothing(public), labelled, 0)
    return PateOutcome(
        result,
        student,
        teachers,
        None if gnmax is None else spent(gnmax, plan.n_public),
        pack_labels(result.labels, plan.n_classes).n_bytes,
        engine.ledger,
        engine.costs,
    )
