"""MixMatch by hand: guesses, sharpening, mixing and both parts of the loss."""

import numpy as np
import pytest
import torch
from federations import plan
from works import answer, first_step, gradients, make_work, one_hot, replay

from colabel.errors import InputError
from colabel.federation.training_plan import Stage
from colabel.learning import local
from colabel.learning.augment import weaken
from colabel.learning.mixing import blend, shares
from colabel.learning.parameters import flatten, read
from colabel.learning.terms import CrossEntropy, MixMatch
from colabel.learning.terms.mixmatch import sharpen


def test_sharpening():
    p = np.array([[0.5, 0.3, 0.2], [1 / 3, 1 / 3, 1 / 3]])
    got = sharpen(torch.tensor(p), 0.5).numpy()
    np.testing.assert_allclose(got[0], np.array([25, 9, 4]) / 38)
    np.testing.assert_allclose(got[1], p[1])


def test_shares_follow_the_beta_distribution_and_repeat():
    draws = [shares(20_000, 0.75, torch.Generator().manual_seed(2)).numpy() for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    assert abs(draws[0].mean() - 0.5) < 0.01
    assert abs(draws[0].var() - 0.25 / 2.5) < 0.005  # αα / ((2α)² (2α + 1))


def by_hand(work, step, draws, term, round_):
    labelled, unlabelled = step.labelled, step.unlabelled

    def weak(points):
        return weaken(points, "translate", draws)

    first = weak(labelled.points)
    views = [weak(unlabelled.points) for _ in range(term.changes)]
    q = np.mean([answer(work.network, view) for view in views], axis=0) ** (1 / term.temperature)
    targets = np.concatenate([one_hot(labelled.labels), q / q.sum(axis=1, keepdims=True)])
    points = np.concatenate([first.numpy(), views[0].numpy()])
    beta = shares(len(points), term.alpha, draws).numpy()
    beta = np.maximum(beta, 1 - beta)
    partner = torch.randperm(len(points), generator=draws).numpy()
    x, p = np.empty_like(points), np.empty_like(targets)
    for i, j in enumerate(partner):
        x[i] = beta[i] * points[i] + (1 - beta[i]) * points[j]
        p[i] = beta[i] * targets[i] + (1 - beta[i]) * targets[j]
    found, n = answer(work.network, x), len(labelled)
    cross = -(p[:n] * np.log(found[:n])).sum(axis=1).mean()
    squares = ((found[n:] - p[n:]) ** 2).sum() / (3 * len(unlabelled))
    ramp = min((round_ + 1) / term.ramp_up_rounds, 1.0)
    return cross + term.weight * ramp * squares


@pytest.mark.parametrize("round_", [0, 4, 50])
def test_the_loss_is_the_papers(round_):
    term = MixMatch(changes=3, temperature=0.4, alpha=0.6, weight=20.0, ramp_up_rounds=10)
    work = make_work(turn=round_)
    step, draws = first_step(work), replay(work)
    got = term.start(work).loss(step)
    np.testing.assert_allclose(got.item(), by_hand(work, step, draws, term, round_), rtol=1e-4)


def test_guesses_have_no_gradient():
    work = make_work()
    step = first_step(work)
    active = MixMatch(ramp_up_rounds=0).start(work)
    seen = []
    work.network.register_forward_hook(lambda net, _, out: seen.append((net.training, out)))
    gradients(work.network, active.loss(step))
    assert [training for training, _ in seen] == [False, False, True]
    assert [out.requires_grad for _, out in seen] == [False, False, True]


def test_both_parts_and_mixing_are_alive():
    def updated(*terms):
        work = make_work()
        local.update(work, terms)
        return flatten(read(work.network))

    full = MixMatch(ramp_up_rounds=0)
    others = [
        updated(CrossEntropy()),
        updated(MixMatch(weight=0.0)),
        updated(MixMatch(ramp_up_rounds=0, temperature=1.0)),
        updated(MixMatch(ramp_up_rounds=0, changes=1)),
        updated(MixMatch(ramp_up_rounds=0, alpha=1e-6)),  # nothing is mixed
    ]
    for other in others:
        assert np.abs(updated(full) - other).max() > 1e-4


def test_blending_nothing():
    a, b = torch.randn(4, 1, 2, 2), torch.randn(4, 1, 2, 2)
    torch.testing.assert_close(blend(a, b, torch.ones(4)), a)
    torch.testing.assert_close(blend(a, b, torch.zeros(4)), b)


@pytest.mark.parametrize("n_labelled", [0, 26])
def test_sites_with_one_kind_of_points(n_labelled):
    work = make_work(n_labelled=n_labelled)
    before = flatten(read(work.network))
    assert local.update(work, (MixMatch(),)) > 0
    assert np.abs(flatten(read(work.network)) - before).max() > 1e-5


def test_settings_out_of_range_are_told():
    stage = Stage(rounds=1, terms=(MixMatch(changes=0, temperature=0.0, alpha=-1.0),))
    with pytest.raises(InputError) as told:
        plan(stages=(stage,)).validate()
    assert len(told.value.problems) == 3
