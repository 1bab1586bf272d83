"""Data of a recipe: nothing is in two places, labels are where the method wants them."""

import numpy as np
import pytest
from kitchen import a_source

from colabel.errors import InputError
from colabel.recipes.dealing import deal
from colabel.recipes.reading import recipe


def dealt(seed=0, labels_at="sites", **changes):
    return deal(recipe(a_source(**changes).cell(None)), seed, labels_at, None)


def rows(points):
    return {point.tobytes() for point in np.asarray(points, np.float64)}


def test_sizes_and_shapes_are_as_asked():
    found = dealt()
    assert [len(site) for site in found.sites.sites] == [100] * 4
    assert sum(int(site.labelled.sum()) for site in found.sites.sites) == 80
    assert len(found.validation.labels) == 100
    assert len(found.test.labels) == 200
    assert found.shape == (64,)
    for site in found.sites.sites:
        known = site.labelled
        assert (site.labels[known] == found.truth[site.name][known]).all()


def test_no_point_is_in_two_places():
    found = dealt()
    parts = [rows(site.points) for site in found.sites.sites]
    parts += [rows(found.validation.points), rows(found.test.points)]
    assert len(set.union(*parts)) == sum(len(part) for part in parts)


def test_the_same_seed_deals_the_same_and_another_not():
    one, two, other = dealt(3), dealt(3), dealt(4)
    first = [found.sites.sites[0].points for found in (one, two, other)]
    np.testing.assert_array_equal(first[0], first[1])
    assert not np.array_equal(first[0], first[2])


def test_more_labels_hide_no_other_points():
    """Validation and test points do not depend on how many labels there are."""
    few, many = dealt(), dealt(split={"labels": 200})
    np.testing.assert_array_equal(few.test.points, many.test.points)
    np.testing.assert_array_equal(few.validation.points, many.validation.points)


def test_labels_at_the_server_are_at_no_site():
    found = dealt(labels_at="server")
    assert len(found.server.labels) == 80
    assert np.bincount(found.server.labels, minlength=10).min() >= 7
    assert not any(site.labelled.any() for site in found.sites.sites)
    assert sum(len(site) for site in found.sites.sites) == 320
    assert not rows(found.server.points) & set.union(*(rows(s.points) for s in found.sites.sites))


def test_all_points_labelled():
    assert all(site.labelled.all() for site in dealt(labels_at="all").sites.sites)


def test_labels_may_be_dealt_in_another_way_than_points():
    found = dealt(split={"partition": "classes:5", "unlabelled_partition": "iid:stratified"})
    for site in found.sites.sites:
        hidden = found.truth[site.name][~site.labelled]
        assert len(np.unique(site.labels[site.labelled])) <= 5
        assert len(np.unique(hidden)) == 10


def test_some_sites_have_labels():
    found = dealt(split={"labelled_sites": 2})
    assert sorted(int(site.labelled.sum()) for site in found.sites.sites) == [0, 0, 40, 40]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data": {"points": 5000}}, "data.points is 5000, and digits has 1,497 such points here"),
        ({"data": {"test": 0}}, "data.test is 0"),
        ({"data": {"validation": 9999}}, "data.validation is 9999"),
        ({"split": {"labels_per_site": 5}}, "how many labels"),
        ({"data": {"name": "digit"}}, "Did you mean 'digits'?"),
    ],
)
def test_what_there_is_not_is_refused(changes, said):
    with pytest.raises(InputError, match=said.replace("?", r"\?")):
        dealt(**changes)
