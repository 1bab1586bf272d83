"""What a site answers in a co-training session: what its model says of the public points.

Its own points and labels, and its model, never leave it. What leaves is a label for each public
point (or a row of probabilities, if the plan says so), after whatever the plan does to it first.
"""

from collections.abc import Callable
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Done, Message, Private, Release
from colabel.cotrain.consensus import check_shares, check_votes
from colabel.cotrain.learners import Examples, Learner
from colabel.cotrain.packing import NONE, Packed, unpack_labels
from colabel.federation.cotraining_plan import CotrainingPlan, digest_of
from colabel.federation.released import Released, release, summand_of
from colabel.federation.site import SiteSession
from colabel.protocols.keys import Hello, Sizes, Welcome, introduce
from colabel.protocols.meeting import Met, threshold
from colabel.protocols.sums import Mode, Summed
from colabel.wire import unpack

CONSENSUS = Release("the consensus on the public points", "each site", "in clear")

Arrays = dict[str, np.ndarray]


class LabelPublic(Summed, frozen=True):
    """Learn from your points and from the public ones that have a label; then label them all.

    consensus: nothing in the first turn. shares: the same where probabilities are exchanged.
    """

    modes: ClassVar[tuple[Mode, ...]] = ("public",)

    turn: int
    consensus: Packed | None = None
    shares: np.ndarray | None = None


class LabelAgain(LabelPublic, frozen=True):
    """The same in later turns, which tell the consensus."""

    reveals: ClassVar[tuple[Release, ...]] = (CONSENSUS,)


class Answer(Message, frozen=True):
    """The labels, or the probabilities, in clear."""

    released: Released


class Finish(Message, frozen=True):
    """The last consensus: learn from it, and be done."""

    consensus: Packed | None = None
    shares: np.ndarray | None = None


class AgreedCotraining(msgspec.Struct, frozen=True):
    """What a site remembers of the plan it agreed to."""

    plan: CotrainingPlan


class Said(Private, frozen=True):
    """What a site remembers of its last turn: what it released. Asked again, because a sum had to
    begin anew, it says the same: new noise on the same labels would reveal more.
    """

    turn: int
    released: Released


class LearnerMemory(msgspec.Struct, frozen=True):
    """What the site's model goes on from."""

    turn: int
    arrays: Arrays


class Desk:
    """What a site brings to co-training: the public points, and its learner."""

    def __init__(self, public: NDArray[np.generic], learner: Learner) -> None:
        self.public, self.learner = public, learner
        self.digest = digest_of(public)


DeskOf = Callable[[str], Desk]


def welcome(desk_of: DeskOf) -> Callable[[SiteSession, Hello], Welcome]:
    """Check the plan and the public points, agree, and say how many own points there are."""

    def answer(session: SiteSession, request: Hello) -> Welcome:
        plan, desk = _read_plan(session, request.plan), desk_of(session.name)
        if desk.digest != plan.public or len(desk.public) != plan.n_public:
            session.refuse(
                "other public points", f"{plan.n_public} points {plan.public[:16]}",
                f"{len(desk.public)} points {desk.digest[:16]}",
            )  # fmt: skip
        highest = int(session.site.labels.max(initial=-1))
        if highest >= plan.n_classes:
            session.refuse("too few classes", f"at least {highest + 1}", str(plan.n_classes))
        session.remember(AgreedCotraining(plan))
        known = int(session.site.labelled.sum())
        sizes = Sizes(len(session.site), known, int(np.prod(session.site.points.shape[1:])))
        return introduce(session, sizes, request.plan, request.n_masks)

    return answer


def label_public(desk_of: DeskOf) -> Callable[[SiteSession, LabelPublic], Message]:
    """One turn at a site [FedCT Alg. 1, lines 3-6]."""

    def answer(session: SiteSession, request: LabelPublic) -> Message:
        plan, desk = session.recall(AgreedCotraining).plan, desk_of(session.name)
        if not 0 <= request.turn < plan.turns:
            session.refuse("no such turn", f"below {plan.turns}", str(request.turn))
        if request.turn and request.consensus is None and request.shares is None:
            session.refuse("a consensus is missing", "that of the turn before", "none")
        if not session.knows(Said) or session.recall(Said).turn != request.turn:
            learn(session, desk, request, request.turn)  # line 3
            session.remember(Said(request.turn, _say(session, desk, plan)))  # line 5
        released = session.recall(Said).released
        return summand_of(released, plan) if plan.votes == "masked" else Answer(released)  # line 6

    return answer


def _say(session: SiteSession, desk: Desk, plan: CotrainingPlan) -> Released:
    if plan.exchange == "scores":
        shares = np.asarray(desk.learner.shares(desk.public), dtype=np.float32)
        check_shares(shares, plan.n_public, plan.n_classes)
        return Released(shares=shares)
    labels = desk.learner.predict(desk.public)
    check_votes(labels, plan.n_public, plan.n_classes)
    return release(labels, plan, _n_least(session))


def finish(desk_of: DeskOf) -> Callable[[SiteSession, Finish], Done]:
    """Learn from the last consensus; the model stays at the site."""

    def answer(session: SiteSession, request: Finish) -> Done:
        plan = session.recall(AgreedCotraining).plan
        learn(session, desk_of(session.name), request, plan.turns)
        return Done()

    return answer


def learn(session: SiteSession, desk: Desk, request: LabelPublic | Finish, turn: int) -> None:
    """h ← A(D ∪ P, h): from the site's labelled points and the public ones that have a label."""
    plan, known = session.recall(AgreedCotraining).plan, session.site.labelled
    if session.knows(LearnerMemory):
        before = session.recall(LearnerMemory)
        if before.turn >= turn:
            session.refuse("a turn again", f"after {before.turn}", str(turn))
        desk.learner.load(before.arrays)
    own = Examples(session.site.points[known], session.site.labels[known])
    desk.learner.learn(own, _public_examples(session, desk, plan, request), turn)
    session.remember(LearnerMemory(turn, desk.learner.save()))


def _public_examples(
    session: SiteSession, desk: Desk, plan: CotrainingPlan, request: LabelPublic | Finish
) -> Examples:
    """P = (U, L) [FedCT Alg. 1, line 7]."""
    if request.shares is not None:
        wanted = (plan.n_public, plan.n_classes)
        if request.shares.shape != wanted or not np.isfinite(request.shares).all():
            session.refuse("other probabilities", str(wanted), str(request.shares.shape))
        return Examples(desk.public, request.shares.argmax(axis=1), request.shares)
    if request.consensus is None:
        return Examples.nothing(desk.public)
    try:
        labels = unpack_labels(request.consensus, plan.n_public, plan.n_classes)
    except ValueError as error:
        session.refuse("not the consensus", f"{plan.n_public} labels", str(error))
    agreed = labels != NONE
    return Examples(desk.public[agreed], labels[agreed])


def _n_least(session: SiteSession) -> int:
    """A sum is only ever revealed of at least so many sites."""
    return threshold(len(session.recall(Met).order)) if session.knows(Met) else 1


def _read_plan(session: SiteSession, data: bytes) -> CotrainingPlan:
    try:
        return unpack(data, CotrainingPlan).validate()
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        session.refuse("not a plan that can be followed", "a valid plan", str(error))
