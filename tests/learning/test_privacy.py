"""DP-FedAvg: clipped, noised, and counted."""

import numpy as np
import pytest
from federations import make_federation, plan
from scipy.optimize import brentq
from scipy.stats import kstest, norm

from colabel.crypto.gaussian import gaussian
from colabel.engines.faults import Fault
from colabel.errors import InputError, RemoteProtocolError
from colabel.federation.own_training import private
from colabel.federation.training_plan import PrivacyPlan, Stage
from colabel.jobs.train import initial, train_sites, will_spend
from colabel.learning.parameters import flatten
from colabel.learning.terms import CrossEntropy, MeanTeacher
from colabel.privacy.accounting import Sums, spent
from colabel.privacy.clipping import clip


def private_plan(rounds=1, noise=1.0, length=0.1, **settings):
    hidden = {"protection": "masked", "sites_per_round": 4}
    privacy = PrivacyPlan(clip=length, noise=noise)
    return plan(stages=(Stage(rounds=rounds),), privacy=privacy, **(hidden | settings))


def test_noise_is_normal_and_never_the_same():
    drawn = gaussian(200_000, 3.0)
    assert abs(drawn.std() - 3.0) < 0.03
    assert kstest(drawn / 3.0, norm.cdf).pvalue > 1e-4
    assert (gaussian(8, 1.0) != gaussian(8, 1.0)).all()


def test_clipping():
    row = np.array([3.0, 4.0])
    np.testing.assert_allclose(clip(row, 1.0), [0.6, 0.8])
    assert clip(row, 5.0) is row


def test_the_sum_of_the_sites_has_the_whole_noise():
    """What is left of a sum after the clipped changes are taken off has the promised spread."""
    row, privacy = np.full(20_000, 1.0), PrivacyPlan(clip=0.5, noise=2.0)
    short = 0.5 / np.sqrt(20_000)
    rest = sum(private(row, privacy, 3) - short for _ in range(3))
    assert abs(rest.std() / (2.0 * 0.5) - 1) < 0.03
    without = sum(clip(row, 0.5) - short for _ in range(3))
    assert without.std() < 1e-12  # what the line above would find if no noise were added


def change_of(settings, faults=()):
    sites, _ = make_federation()
    found = train_sites(sites, settings, faults=faults).model
    return flatten(found) - flatten(initial(settings).model)


def test_a_run_moves_at_most_by_the_clip_but_for_noise():
    quiet = change_of(private_plan(length=0.1, noise=1e-6))
    assert 0.05 < np.linalg.norm(quiet) < 0.11
    assert np.linalg.norm(change_of(private_plan(length=1e6, noise=1e-9))) > 0.15


@pytest.mark.parametrize("faults", [(), (Fault("site-1", "train", "before"),)])
def test_the_model_carries_the_noise(faults):
    """Of 4 sites at least 3 are in a sum; each brings 1/√3 of the noise; the mean divides."""
    settings = private_plan(length=1e-3, noise=100.0)
    came = 4 - len(faults)
    expected = 100.0 * 1e-3 * np.sqrt(came / 3) / came
    found = change_of(settings, faults)
    assert abs(found.std() / expected - 1) < 0.05


def exact_epsilon(times, noise, delta):
    """The Gaussian mechanism composes exactly (Balle and Wang 2018, Dong et al. 2022)."""
    mu = np.sqrt(times) * 2 / noise

    def excess(epsilon):
        below = norm.cdf(mu / 2 - epsilon / mu)
        return below - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta

    return brentq(excess, 0, 500)


@pytest.mark.parametrize(("times", "noise"), [(1, 2.0), (30, 5.0), (200, 40.0)])
def test_what_is_spent_is_what_theory_says(times, noise):
    found = spent([Sums(times, noise)], 1e-5)
    assert found.epsilon == pytest.approx(exact_epsilon(times, noise, 1e-5), rel=0.02)


def test_more_rounds_cost_more_and_parts_add_up():
    once, twice = spent([Sums(5, 10.0)], 1e-5), spent([Sums(10, 10.0)], 1e-5)
    assert once.epsilon < twice.epsilon < 2 * once.epsilon
    assert spent([Sums(5, 10.0)] * 2, 1e-5).epsilon == pytest.approx(twice.epsilon, rel=1e-3)
    assert str(spent([Sums(1, 100.0)], 1e-5)).startswith("ε = 0.")


def test_a_run_counts_the_site_that_takes_part_most():
    sites, _ = make_federation()
    all_rounds = will_spend(sites, private_plan(rounds=6, noise=10.0))
    some = will_spend(sites, private_plan(rounds=6, noise=10.0, sites_per_round=2))
    assert all_rounds == spent([Sums(6, 10.0)], 1e-5)
    assert some.epsilon < all_rounds.epsilon
    assert will_spend(sites, plan()) is None


def test_the_ledger_says_how():
    sites, _ = make_federation()
    ledger = train_sites(sites, private_plan()).ledger
    assert any("clipped to 0.1, with noise of 1 clips" in e.what for e in ledger)


def test_what_cannot_be_private_is_refused_all_at_once():
    terms = (CrossEntropy(), MeanTeacher())
    wrong = plan(
        stages=(Stage(rounds=1, labels="graph", terms=terms),),
        privacy=PrivacyPlan(clip=0.0, noise=-1.0, delta=2.0),
        averaging="points",
    )
    with pytest.raises(InputError) as told:
        wrong.validate()
    assert len(told.value.problems) == 7


def test_a_site_does_not_count_more_than_once():
    """A server that asked for more weight would get a change beyond the clip."""
    from colabel.federation import training

    sites, _ = make_federation()
    heavy = training.replace

    def meddle(settings):
        requests = training._requests

        def changed(*args):
            return {k: heavy(v, weight=1000.0) for k, v in requests(*args).items()}

        return changed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_requests", meddle(private_plan()))
        with pytest.raises(RemoteProtocolError, match="not a weight"):
            train_sites(sites, private_plan())
