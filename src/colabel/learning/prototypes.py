"""Prototypes: one vector per class, and what their distances say of a point [ProtoFSSL §3.2, §4].

A site that has no labelled point of a class has no prototype of it. Sets of prototypes travel as
tables of (vector, class, owner), so that nothing stands for what is missing.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Distance = Literal["euclidean", "mean_square"]
Table = dict[str, NDArray[Any]]


class Sets(NamedTuple):
    """Prototypes of several owners: vectors (owner, class, column); `known`: which classes any of
    them has. What an owner lacks is filled with the mean of those that have it.
    """

    vectors: Tensor
    known: Tensor


def class_means(embeddings: Tensor, labels: Tensor, n_classes: int) -> tuple[Tensor, Tensor]:
    """c_k = 1/|S_k| Σ f(x) [eq. 2], and of which classes there are points; the others get 0."""
    member = torch.nn.functional.one_hot(labels, n_classes).to(embeddings.dtype)
    counts = member.sum(dim=0)
    return member.T @ embeddings / counts.clamp(min=1)[:, None], counts > 0


def distances(points: Tensor, prototypes: Tensor, kind: Distance) -> Tensor:
    """d of every point to every prototype: Euclidean in the paper; the authors' code takes the
    mean over the columns of the squared differences.
    """
    exact = "donot_use_mm_for_euclid_dist"  # through products, near points would be far apart
    found: Tensor = torch.cdist(points, prototypes, compute_mode=exact)
    return found if kind == "euclidean" else found.square() / prototypes.shape[-1]


def probabilities(points: Tensor, sets: Sets, kind: Distance) -> Tensor:
    """p_k: the softmax of −d for every owner [eq. 6], averaged over them [eq. 7].

    A class that nobody knows has probability 0.
    """
    n_sets, n_classes, width = sets.vectors.shape
    known = sets.vectors[:, sets.known].reshape(-1, width)
    far = distances(points, known, kind).reshape(len(points), n_sets, -1)
    found = points.new_zeros(len(points), n_classes)
    return found.index_copy(1, sets.known.nonzero()[:, 0], (-far).softmax(dim=2).mean(dim=1))


def sharpen(probabilities: Tensor, temperature: float) -> Tensor:
    """p_k^(1/T) / Σ p^(1/T) [eq. 5]."""
    powers = probabilities ** (1.0 / temperature)
    return powers / powers.sum(dim=1, keepdim=True)


def dense(table: Mapping[str, NDArray[Any]], n_classes: int) -> Sets:
    """A table of prototypes as `Sets`."""
    owners, place = np.unique(table["owners"], return_inverse=True)
    width = table["vectors"].shape[1]
    vectors = np.zeros((len(owners), n_classes, width), dtype=np.float32)
    has = np.zeros((len(owners), n_classes), dtype=bool)
    vectors[place, table["classes"]] = table["vectors"]
    has[place, table["classes"]] = True
    mean = vectors.sum(axis=0) / np.maximum(has.sum(axis=0), 1)[:, None]
    filled = np.where(has[:, :, None], vectors, mean).astype(np.float32)
    return Sets(torch.from_numpy(filled), torch.from_numpy(has.any(axis=0)))


def joined(tables: list[Table]) -> Table:
    """The rows of several tables with the same columns."""
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def chosen(table: Mapping[str, NDArray[Any]], rows: NDArray[np.bool_]) -> Table:
    """Some rows of a table."""
    return {name: column[rows] for name, column in table.items()}
