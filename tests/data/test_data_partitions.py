import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colabel import randomness
from colabel.data import (
    PARTITION_SPECS,
    ClassesPerSite,
    ClassRatios,
    Dirichlet,
    Iid,
    Natural,
    Partition,
    QuantitySkew,
    deal_separately,
    parse_partition,
)
from colabel.data.partitions import class_ratios
from colabel.data.partitions.fitting import fit_table
from colabel.errors import InputError

ALL: list[Partition] = [
    Iid(),
    Iid(stratified=True),
    Dirichlet(0.5),
    Dirichlet(0.1, equal_sizes=True),
    ClassesPerSite(2),
    ClassesPerSite(5, contiguous=True),
    ClassRatios(),
    QuantitySkew(0.5),
    Natural(),
]
LABELS = np.arange(1000) % 10
GROUPS = np.array([f"g{i}" for i in (np.arange(1000) ** 2 % 37)])


def deal(partition: Partition, n_sites: int = 8, seed: int = 0) -> np.ndarray:
    return partition.deal(LABELS, n_sites, randomness.data(seed, "test"), GROUPS)


@pytest.mark.parametrize("partition", ALL, ids=lambda p: p.spec)
def test_every_partition_keeps_the_contract(partition: Partition) -> None:
    sites = deal(partition)
    assert sites.shape == LABELS.shape
    assert sites.dtype == np.int64
    assert np.unique(sites).tolist() == list(range(8))
    np.testing.assert_array_equal(sites, deal(partition))
    assert (sites != deal(partition, seed=1)).any()
    assert parse_partition(partition.spec) == partition


@pytest.mark.parametrize("partition", ALL, ids=lambda p: p.spec)
def test_every_partition_refuses_too_few_rows(partition: Partition) -> None:
    with pytest.raises(InputError, match="1000 rows cannot fill 1001 sites"):
        deal(partition, 1001)
    with pytest.raises(InputError, match="0 sites were asked for"):
        deal(partition, 0)


@settings(deadline=None, max_examples=150)
@given(
    data=st.data(),
    labels=st.lists(st.integers(0, 6), min_size=1, max_size=120),
    n_sites=st.integers(1, 12),
    seed=st.integers(0, 9),
)
def test_rows_are_dealt_once_or_the_deal_is_refused(
    data: st.DataObject, labels: list[int], n_sites: int, seed: int
) -> None:
    partition = data.draw(st.sampled_from(ALL))
    y = np.array(labels)
    groups = np.array([f"g{i % 15}" for i in range(len(y))])
    try:
        sites = partition.deal(y, n_sites, randomness.data(seed, "test"), groups)
    except InputError:
        return
    sizes = np.bincount(sites, minlength=n_sites)
    assert len(sizes) == n_sites
    assert sizes.sum() == len(y)
    assert sizes.min() >= 1


@pytest.mark.parametrize("partition", [Iid(), Iid(True), Dirichlet(0.1, True), ClassRatios()])
def test_equal_sizes(partition: Partition) -> None:
    assert np.bincount(deal(partition, 10)).tolist() == [100] * 10
    assert np.ptp(np.bincount(deal(partition, 7))) == 1


def table(sites: np.ndarray) -> np.ndarray:
    return np.stack([np.bincount(LABELS[sites == s], minlength=10) for s in range(sites.max() + 1)])


def test_stratified_iid_gives_every_site_the_same_classes() -> None:
    assert (table(deal(Iid(stratified=True), 10)) == 10).all()


def test_dirichlet_is_the_more_skewed_the_smaller_beta() -> None:
    def largest_share(partition: Partition) -> float:
        counts = table(deal(partition, 10))
        return float((counts.max(axis=1) / counts.sum(axis=1)).mean())

    for equal in (False, True):
        mild, strong = Dirichlet(100, equal), Dirichlet(0.1, equal)
        assert largest_share(mild) < 0.2 < 0.5 < largest_share(strong)


def test_dirichlet_draws_again_before_it_gives_up() -> None:
    assert len(np.unique(deal(Dirichlet(0.1), 10))) == 10
    with pytest.raises(InputError, match=r"sites would have no row. Use a larger β"):
        deal(Dirichlet(0.001), 50)


@pytest.mark.parametrize("contiguous", [False, True])
def test_classes_per_site(contiguous: bool) -> None:
    held = table(deal(ClassesPerSite(2, contiguous), 10)) > 0
    assert (held.sum(axis=1) == 2).all()
    assert (held.sum(axis=0) == 2).all()
    if contiguous:
        assert all(held[s, s] and held[s, (s + 1) % 10] for s in range(10))


def test_classes_per_site_says_what_cannot_be() -> None:
    with pytest.raises(InputError, match="4 sites with 2 classes each cannot hold 10 classes"):
        deal(ClassesPerSite(2), 4)
    with pytest.raises(InputError, match="the data have 10 classes, not 11"):
        deal(ClassesPerSite(11))


def test_class_ratios_of_ten_classes() -> None:
    counts = table(deal(ClassRatios(), 10))
    assert counts[0].tolist() == [50, 15, 3, 3, 3, 2, 3, 3, 3, 15]
    assert counts[1].tolist() == [15, 50, 15, 3, 3, 3, 2, 3, 3, 3]
    assert counts[9].tolist() == [15, 3, 3, 3, 2, 3, 3, 3, 15, 50]


@pytest.mark.parametrize("n_classes", range(1, 15))
def test_class_ratios_are_mixtures(n_classes: int) -> None:
    ratios = class_ratios(n_classes)
    np.testing.assert_allclose(ratios.sum(axis=1), 1)
    assert (ratios.argmax(axis=1) == np.arange(n_classes)).all()


def test_quantity_skew_has_different_sizes() -> None:
    sizes = np.bincount(deal(QuantitySkew(0.3), 10))
    assert sizes.max() > 4 * np.median(sizes)


def test_natural_keeps_groups_whole() -> None:
    names = np.unique(GROUPS)
    own = deal(Natural(), len(names))
    assert (names[own] == GROUPS).all()
    few = deal(Natural(), 4)
    assert all(len(np.unique(few[name == GROUPS])) == 1 for name in names)
    assert np.ptp(np.bincount(few)) < 100
    with pytest.raises(InputError, match=f"there are {len(names)} natural sites, not 90"):
        deal(Natural(), 90)
    with pytest.raises(InputError, match="the data have no natural sites"):
        Natural().deal(LABELS, 3, randomness.data(0, "test"))


@pytest.mark.parametrize("partition", [Dirichlet(1), ClassesPerSite(2), ClassRatios(), Iid(True)])
def test_dealing_by_class_needs_classes(partition: Partition) -> None:
    with pytest.raises(InputError, match="1 rows have no label"):
        partition.deal(np.array([0, -1, 1]), 2, randomness.data(0, "test"))


def test_labelled_and_unlabelled_rows_dealt_separately() -> None:
    mask = np.zeros(1000, bool)
    mask[:200] = True
    rng = randomness.data(0, "test")
    sites = deal_separately(
        ClassesPerSite(2), Iid(True), mask, LABELS, 20, rng, n_labelled_sites=10
    )
    labelled = np.stack([np.bincount(LABELS[(sites == s) & mask], minlength=10) for s in range(20)])
    unlabelled = np.stack(
        [np.bincount(LABELS[(sites == s) & ~mask], minlength=10) for s in range(20)]
    )
    assert sorted((labelled > 0).sum(axis=1).tolist()) == [0] * 10 + [2] * 10
    assert (unlabelled == 4).all()
    with pytest.raises(InputError, match="21 of 20 sites cannot have labels"):
        deal_separately(Iid(), Iid(), mask, LABELS, 20, rng, n_labelled_sites=21)


@given(
    n_sites=st.integers(1, 9),
    n_classes=st.integers(1, 9),
    seed=st.integers(0, 99),
    beta=st.sampled_from([0.01, 0.3, 5.0]),
)
@settings(deadline=None)
def test_fitted_tables_have_their_margins(
    n_sites: int, n_classes: int, seed: int, beta: float
) -> None:
    rng = np.random.default_rng(seed)
    mixtures = rng.dirichlet(np.full(n_classes, beta), size=n_sites)
    columns = rng.integers(1, 50, n_classes)
    rows = np.bincount(rng.integers(0, n_sites, int(columns.sum())), minlength=n_sites)
    rows += 1
    columns[0] += n_sites
    fitted = fit_table(mixtures, rows, columns)
    assert (fitted >= 0).all()
    assert (fitted.sum(axis=1) == rows).all()
    assert (fitted.sum(axis=0) == columns).all()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dirichlett:1", "Did you mean 'dirichlet'?"),
        ("dirichlet", "Write dirichlet:β"),
        ("dirichlet:x", "Write dirichlet:β"),
        ("dirichlet:0", "Give a number above 0"),
        ("dirichlet:nan", "Give a number above 0"),
        ("dirichlet:1:equals", "Write dirichlet:β"),
        ("iid:3", r"Write iid\[:stratified\]"),
        ("ratios:2", "Write ratios"),
        ("classes:0", "at least one class"),
        ("quantity:1:equal", "Write quantity:β"),
        ("quantity:0", "Give a number above 0"),
    ],
)
def test_bad_specs(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_partition(spec)


def test_all_specs_are_listed() -> None:
    def name(spec: str) -> str:
        return spec.replace("[", ":").split(":")[0]

    assert {name(p.spec) for p in ALL} == {name(spec) for spec in PARTITION_SPECS}
