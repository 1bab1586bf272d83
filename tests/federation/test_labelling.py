"""The conversation against Algorithm 1 written down the slow way."""

import numpy as np
import pytest

from colabel.data.site import Site, Sites
from colabel.federation.plan import LabellingPlan
from colabel.graph.codes import codes, hyperplanes
from colabel.jobs.label import label, label_alone, label_new, label_pooled
from consortia import make_sites

SEED = bytes(range(32))


PAPER = {
    "hamming": "clear",
    "n_neighbors": 5,
    "alpha": 0.95,
    "features": "identity",
    "equalise": False,
    "sharpness": 1.0,
    "density_correction": False,
    "confidence": "entropy",
    "n_bits": 512,
    "seed": SEED,
}


def plan_for(sites, **settings):
    """The paper's algorithm, on small codes."""
    return LabellingPlan(n_classes=len(sites.classes), **(PAPER | settings))


def algorithm_1(sites, plan, exponent=None):
    """[XCLP Alg. 1] in one place, with a dense inverse and loops."""
    points = np.concatenate([site.points for site in sites.sites]).astype(float)
    labels = np.concatenate([site.labels for site in sites.sites])
    n = len(points)
    planes = hyperplanes(SEED, plan.n_bits, points.shape[1])
    bits = np.unpackbits(codes(points, planes), axis=1)[:, : plan.n_bits].astype(int)
    distances = np.abs(bits[:, None] - bits[None]).sum(-1)
    similar = np.cos(np.pi * distances / plan.n_bits)
    order = session_order(sites)
    nearest = np.zeros((n, n))
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: (distances[i, j], order[j]))
        for j in others[: plan.n_neighbors]:
            nearest[i, j] = max(similar[i, j], 0) ** plan.sharpness
    weights = nearest + nearest.T
    if plan.density_correction:
        weights = weights / np.outer(weights.sum(axis=1), weights.sum(axis=1))
    degrees = weights.sum(axis=1)
    normalised = weights / np.sqrt(np.outer(degrees, degrees))
    influence = np.linalg.inv(np.eye(n) - plan.alpha * normalised)
    one_hot = (labels[:, None] == np.arange(plan.n_classes)).astype(float)
    if plan.class_weighting == "balanced":
        one_hot /= np.maximum(one_hot.sum(axis=0), 1)
    scores = influence @ one_hot
    shares = scores / scores.sum(axis=1, keepdims=True)
    predicted = shares.argmax(axis=1)
    if plan.confidence == "probability":
        prior = (labels[:, None] == np.arange(plan.n_classes)).sum(axis=0) + 1
        odds = shares**exponent * (prior if plan.class_weighting == "balanced" else 1)
        return predicted, odds[np.arange(n), predicted] / odds.sum(axis=1), shares
    entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1)
    return predicted, 1 - entropy / np.log(plan.n_classes), shares


def session_order(sites):
    """Each row's place in the session (ties go to the lower one): labelled first at each site."""
    place, start = [], 0
    for site in sites.sites:
        rank = np.empty(len(site), int)
        rank[np.argsort(~site.labelled, kind="stable")] = start + np.arange(len(site))
        place.append(rank)
        start += len(site)
    return np.concatenate(place)


def joined(outcome, field):
    return np.concatenate([getattr(own, field) for own in outcome.own.values()])


@pytest.mark.parametrize(
    "settings",
    [
        {"class_weighting": "none"},
        {"class_weighting": "balanced"},
        {"sharpness": 4.0, "density_correction": True, "confidence": "probability"},
        {"sharpness": 3.0},
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_every_site_gets_what_algorithm_1_gives(settings, seed):
    sites = make_sites(seed=seed)
    plan = plan_for(sites, keep_labels=False, **settings)
    outcome = label(sites, plan)
    labels, confidence, shares = algorithm_1(sites, plan, outcome.labelled.exponent)
    np.testing.assert_array_equal(joined(outcome, "labels"), labels)
    np.testing.assert_allclose(joined(outcome, "confidence"), confidence, atol=1e-5)
    np.testing.assert_allclose(joined(outcome, "distributions"), shares, atol=1e-5)


def test_given_labels_are_kept_and_the_others_are_the_same(sites):
    kept = label(sites, plan_for(sites))
    anew = label(sites, plan_for(sites, keep_labels=False))
    for site in sites.sites:
        own, other = kept.own[site.name], anew.own[site.name]
        assert (own.labels[site.labelled] == site.labels[site.labelled]).all()
        assert (own.confidence[site.labelled] == 1).all()
        hidden = ~site.labelled
        np.testing.assert_allclose(
            own.distributions[hidden], other.distributions[hidden], atol=1e-5
        )


def test_how_rows_are_dealt_to_sites_does_not_matter(sites):
    plan = plan_for(sites, n_bits=65_535)  # long codes have no ties, which go by order
    across, pooled = label(sites, plan), label_pooled(sites, plan)
    for name in sites.names:
        np.testing.assert_allclose(
            across.own[name].distributions, pooled.own[name].distributions, atol=1e-5
        )


def test_the_secret_seed_changes_codes_but_hardly_labels(sites):
    first = joined(label(sites, plan_for(sites, seed=None, n_bits=4096)), "labels")
    second = joined(label(sites, plan_for(sites, seed=None, n_bits=4096)), "labels")
    assert (first == second).mean() > 0.9


@pytest.mark.parametrize("features", ["centred", "standardised", "scaled"])
def test_shared_features_equal_preprocessing_the_pool(sites, features):
    from colabel.features import build, by_name, moments

    pool = np.concatenate([site.points for site in sites.sites])
    shared = build(features, moments(pool, by_name(features).order))
    ready = Sites(
        tuple(Site(s.name, shared.transform(s.points), s.labels) for s in sites.sites),
        sites.classes,
    )
    got = label(sites, plan_for(sites, features=features))
    want = label(ready, plan_for(sites))
    np.testing.assert_allclose(
        joined(got, "distributions"), joined(want, "distributions"), atol=2e-4
    )


def test_class_weighting_is_alive():
    """With 20 labels of one class and 2 of the other, plain counts drown the small class."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [150, 50])
    points = rng.standard_normal((200, 5)) + truth[:, None] * 1.0
    labels = np.full(200, -1)
    labels[:40], labels[150:154] = 0, 1
    sites = Sites(
        (Site("a", points[::2], labels[::2]), Site("b", points[1::2], labels[1::2])), ("0", "1")
    )
    found = {}
    for weighting in ("balanced", "none"):
        outcome = label(sites, plan_for(sites, class_weighting=weighting, n_bits=2048))
        predicted = np.empty(200, int)
        predicted[::2], predicted[1::2] = outcome.own["a"].labels, outcome.own["b"].labels
        found[weighting] = (predicted[154:] == 1).mean()
    assert found["balanced"] > found["none"] + 0.2


def test_unknown_class_count_is_refused_by_the_site(sites):
    from colabel.errors import RemoteProtocolError

    with pytest.raises(RemoteProtocolError, match="too few classes"):
        label(sites, LabellingPlan(n_classes=1, seed=SEED))


def test_zero_points_get_no_label_and_give_none_away():
    sites = make_sites(2, 12)
    points = sites.sites[0].points.copy()
    points[[0, 9, 10]] = 0.0  # row 0 is labelled
    first = Site("site-0", points, sites.sites[0].labels)
    outcome = label(Sites((first, sites.sites[1]), sites.classes), plan_for(sites))
    own = outcome.own["site-0"]
    assert own.labels[[9, 10]].tolist() == [-1, -1]
    assert own.confidence[[9, 10]].tolist() == [0.0, 0.0]
    assert own.labels[0] == first.labels[0]


def test_a_point_that_no_label_reaches_is_minus_one():
    rng = np.random.default_rng(0)
    near = rng.standard_normal((20, 3)) * 0.05 + [1, 0, 0]
    far = rng.standard_normal((20, 3)) * 0.05 - [1, 0, 0]
    labels = np.where(np.arange(20) < 3, 0, -1)
    sites = Sites((Site("near", near, labels), Site("far", far, np.full(20, -1))), ("only",))
    outcome = label(sites, plan_for(sites))
    assert set(outcome.own["far"].labels) == {-1}
    assert not outcome.own["far"].distributions.any()
    assert set(outcome.own["near"].labels) == {0}


def test_alone_uses_nothing_of_the_others(sites):
    plan = plan_for(sites)
    alone = label_alone(sites, plan)
    single = label(Sites((sites.sites[1],), sites.classes), plan)
    name = sites.names[1]
    np.testing.assert_array_equal(alone.own[name].labels, single.own[name].labels)
    assert len(alone.ledger) == 0


def test_a_site_without_labels_alone_has_no_labels():
    sites = make_sites(2, 10, n_labels=0)
    assert set(joined(label_alone(sites, plan_for(sites)), "labels")) == {-1}


def test_new_points_get_one_step_from_their_neighbours(sites):
    """A new point that equals an old one has that point's nearest neighbours."""
    plan = plan_for(sites)
    fitted = label(sites, plan)
    rng = np.random.default_rng(5)
    fresh = Site(
        "new", sites.sites[0].points + 1e-9 * rng.standard_normal((30, 6)), np.full(30, -1)
    )
    new = label_new(sites, Sites((fresh,), sites.classes), fitted.labelled, plan)
    hidden = ~sites.sites[0].labelled
    old = fitted.own[sites.names[0]].labels
    assert (new.own["new"].labels[hidden] == old[hidden]).mean() > 0.9
    one_by_one = [
        label_new(
            sites,
            Sites((Site("new", fresh.points[[i]], fresh.labels[[i]]),), sites.classes),
            fitted.labelled,
            plan,
        )
        .own["new"]
        .distributions[0]
        for i in range(3)
    ]
    np.testing.assert_allclose(one_by_one, new.own["new"].distributions[:3], atol=1e-5)


def test_measured_bytes_are_the_computed_ones(sites):
    from colabel.protocols.hamming import by_name

    outcome = label(sites, plan_for(sites))
    promised = by_name("clear").cost(outcome.labelled.group, 512)
    measured = [e for e in outcome.costs.exchanges if e.step == "codes"]
    assert sum(e.bytes_up for e in measured) == promised.bytes_up
    assert sum(e.bytes_down for e in measured) == promised.bytes_down


def test_confidence_is_a_probability():
    sites = make_sites(5, 300, n_classes=5, n_labels=12, separation=0.9)
    truth_sites = make_sites(5, 300, n_classes=5, n_labels=300, separation=0.9)
    plan = LabellingPlan(n_classes=5, hamming="clear", seed=SEED)
    outcome = label(sites, plan)
    truth = np.concatenate([site.labels for site in truth_sites.sites])
    hidden = np.concatenate([~site.labelled for site in sites.sites])
    sure = joined(outcome, "confidence")[hidden]
    right = (joined(outcome, "labels") == truth)[hidden]
    assert outcome.labelled.exponent != 1.0
    assert abs(sure.mean() - right.mean()) < 0.05
    high, low = sure > np.median(sure), sure <= np.median(sure)
    assert right[high].mean() > right[low].mean() + 0.1
    assert abs(sure[high].mean() - right[high].mean()) < 0.08
