"""How good a model is on points that nobody trains with."""

import numpy as np
import torch
from numpy.typing import NDArray

from colabel.learning.models import ModelPlan, make
from colabel.learning.parameters import Parameters, write
from colabel.learning.pseudo_labels import predict


class Judge:
    """Holds points and true labels, and says how well a model does on them."""

    def __init__(
        self, model: ModelPlan, points: NDArray[np.generic], labels: NDArray[np.int64]
    ) -> None:
        self.model, self.network = model, make(model)
        self.points = torch.from_numpy(np.ascontiguousarray(points))
        self.labels = np.asarray(labels)

    def __call__(self, parameters: Parameters) -> dict[str, float]:
        """Accuracy, and the mean over classes of each one's."""
        write(self.network, parameters)
        chosen = predict(self.network, self.points, self.model).argmax(dim=1).numpy()
        right = chosen == self.labels
        by_class = [right[self.labels == c].mean() for c in np.unique(self.labels)]
        return {"accuracy": float(right.mean()), "balanced_accuracy": float(np.mean(by_class))}
