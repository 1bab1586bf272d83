"""SECURITY.md says what the code does: its tables, and that what it warns of can be done."""

import re
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from colabel.crypto import lwe, wide
from colabel.engines.local import LocalEngine
from colabel.federation import own_labels, own_trials
from colabel.federation.cotraining_plan import CotrainingPlan
from colabel.federation.cotraining_reveals import cotraining_reveals
from colabel.federation.graphs import labelled, scored
from colabel.federation.labelling import cross_client_labels
from colabel.federation.plan import LabellingPlan
from colabel.federation.reveals import reveals
from colabel.federation.roles import LABELLING
from colabel.graph.codes import codes, hyperplanes
from colabel.graph.distances import hamming
from colabel.graph.propagate import influence
from colabel.graph.weights import normalise
from colabel.protocols.hamming import WAYS
from colabel.protocols.hamming import lattice_algebra as algebra
from consortia import make_sites

PAGE = (Path(__file__).parent.parent / "SECURITY.md").read_text("utf-8")


def cells(line):
    return [cell.strip(" `") for cell in line.strip("|").split("|")]


def test_the_page_has_every_way_as_its_docstring_says():
    section = PAGE.split("## Who learns what, by way of comparing")[1].split("\n## ")[0]
    rows = [cells(line) for line in section.splitlines() if line.startswith("| `")]
    assert [row[0] for row in rows] == list(WAYS)
    for row in rows:
        text = " ".join((sys.modules[WAYS[row[0]].__module__].__doc__ or "").split())
        found = re.search(
            r"Server alone: (.*?)\. One site: (.*?)\. Server with one site: (.*?)\.", text
        )
        assert found is not None, row[0]
        assert list(found.groups()) == row[1:4]


def test_the_page_has_every_entry_of_every_ledger():
    for way, features, seed in product(WAYS, ("identity", "scaled"), (None, b"s" * 32)):
        plan = LabellingPlan(n_classes=2, hamming=way, features=features, seed=seed)
        for release in reveals(plan):
            unmasked = release.what.removeprefix("each site's ")
            assert unmasked in PAGE or release.what in PAGE, release


def test_the_page_has_every_entry_of_co_training():
    for votes, exchange in product(("clear", "masked"), ("labels", "scores")):
        plan = CotrainingPlan(n_classes=2, n_public=1, public="", votes=votes, exchange=exchange)
        for release in cotraining_reveals(plan):
            unmasked = release.what.removeprefix("each site's ")
            assert unmasked in PAGE or release.what in PAGE, release


def test_the_page_has_the_parameters_in_use():
    assert f"n = {lwe.DIMENSION}, q = 2^{wide.Q_BITS}" in PAGE
    assert f"{lwe.check(lwe.DIMENSION, wide.Q_BITS)} bits" in PAGE
    assert f"σ = {lwe.SIGMA:.2f}" in PAGE
    assert f"2^{algebra.LEAST_LOG:.0f}" in PAGE


# --- what the page warns of


def listen_at(name, sites, plan):
    """A run, and all that one site was told in it."""
    told = {}

    def spying(handler):
        def handle(session, message):
            if session.name == name:
                told.setdefault(type(message), message)
            return handler(session, message)

        return handle

    kinds = (own_trials.Try, own_trials.TriedScores, own_labels.Influence, own_labels.OwnScores)
    spied = {kind: spying(LABELLING.handlers[kind]) for kind in kinds}
    engine = LocalEngine(sites.sites, LABELLING._replace(handlers={**LABELLING.handlers, **spied}))
    return engine.run(cross_client_labels(sites.names, plan)), told


def plan_for(sites, **settings):
    fast = {"hamming": "sketch", "n_bits": 1024}
    return LabellingPlan(n_classes=len(sites.classes), **(fast | settings))


def labels_of(sites):
    return [site.labels[site.labelled] for site in sites]


def test_with_two_sites_and_the_papers_rows_each_can_have_the_others_labels():
    """Without keep_labels a site gets its columns' rows for labelled points, and scores of its own:
    as influence is the same in both directions, these are equations for the other's labels.
    """
    sites = make_sites(2, 40, n_labels=12, separation=0.8)
    mine, others = labels_of(sites.sites)
    plan = plan_for(sites, keep_labels=False, confidence="entropy")
    _, told = listen_at("site-0", sites, plan)
    reach = told[own_labels.Influence].columns.astype(float)
    scores = told[own_labels.OwnScores].matrix[:12]
    rest = scores - reach[:12] @ np.eye(len(sites.classes))[mine]
    coefficients = reach[40:52].T  # the matrix is symmetric
    found = np.linalg.solve(coefficients, rest)
    np.testing.assert_array_equal(found.argmax(axis=1), others)
    np.testing.assert_allclose(found, np.eye(len(sites.classes))[others], atol=1e-2)


def test_by_default_a_site_is_told_no_coefficient_of_anothers_labels_in_its_own_scores():
    """It hears of (held-out or unlabelled there) × (kept or labelled here), and gets the scores of
    (held-out or unlabelled here): no pair of points is in both.
    """
    sites = make_sites(2, 40, n_labels=12, separation=0.8)
    _, told = listen_at("site-0", sites, plan_for(sites))
    tried = told[own_trials.Try]
    held, kept = set(tried.own), set(range(12)) - set(tried.own)
    assert tried.columns.shape[1:] == (2 * len(held), len(kept))
    known = {(there, here) for there in held for here in kept}  # by number of the label
    needed = {(there, here) for there in kept for here in held}
    assert not known & needed
    assert told[own_labels.Influence].columns.shape == (2 * (40 - 12), 12)


def test_without_trying_a_site_is_told_nothing_about_labelled_points():
    sites = make_sites(2, 40, n_labels=12)
    _, told = listen_at("site-0", sites, plan_for(sites, confidence="entropy"))
    assert set(told) == {own_labels.Influence, own_labels.OwnScores}
    assert told[own_labels.Influence].columns.shape == (2 * (40 - 12), 12)


@pytest.mark.parametrize("confidence", ["probability", "entropy"])
def test_the_server_with_one_site_has_all_labels(confidence):
    sites = make_sites(4, 40, n_labels=6)
    plan = plan_for(sites, confidence=confidence)
    fitted, told = listen_at("site-1", sites, plan)
    reach = influence(
        normalise(fitted.weights), fitted.alpha, scored(fitted.group, plan), labelled(fitted.group)
    )
    own = slice(40 - 6, 2 * (40 - 6))
    found = np.linalg.lstsq(reach[own], told[own_labels.OwnScores].matrix[:-1], rcond=None)[0]
    np.testing.assert_array_equal(found.argmax(axis=1), np.concatenate(labels_of(sites.sites)))


def test_own_points_fix_the_rotation():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((60, 8))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    held = codes(points, hyperplanes(b"s" * 32, 4096, 8))
    cosines = np.cos(np.pi * hamming(held[:40], held[40:]) / 4096)
    found = np.linalg.lstsq(points[:40], cosines, rcond=None)[0].T
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    angles = np.degrees(np.arccos((found * points[40:]).sum(axis=1)))
    assert angles.max() < 5


def test_bad_ciphertexts_show_bits_of_the_peer():
    """Half of Δ where the code should be: what comes back is not hidden by the flooding."""
    rng = np.random.default_rng(0)
    n_left, n_right, n_bits = 24, 40, 64
    bits = rng.integers(0, 2, (n_right, n_bits), dtype=np.uint8)
    scale, no_code = algebra.scale(n_bits), np.zeros((n_left, n_bits), np.uint8)
    sent, _ = algebra.encrypt(b"p" * 32, b"j" * 32, no_code, left=True, right=False)
    _, mixed = algebra.encrypt(b"p" * 32, b"k" * 32, bits, left=False, right=True)
    cipher = algebra.read_codes(bytes(sent), n_bits)
    low, high = cipher.low.copy(), cipher.high.copy()
    unit = 1 << (scale.delta_bits - 64)  # Δ is a multiple of 2^64: only the upper part changes
    high[:, :n_bits] -= np.uint16(unit)  # without a code …
    high[np.arange(n_left), np.arange(n_left)] += np.uint16(unit // 2)  # … half a unit instead
    mask = rng.integers(0, 1 << scale.t_bits, (n_left, n_right)).astype(np.uint16)
    product = algebra.multiply(b"k" * 32, "peer", wide.Packed(low, high), bits, mask)
    u = algebra.from_bytes(mixed, scale.kept_bytes).reshape(algebra.N, n_right)
    v = algebra.from_bytes(product, scale.kept_bytes).reshape(n_left, n_right)
    spare = 1 << (8 * scale.kept_bytes - scale.t_bits)
    rest = (v - algebra.secret_key(b"j" * 32, n_left).astype(np.int64) @ u) % spare
    guessed = np.abs(rest - spare / 2) < spare / 4
    assert 0.9 < (guessed == bits[:, :n_left].T).mean() < 0.99
