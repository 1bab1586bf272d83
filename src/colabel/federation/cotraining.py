"""Federated co-training [FedCT Algorithm 1]: sites label a public set together, and learn from it.

step    message                 bytes up per site          who learns what
hello   Hello → Welcome         ~150                       server: sizes
label   LabelPublic → Answer    n · ⌈log₂ C⌉ / 8           server: each site's labels of the public
                                                           points; each site: the consensus
        … as a masked sum       n · C (a byte a count)     server: how many voted for each class
finish  Finish → Done           0                          each site: the last consensus

Server alone: as above; under masks, counts and not who. One site: the consensus, every turn.
Server with one site, under masks: also the counts of the others. With more than half of the sites:
every site's labels. What labels tell about the points they were learnt from, `colabel audit`
measures; only `privacy` bounds it.

A site lost in a turn has no vote in it, and goes on with the next if it answers again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Ask, Conversation, Message, Release
from colabel.cotrain.consensus import NONE, consensus
from colabel.cotrain.packing import Packed, pack_labels
from colabel.errors import SitesLost
from colabel.federation.cotraining_plan import CotrainingPlan
from colabel.federation.own_cotraining import CONSENSUS, Answer, Finish, LabelAgain, LabelPublic
from colabel.federation.released import added_up, form_of, rows_of
from colabel.protocols.keys import Group, hello
from colabel.protocols.replies import expect, refuse
from colabel.protocols.setup import agree
from colabel.protocols.sums import ClearSums, Sums
from colabel.wire import pack

Tell = Callable[[Mapping[str, Any]], None]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class CoTrained:
    """The last consensus (−1: none), the votes behind it, and who learnt from it.

    shares: the mean probabilities, where these are exchanged.
    """

    consensus: Labels
    votes: NDArray[np.float64]
    finished: tuple[str, ...]
    shares: NDArray[np.float32] | None = None


def _nothing(event: Mapping[str, Any]) -> None:
    """Nobody listens."""


def cotrain(
    names: Sequence[str], plan: CotrainingPlan, *, tell: Tell = _nothing
) -> Conversation[CoTrained]:
    """All turns; every site ends with a model of its own."""
    group, sums = yield from meet(names, plan)
    packed: Packed | None = None  # line 1: P ← ∅
    shares: NDArray[np.float32] | None = None
    before = np.full(plan.n_public, NONE)
    for turn in range(plan.turns):
        asked = LabelAgain(turn, packed, shares) if turn else LabelPublic(turn)
        votes, came = yield from votes_of(group, sums, plan, asked)  # line 10
        if plan.exchange == "scores":
            # every site's rows add up to 1, so this is the mean over those that came
            shares = (votes / votes.sum(axis=1, keepdims=True)).astype(np.float32)
            agreed = shares.argmax(axis=1)
        else:
            agreed = consensus(votes, plan.consensus, plan.seed, turn)  # line 11
            packed = pack_labels(agreed, plan.n_classes)
        changed = float((agreed != before).mean())
        share = float((agreed != NONE).mean())
        tell({"turn": turn, "sites": came, "agreed": share, "changed": changed, "labels": agreed})
        before = agreed
    asked_last = dict.fromkeys(group.names, Finish(packed, shares))
    done = yield Ask("finish", asked_last, (CONSENSUS,))  # line 12
    return CoTrained(before, votes, tuple(done), shares)


def meet(names: Sequence[str], plan: CotrainingPlan) -> Conversation[tuple[Group, Sums]]:
    """Who takes part, with keys if votes are masked."""
    if plan.votes == "masked":
        return (yield from agree(names, pack(plan), n_masks=plan.n_masks))
    welcomes = yield from hello(names, pack(plan), plan.n_masks)
    return Group(welcomes), ClearSums()


def votes_of(
    group: Group, sums: Sums, plan: CotrainingPlan, asked: LabelPublic
) -> Conversation[tuple[NDArray[np.float64], list[str]]]:
    """The votes of all sites that answer, and who was asked or answered."""
    messages: dict[str, Message] = dict.fromkeys(group.names, asked)
    if plan.votes == "masked":
        form = form_of(plan, len(group.names))
        total = yield from sums.public("label", what_of(plan), messages, form)
        return total, list(group.names)
    told = (CONSENSUS,) if asked.turn else ()
    replies = yield Ask("label", messages, (*told, votes_in_clear(plan)))
    answers = {}
    for name, reply in expect(replies, "label", Answer).items():
        try:
            answers[name] = rows_of(reply.released, plan)
        except ValueError as error:
            refuse(name, "label", f"labels of {plan.n_public} points", str(error), "not labels")
    if not answers:
        raise SitesLost("no site is left: none answered in the step 'label'")
    return added_up(answers), list(answers)


def votes_in_clear(plan: CotrainingPlan) -> Release:
    """What the ledger calls each site's answer."""
    mechanism = "in clear" if plan.privacy is None else plan.privacy.named()
    return Release(f"each site's {what_of(plan)}", "server", mechanism)


def what_of(plan: CotrainingPlan) -> str:
    """What is added up."""
    if plan.exchange == "scores":
        return "class probabilities of the public points"
    if plan.privacy is None:
        return "labels of the public points"
    return f"labels of the public points ({plan.privacy.named()})"
