"""FixMatch and SemiFL's loss by hand; who is trained, and by which labels."""

import numpy as np
import pytest
import torch
from federations import model_plan
from torch.nn import functional
from works import answer, first_step, gradients, make_work, replay

from colabel.errors import InputError
from colabel.federation.training_plan import Stage
from colabel.learning import local
from colabel.learning.augment import weaken
from colabel.learning.mixing import shares
from colabel.learning.parameters import flatten, read
from colabel.learning.pseudo_labels import guess, predict
from colabel.learning.strengthen import strengthen
from colabel.learning.terms import CrossEntropy, FixMatch, FixMix


def weak(points, draws):
    return weaken(points, "translate", draws)


def strong(points, draws):
    return strengthen(weak(points, draws), draws)


def test_fixmatch_is_the_papers():
    work = make_work()
    step, draws = first_step(work), replay(work)
    points = step.unlabelled.points
    q = answer(work.network, weak(points, draws))
    p = answer(work.network, strong(points, draws))
    threshold = float(np.median(q.max(axis=1)))
    each = -np.log(p[np.arange(6), q.argmax(axis=1)]) * (q.max(axis=1) >= threshold)
    assert 0 < (q.max(axis=1) >= threshold).sum() < 6
    got = FixMatch(threshold=threshold, weight=2.5).start(work).loss(step)
    np.testing.assert_allclose(got.item(), 2.5 * each.sum() / 6, rtol=1e-4)


def test_only_the_strong_view_is_trained():
    work = make_work()
    step, draws = first_step(work), replay(work)
    got = gradients(work.network, FixMatch(threshold=0.1).start(work).loss(step))
    views = weak(step.unlabelled.points, draws), strong(step.unlabelled.points, draws)
    labels = work.network(views[0]).argmax(dim=1)
    wanted = gradients(work.network, functional.cross_entropy(work.network(views[1]), labels))
    for name, held in wanted.items():
        torch.testing.assert_close(got[name], held)
        assert held.abs().max() > 0


def test_below_the_threshold_nothing_is_learnt():
    work = make_work()
    loss = FixMatch(threshold=1.0).start(work).loss(first_step(work))
    assert all(not part.any() for part in gradients(work.network, loss).values())


@pytest.mark.parametrize("make_labels", ["guess", "predict"])
def test_labels_are_made_in_evaluation_mode(make_labels):
    """Running statistics are used and stay, and dropout is off."""
    model = model_plan(name="small_cnn", norm="batch")
    work = make_work(model=model)
    network = work.network
    network.head = torch.nn.Sequential(torch.nn.Dropout(0.5), network.head)
    network(work.points)  # statistics of their own
    before = {name: held.clone() for name, held in network.named_buffers()}
    made = [
        guess(network, work.points)
        if make_labels == "guess"
        else predict(network, work.points, model)
        for _ in range(2)
    ]
    assert network.training
    torch.testing.assert_close(made[0], made[1], rtol=0, atol=0)
    for name, held in network.named_buffers():
        torch.testing.assert_close(held, before[name])
    with torch.no_grad():
        torch.testing.assert_close(made[0], network.eval()(work.points).softmax(dim=1))
        assert (network.train()(work.points).softmax(dim=1) - made[0]).abs().max() > 1e-3


@pytest.mark.parametrize("term", [FixMatch, FixMix])
def test_terms_leave_no_trace_of_labelling_in_running_statistics(term):
    """Only passes with a gradient are in training mode."""
    work = make_work(model=model_plan(name="small_cnn", norm="batch"))
    step, seen = first_step(work), []
    work.network.register_forward_pre_hook(
        lambda net, _: seen.append((net.training, torch.is_grad_enabled()))
    )
    term(threshold=0.1).start(work).loss(step)
    assert set(seen) == {(False, False), (True, True)}


@pytest.mark.parametrize("term", [FixMatch(threshold=0.4), FixMix(threshold=0.4)])
def test_unlabelled_points_change_the_update(term):
    found = []
    for terms in ((CrossEntropy(),), (CrossEntropy(), term)):
        work = make_work()
        local.update(work, terms)
        found.append(flatten(read(work.network)))
    assert np.abs(found[0] - found[1]).max() > 1e-4


def test_fix_and_mix_are_the_papers():
    work = make_work(n_labelled=0)
    sure = answer(work.network, work.points)
    threshold = float(np.median(sure.max(axis=1)))
    active = FixMix(threshold=threshold, alpha=0.6, weight=1.5).start(work)
    step, draws = first_step(work), replay(work)
    rows = [row for row in step.unlabelled.rows.tolist() if sure[row].max() >= threshold]
    assert 1 < len(rows) < 6
    y, n = sure.argmax(axis=1), np.arange(len(rows))
    p = answer(work.network, strong(work.points[rows], draws))
    wanted = -np.log(p[n, y[rows]]).mean()
    partner = torch.randint(26, (len(rows),), generator=draws).tolist()
    share = float(shares(1, 0.6, draws))
    mixed = share * weak(work.points[rows], draws) + (1 - share) * weak(work.points[partner], draws)
    p = answer(work.network, mixed)
    first, second = (-np.log(p[n, y[found]]).mean() for found in (rows, partner))
    wanted += 1.5 * (share * first + (1 - share) * second)
    np.testing.assert_allclose(active.loss(step).item(), wanted, rtol=1e-4)


def test_labels_of_semifl_are_made_once_by_the_model_as_it_was_sent():
    work = make_work(n_labelled=0)
    active = FixMix(threshold=0.1).start(work)
    labels = active.labels.clone()
    for _ in range(3):
        loss = active.loss(first_step(work))
        loss.backward()
        with torch.no_grad():
            for part in work.network.parameters():
                part -= part.grad
    assert (predict(work.network, work.points, work.model).argmax(dim=1) != labels).any()
    torch.testing.assert_close(active.labels, labels)


def test_a_site_that_is_sure_of_nothing_leaves_the_model():
    work = make_work(n_labelled=0)
    before = flatten(read(work.network))
    assert local.update(work, (FixMix(threshold=1.0),)) == 0.0
    np.testing.assert_array_equal(flatten(read(work.network)), before)


def test_settings_out_of_range_are_told():
    from federations import plan

    stage = Stage(rounds=1, terms=(FixMatch(threshold=1.5), FixMix(threshold=0.0, alpha=0.0)))
    with pytest.raises(InputError) as told:
        plan(stages=(stage,)).validate()
    assert len(told.value.problems) == 3
