"""ProtoFSSL: learn to lie near one's own prototypes, and to agree with those of other sites.

A step is an episode [ProtoFSSL Alg. 1]: of every class a few labelled points are the support, whose
mean embeddings are the site's own prototypes, and a few others are asked about, beside unlabelled
points. Each of those gets a pseudo-label from the prototypes of helpers: sites of the last round.

what travels         from → to          bytes
own prototypes       site → server      4 · width + 16 for every class of which it has labels
helpers' prototypes  server → sites     the same for every helper

Who learns what: the server, and the sites of later rounds, learn the mean embedding of a site's
labelled points of each class, and which classes those are. Noise may be added; how much privacy
that gives is not accounted.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from colabel.conversation import Release
from colabel.crypto.gaussian import gaussian
from colabel.errors import Problem, RemoteProtocolError
from colabel.learning.models.network import ModelPlan, Network
from colabel.learning.prototypes import (
    Distance,
    Sets,
    Table,
    chosen,
    class_means,
    dense,
    distances,
    joined,
    probabilities,
    sharpen,
)
from colabel.learning.pseudo_labels import embed
from colabel.learning.terms.base import Active, Shared, Term
from colabel.learning.work import Part, Step, Work
from colabel.randomness import model as randomness

OWN, STORED, HELPERS = "own prototypes", "stored prototypes", "helpers' prototypes"


class Prototypes(Term, frozen=True, kw_only=True):
    """Cross entropy of the queries + weight · cross entropy of unlabelled points [eq. 8].

    support, query: labelled points per class in an episode; unlabelled: points without a label.
    helpers: how many there are at most, chosen anew every `interval` rounds among the sites of the
    last `memory` rounds; a site may be its own helper.
    prototypes: of the support, or ("helpers") the mean of the helpers' [App. B.1].
    through_target: let the gradient flow through pseudo-labels too, as the authors' code does.
    noise: standard deviation of what is added to every number of the prototypes that leave a site
    [App. B.4]; `repeatable_noise` draws it from the seed that all know, which hides nothing.
    """

    uses_unlabelled: ClassVar[bool] = True
    linear: ClassVar[bool] = False
    predicts_by: ClassVar[tuple[str, ...]] = (STORED,)
    support: int = 1
    query: int = 2
    unlabelled: int = 100
    weight: float = 0.3
    temperature: float = 0.5
    helpers: int = 5
    interval: int = 1
    memory: int = 1
    distance: Distance = "euclidean"
    prototypes: Literal["support", "helpers"] = "support"
    through_target: bool = False
    noise: float = 0.0
    repeatable_noise: bool = False

    def problems(self) -> list[Problem]:
        """Settings that mean nothing."""
        least = {"support": 1, "query": 1, "unlabelled": 0, "helpers": 0, "interval": 1}
        found = [
            Problem(f"prototypes have {name} {getattr(self, name)}", f"Give {low} or more.")
            for name, low in {**least, "memory": 1, "weight": 0, "noise": 0}.items()
            if getattr(self, name) < low
        ]
        if self.temperature <= 0:
            found.append(Problem("the temperature of prototypes is not above 0", "Give 0.5."))
        return found

    def start(self, work: Work) -> Active:
        """Begin a round."""
        return _Prototypes(self, work)

    def releases(self) -> tuple[Release, ...]:
        """Prototypes go to the server, and in the next rounds to the sites."""
        how = "in clear"
        if self.noise:
            how = f"noise of standard deviation {self.noise:g} added, without accounting"
            how += ", from a seed that all know" if self.repeatable_noise else ""
        what = "each site's prototypes: mean embeddings of its labelled points by class"
        return Release(what, "server", how), Release(what, "each site", how)

    def send(self, kept: Shared, site: str) -> Shared:
        """The helpers' prototypes, the same to every site."""
        return {HELPERS: kept[HELPERS]} if HELPERS in kept else {}

    def keep_each(self, kept: Shared, returned: Mapping[str, Shared]) -> Shared:
        """Store what came for `memory` rounds; from time to time choose helpers among it."""
        stored = kept.get(STORED)
        turn = 0 if stored is None else int(stored["turn"][0]) + 1
        first = 0 if stored is None else int(stored["owners"].max()) + 1
        tables: list[Table] = []
        for place, (site, held) in enumerate(returned.items()):
            like = stored or (tables[0] if tables else None)
            own = _checked(site, held.get(OWN, {}), like)
            tables.append(_owned(own, first + place, turn))
        if stored is not None:
            old = {name: held for name, held in stored.items() if name != "turn"}
            tables.insert(0, chosen(old, old["rounds"] > turn - self.memory))
        table = joined(tables)
        if not len(table["owners"]):  # nobody has a label
            return kept
        fresh = {**kept, STORED: {**table, "turn": np.array([turn])}}
        if turn % self.interval == 0:
            fresh[HELPERS] = self._choose(table, turn)
        return fresh

    def _choose(self, table: Table, turn: int) -> Table:
        owners = np.unique(table["owners"])
        drawn = randomness(turn, "helpers").permutation(owners)[: self.helpers]
        found = chosen(table, np.isin(table["owners"], drawn))
        return {name: found[name] for name in ("vectors", "classes", "owners")}

    def predict(
        self, network: Network, points: Tensor, model: ModelPlan, kept: Shared
    ) -> Tensor | None:
        """By the prototypes of the sites that took part last; nothing is known without any."""
        if STORED not in kept:
            return torch.zeros(len(points), model.n_classes)
        table = {name: held for name, held in kept[STORED].items() if name != "turn"}
        latest = chosen(table, table["rounds"] == table["rounds"].max())
        embeddings = embed(network, points, model)
        return probabilities(embeddings, dense(latest, model.n_classes), self.distance)


class Episode(Step):
    """A step whose first labelled points are the support, the others the query."""

    def __init__(self, work: Work, labelled: Part, unlabelled: Part, n_support: int) -> None:
        super().__init__(work, labelled, unlabelled)
        self.n_support = n_support


class _Prototypes(Active):
    def __init__(self, term: Prototypes, work: Work) -> None:
        self.term, self.work = term, work
        self.n_classes = work.model.n_classes
        helpers = work.shared.get(HELPERS)
        found = None if helpers is None else dense(helpers, self.n_classes)
        self.helpers: Sets | None = found
        self.by_helpers = term.prototypes == "helpers" and found is not None

    def own_steps(self) -> Iterator[Step]:
        """A local epoch is one episode."""
        plan, rows = self.work.plan, torch.arange(len(self.work.points))
        labels, is_labelled = self.work.targets.labels, self.work.labelled
        classes = [rows[is_labelled & (labels == c)] for c in range(self.n_classes)]
        others = rows[~is_labelled]
        n_others = self.term.unlabelled if self.helpers is not None else 0
        for _ in range(plan.steps or plan.epochs):
            dealt = [self._deal(self.work.shuffled(own)) for own in classes]
            support = torch.cat([first for first, _ in dealt])
            query = torch.cat([second for _, second in dealt])
            labelled = self.work.part(torch.cat([support, query]))
            unlabelled = self.work.part(self.work.shuffled(others)[:n_others])
            yield Episode(self.work, labelled, unlabelled, len(support))

    def _deal(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """S and Q of a class; of few points one at least is asked about, if there are two."""
        wanted = 0 if self.by_helpers else self.term.support
        n = min(wanted, max(len(rows) - 1, 1))
        return rows[:n], rows[n : n + self.term.query]

    def loss(self, step: Step) -> Tensor | None:
        if not isinstance(step, Episode) or not len(step.labelled) + len(step.unlabelled):
            return None
        embeddings = self.work.network.features(step.view)
        sizes = [step.n_support, len(step.labelled) - step.n_support, len(step.unlabelled)]
        support, query, unlabelled = torch.split(embeddings, sizes)
        labels = step.labelled.labels
        own, known = self._own(support, labels[: step.n_support])
        total = torch.zeros(())
        asked = labels[step.n_support :]
        there = known[asked]
        if bool(there.any()):
            answers = self._answers(query[there], own, known)
            total = total + functional.nll_loss(answers, asked[there])
        if len(unlabelled) and self.helpers is not None:
            target = self._pseudo_labels(unlabelled, self.helpers)
            answers = self._answers(unlabelled, own, known)
            total = total - self.term.weight * (target * answers).sum(dim=1).mean()
        return total

    def _own(self, support: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The site's prototypes; of a class that it lacks, the mean of the helpers'."""
        own, known = class_means(support, labels, self.n_classes)
        if self.helpers is None:
            return own, known
        mean = self.helpers.vectors.mean(dim=0)
        return torch.where(known[:, None], own, mean), known | self.helpers.known

    def _answers(self, points: Tensor, own: Tensor, known: Tensor) -> Tensor:
        """log p_{i,i} [eq. 6], 0 for classes that nobody knows (nothing asks for them)."""
        far = distances(points, own[known], self.term.distance)
        found = points.new_zeros(len(points), self.n_classes)
        return found.index_copy(1, known.nonzero()[:, 0], (-far).log_softmax(dim=1))

    def _pseudo_labels(self, points: Tensor, helpers: Sets) -> Tensor:
        """p̄ of eq. 5; a target, so no gradient flows through it (but in the authors' code)."""
        points = points if self.term.through_target else points.detach()
        guessed = probabilities(points, helpers, self.term.distance)
        return sharpen(guessed, self.term.temperature)

    def finish(self) -> None:
        """Prototypes of all labelled points by the trained model [§4.4], with noise if wished."""
        work, rows = self.work, self.work.labelled
        embeddings = embed(work.network, work.points[rows], work.model)
        labels = work.targets.labels[rows]
        if not len(labels):
            embeddings = torch.empty(0, work.network.width)
        own, known = class_means(embeddings, labels, self.n_classes)
        vectors = own[known].numpy()
        if self.term.noise:
            vectors = vectors + self._noise(vectors.size).reshape(vectors.shape)
        classes = known.nonzero()[:, 0].numpy()
        work.returned[OWN] = {"vectors": vectors.astype(np.float32), "classes": classes}

    def _noise(self, n: int) -> np.ndarray:
        if self.term.repeatable_noise:
            return self.term.noise * torch.randn(n, generator=self.work.generator).numpy()
        return gaussian(n, self.term.noise)


def _checked(site: str, own: Table, like: Table | None) -> Table:
    """What a site sent, refused if it is no table of prototypes (as wide as another)."""
    vectors, classes = own.get("vectors", np.empty(0)), own.get("classes", np.empty(0))
    good = vectors.ndim == 2 and classes.ndim == 1 and len(vectors) == len(classes)
    good = good and classes.dtype.kind == "i" and len(np.unique(classes)) == len(classes)
    good = good and (like is None or vectors.shape[1] == like["vectors"].shape[1])
    if not (good and np.isfinite(vectors).all() and (classes >= 0).all()):
        raise RemoteProtocolError(
            "not a table of prototypes",
            site=site,
            step="train",
            expected="one finite row for each class",
            got=f"rows {vectors.shape}, classes {classes.shape}",
        )
    return {"vectors": vectors, "classes": classes}


def _owned(own: Table, owner: int, turn: int) -> Table:
    n = len(own["classes"])
    return {**own, "owners": np.full(n, owner), "rounds": np.full(n, turn)}
