"""Federated training with pseudo-labels: the server's side of [XCLP Alg. 2; FedProp Alg. 2].

step            line   who takes part, and what a loss means
hello           –      all sites; a lost one is never asked again
once            –      stages with labels "once": all sites; a lost one has no pseudo-labels
hold            4      stages with labels "graph": the sites of the round; a lost one sits it out
(labelling)     6-7    see labelling.py; a site lost there trains without pseudo-labels
train           8-9    a lost site does not count in the mean; all lost: the model stays
(server)        –      trains on labelled points of its own, where it has some; nothing is sent

Who learns what: sites: the model, and what goes with it for the terms. Server: each site's model
and mean loss (in clear), or the sum of the changes only (masked). Pseudo-labels stay at the site.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec.structs import replace

from colabel.conversation import Ask, Conversation, Message, Release
from colabel.errors import SitesLost
from colabel.federation.groups import deal, starts, together
from colabel.federation.labelling import label_group
from colabel.federation.own_training import MODEL, HoldModel, LabelOnce, Train, Trained
from colabel.federation.sampling import batch_for, rate_for, sample
from colabel.federation.training_plan import WITH_GRAPH, PrivacyPlan, Stage, TrainingPlan
from colabel.learning.aggregation import mean, means, means_of_groups, moved
from colabel.learning.parameters import Parameters, unflatten
from colabel.learning.terms.base import Shared, Term
from colabel.protocols.keys import Group, hello
from colabel.protocols.replies import expect
from colabel.protocols.setup import agree
from colabel.protocols.sums import Sums
from colabel.wire import pack

Tell = Callable[[Mapping[str, Any]], None]
Judge = Callable[[Parameters, Shared, Sequence[Term]], Mapping[str, float]]
AtServer = Callable[[Parameters, int], Parameters]

UPDATES = Release("each site's model after the round, and its mean loss", "server", "in clear")


@dataclass(frozen=True)
class State:
    """All that the server carries from round to round.

    best_kept: what was kept for the terms when the model was best.
    once: the model by which all points were labelled, in a stage with labels "once".
    """

    model: Parameters
    kept: Shared = field(default_factory=dict)
    round: int = 0
    best: Parameters | None = None
    best_score: float = -1.0
    best_kept: Shared = field(default_factory=dict)
    once: Parameters | None = None


def _nothing(event: Mapping[str, Any]) -> None:
    """Nobody listens."""


def train(
    names: Sequence[str],
    plan: TrainingPlan,
    state: State,
    *,
    judge: Judge | None = None,
    server: AtServer | None = None,
    tell: Tell = _nothing,
    keep: Callable[[State], None] = lambda state: None,
) -> Conversation[State]:
    """Train from `state` on; `judge` rates models for the choice of the best one.

    `server` makes of a model the one after a round of training with the server's own points.
    `tell` hears of every round, `keep` gets what is needed to go on after it.
    """
    everybody = Group((yield from hello(names, pack(plan), -1)))
    first = 0
    for number, stage in enumerate(plan.stages):
        stop = first + stage.rounds
        if stage.labels == "once" and first <= state.round < stop:
            state = yield from _label_once(everybody, state, again=first < state.round)
        while first <= state.round < stop:
            turn = state.round - first
            state, events = yield from _round(everybody, plan, number, turn, state, server)
            if judge is not None and (state.round % plan.judge_every == 0 or state.round == stop):
                state, scores = _judged(state, judge, stage)
                events |= {"scores": scores}
            tell({"event": "round", "stage": number, **events})
            keep(state)
        first = stop
    return state


def _label_once(everybody: Group, state: State, *, again: bool) -> Conversation[State]:
    """`again`: who goes on in the middle of the stage has its labels made as at its beginning."""
    model = state.once if again and state.once is not None else state.model
    yield Ask("once", dict.fromkeys(everybody.names, LabelOnce(model)), (MODEL,))
    return dataclasses.replace(state, once=model)


def _judged(state: State, judge: Judge, stage: Stage) -> tuple[State, dict[str, float]]:
    scores = dict(judge(state.model, state.kept, stage.terms))
    score = scores["accuracy"]
    if score > state.best_score:
        state = dataclasses.replace(state, best=state.model, best_score=score, best_kept=state.kept)
    return state, scores


def _round(
    everybody: Group,
    plan: TrainingPlan,
    number: int,
    turn: int,
    state: State,
    server: AtServer | None,
) -> Conversation[tuple[State, dict[str, Any]]]:
    stage = plan.stages[number]
    chosen = sample(everybody, plan, stage, state.round)  # line 3
    n_masks, sums = plan.masks_for(stage), None
    if n_masks is not None:
        public = plan.graph is not None and plan.graph.seed is not None
        group, sums = yield from agree(chosen, pack(plan), n_masks=n_masks, seed_is_public=public)
        chosen = list(group.names)
        if stage.labels in WITH_GRAPH and plan.graph is not None:
            chosen = yield from _label(group, sums, plan, state)  # lines 4, 6, 7
    dealt = deal(plan, chosen, state.round)
    requests = _requests(everybody, plan, number, turn, state, dealt)
    share = len(chosen) / len(everybody.names)
    if plan.protection == "masked" and sums is not None:
        after = yield from _summed(sums, stage, state, requests, share, plan.privacy)
    else:
        after = yield from _in_clear(plan, stage, state, requests, share, dealt)
    model, kept = _joined(plan, state, after, server)
    rate = next(iter(requests.values())).rate if requests else 0.0
    events = {"round": state.round, "sites": chosen, "rate": rate, "came": after.came}
    if after.loss is not None:
        events["loss"] = after.loss
    after_round = state.round + 1
    return dataclasses.replace(state, model=model, kept=kept, round=after_round), events


def _label(group: Group, sums: Sums, plan: TrainingPlan, state: State) -> Conversation[list[str]]:
    """Pseudo-labels along the graph of the sites of this round [XCLP Alg. 2, line 7]."""
    held = yield Ask("hold", dict.fromkeys(group.names, HoldModel(state.model)), (MODEL,))
    there = group.only(tuple(held))
    if plan.graph is not None:
        with suppress(SitesLost):  # too few for a graph: they train on their own labels
            yield from label_group(there, sums, plan.graph)
    return list(there.names)


def _requests(
    everybody: Group,
    plan: TrainingPlan,
    number: int,
    turn: int,
    state: State,
    dealt: Mapping[str, int],
) -> dict[str, Train]:
    """One message for all sites, as far as it is the same for all."""
    stage, batch = plan.stages[number], batch_for(everybody, plan)
    since = turn if plan.local.optimiser.restarts else state.round
    plains = [
        Train(
            model={} if stage.labels in WITH_GRAPH else model,
            shared={},
            stage=number,
            round=turn,
            number=state.round,
            batch=batch,
            rate=rate_for(plan, batch, since),
        )
        for model in starts(plan, state.model, state.kept)
    ]
    most = max(size.n_points for size in everybody.sizes.values())
    requests = {}
    for name, group in dealt.items():
        plain = plains[group]
        own: dict[str, Any] = {}
        for term in stage.terms:
            own |= term.send(state.kept, name)
        weight = 1.0
        if plan.averaging == "points":
            weight = everybody.sizes[name].n_points / most
        same = not own and weight == plain.weight
        requests[name] = plain if same else replace(plain, shared=own, weight=weight)
    return requests


@dataclass(frozen=True)
class _After:
    """models, counted: each group's mean, and how many sites (by weight) are in it."""

    models: Mapping[int, Parameters]
    counted: Mapping[int, float]
    kept: Shared
    came: list[str]
    loss: float | None


def _joined(
    plan: TrainingPlan, state: State, after: _After, server: AtServer | None
) -> tuple[Parameters, Shared]:
    """The next model: of the sites' means, and of what the server trained itself."""
    models = {}
    for group, begin in enumerate(starts(plan, state.model, state.kept)):
        model = after.models.get(group, begin)
        if server is not None and plan.server is not None and plan.server.turn == "after":
            model = server(model, state.round)
        elif server is not None:
            counted = after.counted.get(group, 0.0)
            model = mean([model, server(begin, state.round)], [counted, 1.0])
        models[group] = model
    return together(plan, models, after.kept)


def _in_clear(
    plan: TrainingPlan,
    stage: Stage,
    state: State,
    requests: Mapping[str, Train],
    share: float,
    dealt: Mapping[str, int],
) -> Conversation[_After]:
    shown = [release for term in stage.terms for release in term.releases()]
    replies = yield Ask("train", requests, (MODEL, UPDATES, *shown))
    found = expect(replies, "train", Trained)
    if not found:
        return _After({}, {}, state.kept, [], None)
    models = {name: reply.model for name, reply in found.items()}
    by_name = {name: requests[name].weight for name in found}
    averages = means_of_groups(models, by_name, dealt)  # line 10
    counted = {group: sum(by_name[n] for n in found if dealt[n] == group) for group in averages}
    weights = list(by_name.values())
    kept, returned = state.kept, {name: reply.returned for name, reply in found.items()}
    for term in stage.terms:
        if term.linear:
            own = [{what: held[what] for what in term.returns} for held in returned.values()]
            kept = term.keep_mean(kept, means(own, weights), share)
        else:
            kept = term.keep_each(kept, returned)
    loss = float(np.average([reply.loss for reply in found.values()], weights=weights))
    return _After(averages, counted, kept, list(found), loss)


def _summed(
    sums: Sums,
    stage: Stage,
    state: State,
    requests: Mapping[str, Train],
    share: float,
    privacy: PrivacyPlan | None,
) -> Conversation[_After]:
    """The same from sums alone: the server sees no site's model."""
    messages: dict[str, Message] = dict(requests)
    try:
        total = yield from sums.public("train", change_of_model(privacy), messages, "updates")
    except SitesLost:
        return _After({}, {}, state.kept, [], None)
    row = total[0, :-1] / total[0, -1]
    shapes = {name: held.shape for name, held in state.model.items()}
    size = sum(int(np.prod(shape)) for shape in shapes.values())
    model = moved(state.model, unflatten(row[:size], shapes))
    kept, average = state.kept, _split(row[size:], stage, shapes)
    for term in stage.terms:
        kept = term.keep_mean(kept, average, share)
    return _After({0: model}, {0: float(total[0, -1])}, kept, list(requests), None)


def change_of_model(privacy: PrivacyPlan | None) -> str:
    """What the ledger calls it."""
    if privacy is None:
        return "change of the model"
    return (
        f"change of the model, clipped to {privacy.clip:g}, with noise of {privacy.noise:g} clips"
    )


def _split(row: np.ndarray, stage: Stage, shapes: Mapping[str, tuple[int, ...]]) -> Shared:
    """What the terms returned, which follows the model in the order of its names."""
    found: Shared = {}
    for name in sorted({name for term in stage.terms for name in term.returns}):
        size = sum(int(np.prod(shape)) for shape in shapes.values())
        found[name] = unflatten(row[:size], shapes)
        row = row[size:]
    return found
