"""What a site learns with: h ← A(D ∪ P, h) [FedCT Alg. 1, line 3].

Any object with `fit(X, y)` and `predict(X)` will do: it is made anew and fitted to all that there
is (`Fitted`). What goes on from its last state subclasses `Learner` itself, as networks do.
Labels are the numbers 0 … C − 1 here, whatever classes are called outside.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem

Points = NDArray[np.generic]
Labels = NDArray[np.int64]
Shares = NDArray[np.floating]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Examples:
    """Points, and what they are taken for: labels, or shares of all classes (soft labels)."""

    points: Points
    labels: Labels
    shares: Shares | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def nothing(cls, like: Points) -> "Examples":
        """No points, of this shape."""
        return cls(like[:0], np.empty(0, np.int64))


class Learner(ABC):
    """One site's model and how it is trained."""

    takes_shares = False  # whether it can learn from soft labels

    @abstractmethod
    def learn(self, own: Examples, public: Examples, turn: int) -> None:
        """Learn from the site's own labelled points and the public ones that have a label."""

    @abstractmethod
    def predict(self, points: Points) -> Labels:
        """Hard labels."""

    def shares(self, points: Points) -> Shares:
        """Soft labels: a row of class probabilities a point."""
        raise InputError(
            Problem(f"{type(self).__name__} has no class probabilities", "Share hard labels.")
        )

    def save(self) -> Arrays:
        """What it goes on from in the next turn; nothing, if it begins anew."""
        return {}

    def load(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `save` gave: nothing to do for who begins anew."""
        del saved


class Fitted(Learner):
    """A model with fit and predict, made anew for every turn.

    make: gives an unfitted model. Some models know no gaps between classes, or not a single
    class: so they get the classes that are there, numbered, and of one class none is made.
    """

    def __init__(self, make: Callable[[], Any], n_classes: int) -> None:
        self.make, self.n_classes = make, n_classes
        self.model: Any = None
        self._classes: Labels = np.empty(0, np.int64)

    def learn(self, own: Examples, public: Examples, turn: int) -> None:
        """Fit to D ∪ P."""
        points = np.concatenate([own.points, public.points]) if len(public) else own.points
        labels = np.concatenate([own.labels, public.labels])
        self._classes, numbers = np.unique(labels, return_inverse=True)
        if not len(labels):
            raise InputError(Problem("there is nothing to learn from", "Label some points."))
        self.model = None
        if len(self._classes) > 1:
            self.model = self.make()
            self.model.fit(points, numbers)

    def predict(self, points: Points) -> Labels:
        """By the model of this turn."""
        if not len(points):
            return np.empty(0, np.int64)
        if self.model is None:
            return np.full(len(points), self._classes[0])
        numbers = np.asarray(self.model.predict(points))
        if numbers.ndim == 2:  # some give one column a class
            numbers = numbers.argmax(axis=1)
        return self._classes[numbers.astype(np.int64)]

    def shares(self, points: Points) -> Shares:
        """If the model has probabilities; a class it has never seen has none."""
        found = np.zeros((len(points), self.n_classes))
        if self.model is None:
            found[:, self._classes[0]] = 1.0
        elif hasattr(self.model, "predict_proba"):
            found[:, self._classes] = self.model.predict_proba(points)
        else:
            return super().shares(points)
        return found
