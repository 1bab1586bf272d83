"""Training with the server's own labelled points."""

import numpy as np
import torch
from numpy.typing import NDArray

from colabel.learning import local, pseudo_labels
from colabel.learning.models import ModelPlan, make
from colabel.learning.parameters import Parameters, read, write
from colabel.learning.plan import ServerPlan
from colabel.learning.terms import CrossEntropy
from colabel.learning.work import Progress, Work, as_tensor, generator
from colabel.randomness import model as randomness


class ServerWork:
    """Holds the server's points, all of them labelled, and trains a model on them for a round."""

    def __init__(
        self,
        plan: ServerPlan,
        model: ModelPlan,
        points: NDArray[np.generic],
        labels: NDArray[np.int64],
        seed: int = 0,
    ) -> None:
        self.plan, self.model, self.network, self.seed = plan, model, make(model), seed
        self.points = as_tensor(points)
        self.labels = as_tensor(np.asarray(labels, dtype=np.int64))

    def __call__(self, parameters: Parameters, number: int) -> Parameters:
        """The model after round `number` of the whole run."""
        write(self.network, parameters)
        batch = min(self.plan.local.labelled_batch, len(self.labels))
        seed = int(randomness(self.seed, f"round {number} at the server").integers(2**62))
        work = Work(
            network=self.network,
            model=self.model,
            plan=self.plan.local,
            points=self.points,
            targets=pseudo_labels.only_truth(self.labels),
            labelled=torch.ones(len(self.labels), dtype=torch.bool),
            batch=batch,
            rate=self.plan.local.optimiser.rate_at(batch, number),
            progress=Progress(number, number + 1),
            generator=generator(seed),
        )
        local.update(work, (CrossEntropy(),))
        return read(self.network)
