"""What a site answers in a training session: its sizes, its pseudo-labels, its trained model.

Between rounds a site keeps what its data weigh, not what a model weighs (but for terms that must
remember a model, like SCAFFOLD's): what was sent for a round is forgotten at its end.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Done, Message, Release
from colabel.crypto.gaussian import gaussian
from colabel.errors import Diverged
from colabel.federation.alone import propagate_alone
from colabel.federation.own_labels import OwnLabels, known_labels, order, take_seed
from colabel.federation.plan import Agreed
from colabel.federation.site import SiteSession
from colabel.federation.training_plan import WITH_GRAPH, PrivacyPlan, Stage, TrainingPlan
from colabel.graph.scores import one_hot
from colabel.learning import local, pseudo_labels
from colabel.learning.aggregation import change
from colabel.learning.models import ModelPlan, Network, make
from colabel.learning.parameters import Parameters, flatten, n_bytes, read, shapes, write
from colabel.learning.threads import enough_threads
from colabel.learning.work import Progress, Targets, Tensor, Work, as_tensor, generator
from colabel.privacy.clipping import clip
from colabel.protocols.keys import Hello, OwnKeys, Sizes, Welcome, introduce
from colabel.protocols.meeting import Met, threshold
from colabel.protocols.sums import Mode, Summand, Summed
from colabel.randomness import model as model_randomness
from colabel.wire import unpack

Arrays = dict[str, np.ndarray]
MODEL = Release("the model", "each site", "in clear")
Watch = Callable[[str, NDArray[np.int64], NDArray[np.floating]], None]


class HoldModel(Message, frozen=True):
    """The model of this round, by which points are embedded; `Train` will follow."""

    model: Arrays


class LabelOnce(Message, frozen=True):
    """Label your points by this model, for all rounds of the stage."""

    model: Arrays


class Train(Summed, frozen=True):
    """Train the model (the one that you hold, if none is given) for a round.

    number: of the round in the whole run; shared: what goes with it for the terms.
    weight: what the site counts in the mean, relative to the one that counts most.
    """

    modes: ClassVar[tuple[Mode, ...]] = ("public",)
    reveals: ClassVar[tuple[Release, ...]] = (MODEL,)

    model: Arrays
    shared: dict[str, Arrays]
    stage: int
    round: int
    number: int
    batch: int
    rate: float
    weight: float = 1.0

    def apart(self) -> dict[str, int]:
        """What goes with the model for the terms."""
        return {name: n_bytes(held) for name, held in self.shared.items()}


class Trained(Message, frozen=True):
    """The site's own model after the round, and what goes with it."""

    model: Arrays
    returned: dict[str, Arrays]
    loss: float

    def apart(self) -> dict[str, int]:
        """What goes with the model for the terms."""
        return {name: n_bytes(held) for name, held in self.returned.items()}


class AgreedTraining(msgspec.Struct, frozen=True):
    """What a site remembers of the plan it agreed to."""

    plan: TrainingPlan


class Held(msgspec.Struct, frozen=True):
    """What a site remembers of `HoldModel`."""

    model: Arrays


class OnceLabels(msgspec.Struct, frozen=True):
    """What a site remembers of `LabelOnce`."""

    labels: np.ndarray
    weights: np.ndarray


class TermMemory(msgspec.Struct, frozen=True):
    """What terms remember from round to round, and local running statistics."""

    arrays: dict[str, Arrays]


@lru_cache(maxsize=2)
def workplace(plan: ModelPlan) -> Network:
    """The one network of this kind in this process; whoever uses it first writes into it."""
    return make(plan)


def welcome(session: SiteSession, request: Hello) -> Welcome:
    """Check the plan, agree to it, and say how many points there are."""
    plan = _read_plan(session, request.plan)
    highest = int(session.site.labels.max(initial=-1))
    if highest >= plan.model.n_classes:
        session.refuse("too few classes", f"at least {highest + 1}", str(plan.model.n_classes))
    session.remember(AgreedTraining(plan))
    if plan.graph is not None:
        session.remember(Agreed(plan.graph))
        take_seed(session, plan.graph)
    width = workplace(plan.model).width
    sizes = Sizes(len(session.site), int(session.site.labelled.sum()), width)
    return introduce(session, sizes, request.plan, request.n_masks)


def _read_plan(session: SiteSession, data: bytes) -> TrainingPlan:
    try:
        return unpack(data, TrainingPlan).validate()
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        session.refuse("not a plan that can be followed", "a valid plan", str(error))


def hold_model(session: SiteSession, request: HoldModel) -> Done:
    """Keep the model; points and codes are made by it [XCLP Alg. 2, lines 4 and 6]."""
    _check_model(session, request.model)
    session.remember(Held(request.model))
    session.start_afresh()
    return Done()


def embedded(session: SiteSession) -> NDArray[np.generic]:
    """V = f_φ(X) by the model that the site holds [XCLP Alg. 2, line 6]."""
    plan = session.recall(AgreedTraining).plan.model
    network = workplace(plan)
    write(network, session.recall(Held).model)
    found: NDArray[np.float32] = pseudo_labels.embed(network, _points(session), plan).numpy()
    return found


def predicted(session: SiteSession) -> NDArray[np.float64]:
    """The site's labels, and behind them, if the plan wants it, what the model that it holds
    predicts of its other points, each as far as it is sure.
    """
    if session.recall(Agreed).plan.seeds == "labels":
        return known_labels(session)
    plan = session.recall(AgreedTraining).plan.model
    network = workplace(plan)
    write(network, session.recall(Held).model)
    shares = pseudo_labels.predict(network, _points(session), plan)
    soft = (shares * pseudo_labels.certainty(shares)[:, None]).numpy().astype(np.float64)
    known = session.site.labelled
    soft[known] = one_hot(session.site.labels[known], plan.n_classes)
    return soft[order(session)]


def label_once(session: SiteSession, request: LabelOnce) -> Done:
    """Predict labels for all unlabelled points, and keep them."""
    plan = session.recall(AgreedTraining).plan.model
    _check_model(session, request.model)
    network = workplace(plan)
    write(network, request.model)
    found = pseudo_labels.from_network(network, _points(session), _labels(session), plan)
    session.remember(OnceLabels(found.labels.numpy(), found.weights.numpy()))
    return Done()


def training(watch: Watch) -> Callable[[SiteSession, Train], Message]:
    """How a site trains. `watch` is told the pseudo-labels, in this process only."""

    def train(session: SiteSession, request: Train) -> Message:
        plan = session.recall(AgreedTraining).plan
        # copying the model in and out is no work for several threads either
        with enough_threads(plan.model, 2 * request.batch):
            return _train(session, request, plan)

    def _train(session: SiteSession, request: Train, plan: TrainingPlan) -> Message:
        if plan.protection == "masked" and not session.knows(OwnKeys):
            session.refuse("a model without masks", "masks, as the plan says", "none")
        if not 0 <= request.stage < len(plan.stages):
            session.refuse("no such stage", f"below {len(plan.stages)}", str(request.stage))
        if not 0 < request.weight <= 1:
            session.refuse("not a weight", "above 0, at most 1", str(request.weight))
        stage, network = plan.stages[request.stage], workplace(plan.model)
        start = request.model or session.recall(Held).model
        _check_model(session, start)
        memory = dict(session.recall(TermMemory).arrays) if session.knows(TermMemory) else {}
        write(network, start | memory.get(_BUFFERS, {}))
        targets = _targets(session, network, plan, stage)
        watch(session.name, targets.labels.numpy(), targets.weights.numpy())
        work = _work(session, request, plan, network, targets, memory)
        loss = local.update(work, stage.terms)
        found = read(network)
        sent = [*found.values(), *(part for own in work.returned.values() for part in own.values())]
        if not all(np.isfinite(held).all() for held in sent):
            what = f"the model at site {session.name} left the finite numbers in round"
            raise Diverged(f"{what} {request.number}: give a smaller learning rate")
        if plan.buffers == "local":
            work.memory[_BUFFERS] = {name: found[name] for name in _buffers(network)}
            found |= {name: start[name] for name in _buffers(network)}
        if work.memory:
            session.remember(TermMemory(work.memory))
        session.forget(Held, OwnLabels)
        if plan.protection == "none":
            return Trained(found, work.returned, loss)
        row = one_row(change(found, start), work.returned)
        if plan.privacy is not None:
            row = private(row, plan.privacy, threshold(len(session.recall(Met).order)))
        return Summand(request.weight * np.append(row, 1.0)[None])

    return train


def one_row(step: Parameters, returned: dict[str, Parameters]) -> NDArray[np.float64]:
    """The change of the model, and after it what the terms return, in the order of their names."""
    parts = [step, *(returned[name] for name in sorted(returned))]
    return np.concatenate([flatten(part).astype(np.float64) for part in parts])


def private(row: NDArray[np.float64], plan: PrivacyPlan, n_least: int) -> NDArray[np.float64]:
    """Clip, and add this site's share of the noise.

    A sum is only ever revealed of at least `n_least` sites, so their shares make up the whole.
    """
    sigma = plan.noise * plan.clip / np.sqrt(n_least)
    return clip(row, plan.clip) + gaussian(len(row), sigma)


_BUFFERS = "buffers"


def _buffers(network: Network) -> list[str]:
    return [name for name, held in network.named_buffers() if held.is_floating_point()]


def _work(
    session: SiteSession,
    request: Train,
    plan: TrainingPlan,
    network: Network,
    targets: Targets,
    memory: dict[str, Arrays],
) -> Work:
    purpose = f"round {request.number} at {session.name}"
    seed = int(model_randomness(plan.seed, purpose).integers(2**62))
    return Work(
        network=network,
        model=plan.model,
        plan=plan.local,
        points=_points(session),
        targets=targets,
        labelled=as_tensor(session.site.labelled),
        batch=request.batch,
        rate=request.rate,
        progress=Progress(request.round, plan.stages[request.stage].rounds),
        generator=generator(seed),
        shared=dict(request.shared),
        memory=memory,
    )


def _targets(session: SiteSession, network: Network, plan: TrainingPlan, stage: Stage) -> Targets:
    """The labels of this round [XCLP Alg. 2, line 7], made by the model as it was sent."""
    known, points = _labels(session), _points(session)
    if stage.labels == "network":
        return pseudo_labels.from_network(network, points, known, plan.model)
    if stage.labels == "once" and session.knows(OnceLabels):
        once = session.recall(OnceLabels)
        return pseudo_labels.from_arrays(once.labels, once.weights, known, scale=False)
    scale = plan.local.scale_weights
    if stage.labels == "site" and plan.graph is not None:
        vectors = pseudo_labels.embed(network, points, plan.model).numpy()
        labels, sure = propagate_alone(vectors, session.site.labels, plan.graph)
        return pseudo_labels.from_arrays(labels, sure, known, scale=scale)
    if stage.labels in WITH_GRAPH and session.knows(OwnLabels):
        own = session.recall(OwnLabels)
        if stage.labels == "joint":
            return pseudo_labels.joint(network, points, own.distributions, known, plan.model)
        return pseudo_labels.from_arrays(own.labels, own.confidence, known, scale=scale)
    return pseudo_labels.only_truth(known)


def _points(session: SiteSession) -> Tensor:
    return as_tensor(session.site.points)


def _labels(session: SiteSession) -> Tensor:
    return as_tensor(np.asarray(session.site.labels, dtype=np.int64))


def _check_model(session: SiteSession, model: Arrays) -> None:
    """Refuse a model of another shape."""
    plan = session.recall(AgreedTraining).plan.model
    wanted = _shapes(plan)
    got = {name: held.shape for name, held in model.items()}
    if got != wanted:
        wrong = sorted(set(wanted.items()) ^ set(got.items()))
        session.refuse("a model of another shape", f"that of {plan.name}", str(wrong[:3]))


@lru_cache(maxsize=8)
def _shapes(plan: ModelPlan) -> dict[str, tuple[int, ...]]:
    return shapes(workplace(plan))
