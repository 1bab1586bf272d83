"""Labels are the same whichever way the codes were compared."""

import numpy as np
import pytest
from paillier_talk import TinyPaillier, tiny_keys
from ways import PROTECTED

from colabel import CrossClientLabelPropagation
from colabel.federation.plan import LabellingPlan
from colabel.jobs import label as job
from colabel.protocols.hamming import WAYS
from consortia import make_sites

SEED = bytes(range(32))
SITES = make_sites(n_sites=3, n_points=20)


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    tiny_keys(monkeypatch)
    weak = {**job.LABELLING.handlers, **TinyPaillier.handlers}
    monkeypatch.setattr(job, "LABELLING", job.LABELLING._replace(handlers=weak))


def by_job(way, **settings):
    plan = LabellingPlan(n_classes=3, n_bits=256, hamming=way, seed=SEED, **settings)
    return job.label(SITES, plan).own


@pytest.mark.parametrize("way", PROTECTED)
@pytest.mark.parametrize("settings", [{}, {"equalise": False, "n_neighbors": 3}])
def test_the_job(way, settings):
    clear, found = by_job("clear", **settings), by_job(way, **settings)
    for name in SITES.names:
        np.testing.assert_array_equal(found[name].labels, clear[name].labels)
        # masked sums are fixed point: rounded, but nothing more
        np.testing.assert_allclose(found[name].confidence, clear[name].confidence, atol=1e-6)


def by_estimator(way):
    X = np.concatenate([site.points for site in SITES.sites])
    y = np.concatenate([site.labels for site in SITES.sites])
    groups = np.repeat(SITES.names, [len(site) for site in SITES.sites])
    model = CrossClientLabelPropagation(n_bits=256, hamming=way, random_state=0)
    return model.fit(X, y, groups=groups)


@pytest.mark.parametrize("way", PROTECTED)
def test_the_estimator(way):
    clear, found = by_estimator("clear"), by_estimator(way)
    np.testing.assert_array_equal(found.transduction_, clear.transduction_)
    np.testing.assert_allclose(found.confidence_, clear.confidence_, atol=1e-6)


@pytest.mark.parametrize("way", PROTECTED)
def test_distances_that_are_off_would_change_labels(way, monkeypatch):
    """So that the tests above can fail."""
    honest, true = WAYS[way].conversation, by_job(way, n_neighbors=2)

    def off(self, *given):
        group, distances = yield from honest(self, *given)
        found = distances.rows(0, distances.shape[0])
        distances.rows = lambda start, stop: np.roll(found, 7, axis=1)[start:stop]
        return group, distances

    monkeypatch.setattr(WAYS[way], "conversation", off)
    wrong = by_job(way, n_neighbors=2)
    assert any((wrong[name].labels != true[name].labels).any() for name in SITES.names)
