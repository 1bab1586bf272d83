"""The loaders on the real data sets."""

import os
from pathlib import Path

import numpy as np
import pytest

from colabel.data import (
    BENCHMARKS,
    LabelMask,
    Natural,
    apply_split,
    check_sites,
    load,
    make_split,
)

FOLDER = os.environ.get("COLABEL_DATA", "")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not FOLDER or not Path(FOLDER).is_dir(),
        reason="the real data sets are absent: set COLABEL_DATA to their folder",
    ),
]

# name -> (points' shape, test rows, natural sites, classes)
EXPECTED = {
    "adult": ((48_842, 108), 16_281, 0, 2),
    "breast_cancer": ((569, 30), 0, 0, 2),
    "cifar10": ((30_000, 32, 32, 3), 5_000, 0, 10),
    "covertype": ((581_012, 54), 0, 4, 7),
    "digits": ((1_797, 64), 0, 0, 10),
    "fashion_mnist": ((70_000, 28, 28), 10_000, 0, 10),
    "ham10000": ((10_015, 32, 32, 3), 2_012, 4, 7),
    "ham10000_features": ((10_015, 128), 2_012, 4, 7),
    "heart": ((920, 13), 0, 4, 2),
    "imdb": ((2_000,), 0, 0, 2),
    "iris": ((150, 4), 0, 0, 3),
    "mnist": ((70_000, 28, 28), 10_000, 836, 10),
    "mushroom": ((8_124, 117), 0, 0, 2),
    "wine": ((178, 13), 0, 0, 3),
    "wine_colour": ((6_497, 11), 0, 0, 2),
    "wine_quality": ((6_497, 11), 0, 2, 7),
}


# read from official files only, which are not at hand: tested on small files of the same format
ELSEWHERE = {
    "acl_imdb", "acl_imdb_unsup", "brain_mri", "brain_mri_four", "chest_xray", "cifar100",
    "fed_isic2019", "femnist", "mini_imagenet", "sentiment140", "stl10", "svhn", "svhn_extra",
    "twitter",
}  # fmt: skip


def test_all_sets_are_expected() -> None:
    assert set(EXPECTED) | ELSEWHERE == set(BENCHMARKS)


@pytest.mark.parametrize("name", EXPECTED)
def test_counts(name: str) -> None:
    shape, n_test, n_sites, n_classes = EXPECTED[name]
    found = load(name)
    assert found.points.shape == shape
    assert len(found.test_rows) == n_test
    assert len(np.unique(found.natural_sites)) == n_sites if n_sites else not found.natural_sites
    assert np.unique(found.labels).tolist() == list(range(n_classes))
    assert len(found.classes) == n_classes
    if found.columns is not None:
        assert len(found.columns) == shape[1]
    names = found.natural_sites if found.natural_sites is not None else np.full(shape[0], "all")
    sites = found.to_sites(names, rows=np.arange(shape[0]))
    assert check_sites(sites) == []


def test_natural_sites_have_the_sizes_of_the_readme() -> None:
    expected = {
        "ham10000_features": [3_954, 3_363, 2_259, 439],
        "heart": [303, 294, 200, 123],
        "wine_quality": [4_898, 1_599],
    }
    for name, sizes in expected.items():
        _, counts = np.unique(load(name).natural_sites, return_counts=True)
        assert sorted(counts.tolist(), reverse=True) == sizes


def test_mnist_writers_are_disjoint() -> None:
    found = load("mnist")
    assert found.natural_sites is not None
    train, test = (
        set(found.natural_sites[rows].tolist()) for rows in (found.train_rows, found.test_rows)
    )
    assert (len(train), len(test), len(train & test)) == (539, 297, 0)


def test_ham10000_lesions_are_disjoint() -> None:
    found = load("ham10000_features")
    lesions = found.groups["lesion"]
    assert not set(lesions[found.train_rows].tolist()) & set(lesions[found.test_rows].tolist())


def test_switzerland_has_eight_healthy_patients() -> None:
    found = load("heart")
    here = found.natural_sites == "switzerland"
    assert int((found.labels[here] == 0).sum()) == 8


def test_decoded_images_look_like_images() -> None:
    for name in ("cifar10", "ham10000"):
        points = load(name).points[::50].astype(np.int64)
        assert np.abs(np.diff(points, axis=2)).mean() < 20  # neighbours are alike
        assert 80 < points.mean() < 200


def test_split_of_four_hospitals() -> None:
    found = load("ham10000_features")
    split = make_split(
        found.name,
        found.points,
        found.labels,
        partition=Natural(),
        mask=LabelMask(fraction=0.05, every_class=True),
        n_sites=4,
        seed=0,
        rows=found.train_rows,
        groups=found.natural_sites,
    )
    sites = apply_split(split, found.points, found.labels, found.classes)
    assert sorted(sites.names) == sorted(np.unique(found.natural_sites).tolist())
    assert sum(len(site) for site in sites.sites) == 10_015 - 2_012
    assert check_sites(sites) == []
