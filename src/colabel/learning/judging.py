"""How good a model is on points that nobody trains with."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from colabel.learning.models import ModelPlan, Network, make
from colabel.learning.parameters import Parameters, write
from colabel.learning.pseudo_labels import predict
from colabel.learning.terms.base import Shared, Term


def answer(
    network: Network, points: Tensor, model: ModelPlan, terms: Sequence[Term], kept: Shared
) -> Tensor:
    """Class probabilities as the terms have it: the first that predicts, else the model's head."""
    for term in terms:
        found = term.predict(network, points, model, kept)
        if found is not None:
            return found
    return predict(network, points, model)


class Judge:
    """Holds points and true labels, and says how well a model does on them."""

    def __init__(
        self, model: ModelPlan, points: NDArray[np.generic], labels: NDArray[np.int64]
    ) -> None:
        self.model, self.network = model, make(model)
        self.points = torch.from_numpy(np.ascontiguousarray(points))
        self.labels = np.asarray(labels)

    def __call__(
        self, parameters: Parameters, kept: Shared | None = None, terms: Sequence[Term] = ()
    ) -> dict[str, float]:
        """Accuracy, and the mean over classes of each one's.

        kept, terms: what the server keeps for the terms, and the terms, if a model is more than
        its parameters. A point of which nothing is known is wrong.
        """
        write(self.network, parameters)
        found = answer(self.network, self.points, self.model, terms, kept or {})
        chosen = torch.where(found.amax(dim=1) > 0, found.argmax(dim=1), -1).numpy()
        right = chosen == self.labels
        by_class = [right[self.labels == c].mean() for c in np.unique(self.labels)]
        return {"accuracy": float(right.mean()), "balanced_accuracy": float(np.mean(by_class))}
