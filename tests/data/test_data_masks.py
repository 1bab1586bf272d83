import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel import randomness
from colabel.data import LabelMask
from colabel.errors import InputError

LABELS = np.arange(1000) % 10
SITES = np.arange(1000) // 10 % 20


def choose(mask: LabelMask, seed: int = 0, labels: np.ndarray = LABELS) -> np.ndarray:
    return mask.choose(labels, randomness.data(seed, "test"), SITES[: len(labels)])


def counts(chosen: np.ndarray) -> np.ndarray:
    return np.bincount(SITES[chosen], minlength=20)


@pytest.mark.parametrize(
    "mask",
    [
        LabelMask(n_labels=100),
        LabelMask(fraction=0.1, stratified=True),
        LabelMask(labels_per_site=5),
        LabelMask(n_labels=100, n_sites_with_labels=7, every_class=True),
    ],
)
def test_counts_and_seeds(mask: LabelMask) -> None:
    chosen = choose(mask)
    assert chosen.dtype == np.bool_
    assert chosen.sum() == 100
    np.testing.assert_array_equal(chosen, choose(mask))
    assert (chosen != choose(mask, seed=1)).any()


def test_stratified() -> None:
    chosen = choose(LabelMask(n_labels=50, stratified=True))
    assert np.bincount(LABELS[chosen]).tolist() == [5] * 10


def test_stratified_at_every_site() -> None:
    chosen = choose(LabelMask(labels_per_site=10, stratified=True))
    assert (counts(chosen) == 10).all()
    assert np.bincount(LABELS[chosen]).tolist() == [20] * 10


def test_sites_with_labels() -> None:
    sizes = counts(choose(LabelMask(n_labels=52, n_sites_with_labels=5)))
    assert sorted(sizes[sizes > 0].tolist()) == [10, 10, 10, 11, 11]


def test_small_sites_give_what_they_have() -> None:
    labels = np.array([0] * 12)
    sites = np.array([0] * 2 + [1] * 10)
    rng = randomness.data(0, "test")
    chosen = LabelMask(n_labels=10, n_sites_with_labels=2).choose(labels, rng, sites)
    assert np.bincount(sites[chosen]).tolist() == [2, 8]


def test_every_class_even_if_rare_and_far() -> None:
    labels = np.zeros(1000, np.int64)
    labels[7], labels[500] = 1, 2
    for stratified in (False, True):
        mask = LabelMask(n_labels=3, every_class=True, stratified=stratified)
        assert sorted(labels[choose(mask, labels=labels)].tolist()) == [0, 1, 2]


def test_unknown_labels_are_never_shown() -> None:
    labels = np.where(np.arange(1000) < 500, -1, LABELS)
    chosen = choose(LabelMask(fraction=1.0), labels=labels)
    np.testing.assert_array_equal(chosen, labels >= 0)
    assert choose(LabelMask(fraction=1e-6), labels=labels).sum() == 1


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (LabelMask(n_labels=1001), "1001 labels were asked for, but only 1000 are known"),
        (LabelMask(labels_per_site=51), "20 sites know fewer than 51 labels. Ask for at most 50"),
        (LabelMask(n_labels=50, n_sites_with_labels=21), "only 20 sites know any"),
        (LabelMask(n_labels=4, n_sites_with_labels=5), "4 labels cannot be spread over 5 sites"),
        (LabelMask(n_labels=300, n_sites_with_labels=5), "Ask for 5 to 250 labels"),
        (LabelMask(n_labels=9, every_class=True), "9 labels at these sites cannot cover 10"),
    ],
)
def test_impossible_masks(mask: LabelMask, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose(mask)


def test_masks_that_mean_nothing() -> None:
    with pytest.raises(InputError, match="Give exactly one of"):
        LabelMask()
    with pytest.raises(InputError, match="Give exactly one of"):
        LabelMask(n_labels=3, fraction=0.1)
    with pytest.raises(InputError) as caught:
        LabelMask(fraction=1.5, n_sites_with_labels=0)
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError, match="the rows have no sites yet"):
        LabelMask(labels_per_site=1).choose(LABELS, randomness.data(0, "test"))


@settings(deadline=None, max_examples=200)
@given(
    labels=st.lists(st.integers(-1, 4), min_size=1, max_size=60),
    n_sites=st.integers(1, 6),
    n_labels=st.integers(1, 30),
    m=st.none() | st.integers(1, 6),
    stratified=st.booleans(),
    every_class=st.booleans(),
    seed=st.integers(0, 5),
)
def test_masks_obey_or_refuse(
    labels: list[int],
    n_sites: int,
    n_labels: int,
    m: int | None,
    stratified: bool,
    every_class: bool,
    seed: int,
) -> None:
    y = np.array(labels)
    sites = np.arange(len(y)) % n_sites
    mask = LabelMask(
        n_labels=n_labels, n_sites_with_labels=m, stratified=stratified, every_class=every_class
    )
    try:
        chosen = mask.choose(y, randomness.data(seed, "test"), sites)
    except InputError:
        assert m is not None or every_class or n_labels > (y >= 0).sum()
        return
    assert chosen.sum() == n_labels
    assert (y[chosen] >= 0).all()
    if m is not None:
        assert len(np.unique(sites[chosen])) == m
    if every_class:
        assert set(y[chosen]) == set(y[y >= 0])
