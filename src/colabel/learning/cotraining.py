"""A network as a learner: it goes on from its last state with every turn [FedCT Alg. 1, line 3].

Every step takes a batch of the site's own points and one of the public points that have a label,
of equal size, and the mean cross entropy of both together. Points without a label are left out.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from colabel.cotrain.learners import Examples, Labels, Learner, Points, Shares
from colabel.learning.augment import weaken
from colabel.learning.local import optimiser
from colabel.learning.models import ModelPlan, make
from colabel.learning.parameters import read, write
from colabel.learning.plan import LocalPlan
from colabel.learning.pseudo_labels import predict
from colabel.learning.threads import enough_threads
from colabel.learning.work import as_input, as_tensor
from colabel.randomness import model as model_randomness

Arrays = dict[str, NDArray[Any]]
_MOVER = "optimiser/"


class NetworkLearner(Learner):
    """plan: steps a turn (the communication period b), batch, rate, augmentation.

    `first_steps`: of the first turn, before which there are no public labels.
    """

    takes_shares = True

    def __init__(
        self, model: ModelPlan, plan: LocalPlan, seed: int, name: str, first_steps: int = 0
    ) -> None:
        self.model, self.plan, self.seed, self.name = model, plan, seed, name
        self.first_steps = first_steps or plan.steps
        self.network = make(model, seed)
        self.mover = optimiser(self.network, plan.optimiser, plan.optimiser.rate)

    def learn(self, own: Examples, public: Examples, turn: int) -> None:
        """So many steps."""
        random = model_randomness(self.seed, f"co-training turn {turn} at {self.name}")
        generator = torch.Generator().manual_seed(int(random.integers(2**62)))
        sets = [
            _Batches(part, self.plan.labelled_batch, generator)
            for part in (own, public)
            if len(part)
        ]
        if not sets:
            return
        self.network.train()
        size = self.plan.labelled_batch * len(sets)
        with torch.random.fork_rng(devices=[]), enough_threads(self.model, size):
            torch.default_generator.manual_seed(int(random.integers(2**62)))
            for _ in range(self.plan.steps if turn else self.first_steps):
                parts = [batches.draw() for batches in sets]
                self._step(parts, generator)

    def _step(self, parts: list[tuple[Tensor, Tensor]], generator: torch.Generator) -> None:
        view = as_input(torch.cat([points for points, _ in parts]), self.model)
        logits = self.network(weaken(view, self.plan.augmentation, generator))
        loss, start = logits.new_zeros(()), 0
        for points, targets in parts:  # labels, or rows of shares: cross entropy takes both
            part = logits[start : start + len(points)]
            loss = loss + cross_entropy(part, targets, reduction="sum") / len(logits)
            start += len(points)
        self.mover.zero_grad()
        loss.backward()
        self.mover.step()

    def predict(self, points: Points) -> Labels:
        """In evaluation mode; the authors' code predicts with dropout."""
        return np.asarray(self.shares(points).argmax(axis=1), dtype=np.int64)

    def shares(self, points: Points) -> Shares:
        """Softmax of the logits."""
        return np.asarray(predict(self.network, as_tensor(np.asarray(points)), self.model).numpy())

    def save(self) -> Arrays:
        """Parameters, and what the optimiser remembers of them."""
        found: Arrays = dict(read(self.network))
        if isinstance(self.mover, torch.optim.Optimizer):
            for number, held in self.mover.state_dict()["state"].items():
                for what, value in held.items():
                    plain = np.asarray(value.detach().numpy(), dtype=np.float32)
                    found[f"{_MOVER}{number}/{what}"] = plain.copy()
        return found

    def load(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from there."""
        write(self.network, {k: v for k, v in saved.items() if not k.startswith(_MOVER)})
        if not isinstance(self.mover, torch.optim.Optimizer):
            return
        state: dict[int, dict[str, Tensor]] = {}
        for place, held in saved.items():
            if place.startswith(_MOVER):
                number, what = place.removeprefix(_MOVER).split("/")
                state.setdefault(int(number), {})[what] = torch.from_numpy(np.array(held))
        groups = self.mover.state_dict()["param_groups"]
        self.mover.load_state_dict({"state": state, "param_groups": groups})


class _Batches:
    """Batches of one set, shuffled anew after every pass."""

    def __init__(self, held: Examples, size: int, generator: torch.Generator) -> None:
        self.points = as_tensor(np.asarray(held.points))
        given = held.labels if held.shares is None else held.shares
        self.targets = as_tensor(np.array(given))
        self.size, self.generator = min(size, len(held)), generator
        self._order = torch.empty(0, dtype=torch.int64)

    def draw(self) -> tuple[Tensor, Tensor]:
        """The next batch."""
        if len(self._order) < self.size:
            self._order = torch.randperm(len(self.points), generator=self.generator)
        rows, self._order = self._order[: self.size], self._order[self.size :]
        return self.points[rows], self.targets[rows]
