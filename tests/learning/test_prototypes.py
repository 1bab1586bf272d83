"""The formulas of ProtoFSSL against NumPy, by hand."""

import numpy as np
import pytest
import torch

from colabel.learning.prototypes import class_means, dense, distances, probabilities, sharpen

RNG = np.random.default_rng(0)


def softmax(rows):
    shifted = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def far(points, prototypes, kind):
    squares = (points[:, None] - prototypes[None]) ** 2
    return np.sqrt(squares.sum(axis=2)) if kind == "euclidean" else squares.mean(axis=2)


def table(*owners):
    """A table of prototypes from one {class: vector} for each owner."""
    rows = [(own, c, v) for own, held in enumerate(owners) for c, v in held.items()]
    return {
        "vectors": np.array([v for _, _, v in rows], dtype=np.float32),
        "classes": np.array([c for _, c, _ in rows]),
        "owners": np.array([own for own, _, _ in rows]),
    }


def test_prototypes_are_means_by_class():
    points = RNG.standard_normal((6, 4))
    labels = np.array([0, 2, 0, 2, 2, 0])
    found, known = class_means(torch.tensor(points), torch.tensor(labels), 4)
    np.testing.assert_allclose(found[0], points[[0, 2, 5]].mean(axis=0))
    np.testing.assert_allclose(found[2], points[[1, 3, 4]].mean(axis=0))
    assert known.tolist() == [True, False, True, False]


@pytest.mark.parametrize("kind", ["euclidean", "mean_square"])
def test_distances(kind):
    points, prototypes = RNG.standard_normal((5, 7)), RNG.standard_normal((3, 7))
    found = distances(torch.tensor(points), torch.tensor(prototypes), kind)
    np.testing.assert_allclose(found, far(points, prototypes, kind))


@pytest.mark.parametrize("kind", ["euclidean", "mean_square"])
def test_a_point_on_its_prototype_has_a_finite_gradient(kind):
    points = torch.ones(2, 3, requires_grad=True)
    distances(points, torch.ones(1, 3), kind).sum().backward()
    assert points.grad.isfinite().all()


@pytest.mark.parametrize("kind", ["euclidean", "mean_square"])
def test_probabilities_are_the_mean_of_the_helpers_answers(kind):
    points, vectors = RNG.standard_normal((4, 5)), RNG.standard_normal((3, 2, 5))
    sets = dense(table(*({0: v[0], 1: v[1]} for v in vectors)), 2)
    wanted = np.mean([softmax(-far(points, v, kind)) for v in vectors], axis=0)
    found = probabilities(torch.tensor(points, dtype=torch.float32), sets, kind)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_sharpening():
    p = softmax(RNG.standard_normal((4, 3)))
    wanted = p**2 / (p**2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(sharpen(torch.tensor(p), 0.5), wanted)
    assert (sharpen(torch.tensor(p), 0.1).numpy().max(axis=1) > p.max(axis=1)).all()


def test_what_a_helper_lacks_is_the_mean_of_those_that_have_it():
    vectors = RNG.standard_normal((3, 4)).astype(np.float32)
    sets = dense(table({0: vectors[0], 1: vectors[1]}, {0: vectors[2]}), 3)
    np.testing.assert_array_equal(sets.vectors[1, 1], vectors[1])
    np.testing.assert_array_equal(sets.vectors[1, 0], vectors[2])
    assert sets.known.tolist() == [True, True, False]
    found = probabilities(torch.randn(5, 4), sets, "euclidean")
    np.testing.assert_array_equal(found[:, 2], 0)
    np.testing.assert_allclose(found.sum(dim=1), 1, rtol=1e-5)


def test_the_mean_is_of_those_that_have_it_and_no_others():
    sets = dense(table({0: [1.0], 1: [4.0]}, {0: [3.0]}, {0: [5.0], 1: [6.0]}), 2)
    assert sets.vectors[1].tolist() == [[3.0], [5.0]]
