"""The training job in this process: sites in, a model out."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.data import Sites
from colabel.engines.costs import Costs
from colabel.engines.faults import Fault
from colabel.engines.local import LocalEngine
from colabel.errors import InputError, Problem
from colabel.federation.own_training import TermMemory
from colabel.federation.sampling import participations
from colabel.federation.training import Judge, State, train
from colabel.federation.training_plan import TrainingPlan
from colabel.federation.training_role import training_role
from colabel.jobs.checkpoint import Checkpoint
from colabel.jobs.laps import Clock
from colabel.learning.at_server import ServerWork
from colabel.learning.models import make
from colabel.learning.parameters import Parameters, read
from colabel.learning.threads import one_thread
from colabel.privacy.accounting import Spent, Sums, spent
from colabel.privacy.ledger import Ledger
from colabel.protocols.keys import Group, Welcome

Events = Callable[[Mapping[str, Any]], None]
Truth = Mapping[str, NDArray[np.int64]]
Points = tuple[NDArray[np.generic], NDArray[np.int64]]


@dataclass(frozen=True)
class TrainOutcome:
    """The last model and the best one (by the judge, if there is one), and what the run left."""

    state: State
    history: tuple[Mapping[str, Any], ...]
    ledger: Ledger
    costs: Costs

    @property
    def model(self) -> Parameters:
        """The last model."""
        return self.state.model


def initial(plan: TrainingPlan) -> State:
    """Where training begins: a model with random parameters [XCLP Alg. 2, line 1]."""
    return State(read(make(plan.model, plan.seed)))


def train_sites(
    sites: Sites,
    plan: TrainingPlan,
    *,
    judge: Judge | None = None,
    truth: Truth | None = None,
    server_points: Points | None = None,
    state: State | Checkpoint | None = None,
    faults: Sequence[Fault] = (),
    listen: Events = lambda event: None,
    keep: Callable[[Checkpoint], None] = lambda checkpoint: None,
    workers: int = 1,
) -> TrainOutcome:
    """Train across sites. `truth` (true labels of all points, by site) is for measuring the
    pseudo-labels in a simulation; no site and no server sees it. `server_points`: the points and
    labels that the server itself has, where the plan says what it does with them. `keep` gets
    after every round what a run needs to go on, as `state`; nothing in it changes afterwards.

    `workers`: processes that train the sites of a round at the same time, on one thread each; then
    the seconds of a phase are those of all sites together.
    """
    watcher = _Watcher(sites, truth or {})
    engine = LocalEngine(
        sites.sites,
        training_role(watcher.watch),
        faults=faults,
        workers=workers,
        prepare=one_thread,
        notes=watcher,
    )
    begin = _begin(plan, state)
    engine.remind(begin.memories)
    engine.ledger.entries += begin.ledger.entries
    history = list(begin.history)
    clock = Clock(engine.costs)

    def tell(event: Mapping[str, Any]) -> None:
        full = {**event, **watcher.flush(), **clock.lap()}
        history.append(full)
        listen(full)

    def remember(state: State) -> None:
        ledger = Ledger(list(engine.ledger.entries))
        keep(Checkpoint(state, engine.recollect(TermMemory), ledger, tuple(history)))

    server = _at_server(plan, server_points)
    conversation = train(
        sites.names,
        plan,
        begin.state,
        judge=None if judge is None else clock.timed(judge),
        server=server,
        tell=tell,
        keep=remember,
    )
    return TrainOutcome(engine.run(conversation), tuple(history), engine.ledger, engine.costs)


def _begin(plan: TrainingPlan, state: State | Checkpoint | None) -> Checkpoint:
    plan.validate()
    if isinstance(state, Checkpoint):
        return state
    return Checkpoint(initial(plan) if state is None else state)


def _at_server(plan: TrainingPlan, points: Points | None) -> ServerWork | None:
    if plan.server is None and points is None:
        return None
    if plan.server is None:
        raise InputError(Problem("the plan has no use for the server's points", "Give `server`."))
    if points is None or not len(points[1]) or min(points[1]) < 0:
        what = "the plan lets the server train, and it has no labelled points"
        raise InputError(Problem(what, "Give `server_points`, all with a label."))
    return ServerWork(plan.server, plan.model, *points, seed=plan.seed)


def will_spend(sites: Sites, plan: TrainingPlan) -> Spent | None:
    """The differential privacy that a whole run spends of the site that takes part most often."""
    if plan.privacy is None:
        return None
    group = Group(
        {site.name: Welcome(len(site), int(site.labelled.sum()), 0) for site in sites.sites}
    )
    times = participations(group, plan).values()
    return spent([Sums(max(times, default=0), plan.privacy.noise)], plan.privacy.delta)


def has_spent(history: Sequence[Mapping[str, Any]], plan: TrainingPlan) -> Spent | None:
    """The same for the rounds that there were: a site counts in all in which it was asked."""
    if plan.privacy is None:
        return None
    times = Counter(name for event in history for name in event["sites"])
    most = max(times.values(), default=0)
    return spent([Sums(most, plan.privacy.noise)], plan.privacy.delta)


class _Watcher:
    """Counts how many unlabelled points got a pseudo-label, and how many of those are right."""

    def __init__(self, sites: Sites, truth: Truth) -> None:
        self._known = {site.name: site.labelled for site in sites.sites}
        self._truth, self._counts = truth, np.zeros(4)

    def watch(self, name: str, labels: NDArray[np.int64], weights: NDArray[np.floating]) -> None:
        """One site's labels in a round."""
        if name not in self._truth:
            return
        hidden = ~self._known[name]
        given = hidden & (labels >= 0)
        right = labels[given] == self._truth[name][given]
        self._counts += [hidden.sum(), given.sum(), right.sum(), weights[given].sum()]

    def take(self) -> bytes:
        """What was counted since the last call, for another process."""
        counts, self._counts = self._counts, np.zeros(4)
        return counts.tobytes()

    def add(self, noted: bytes) -> None:
        """Count this too."""
        self._counts += np.frombuffer(noted)

    def flush(self) -> dict[str, float]:
        """The figures of a round."""
        hidden, given, right, weight = self._counts.tolist()
        self._counts = np.zeros(4)
        if not given:
            return {}
        return {
            "pseudo_coverage": given / hidden,
            "pseudo_accuracy": right / given,
            "pseudo_weight": weight / given,
        }
