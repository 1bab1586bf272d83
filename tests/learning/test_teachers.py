"""Mean teacher and FedSiam by hand; class weights; the proximal term."""

import math

import numpy as np
import pytest
import torch
from works import answer, first_step, gradients, make_work, replay

from colabel.learning import local
from colabel.learning.augment import weaken
from colabel.learning.models import make
from colabel.learning.parameters import flatten, read
from colabel.learning.terms import CrossEntropy, MeanTeacher, Proximal, Siamese
from colabel.learning.terms.cross_entropy import class_weights
from colabel.learning.terms.mean_teacher import TEACHER, ramp_up
from colabel.learning.work import Targets


def other_network():
    return read(make(make_work().model, 8))


def test_mean_teacher_is_the_papers():
    """weight · ramp-up · the mean over points and classes of (p − p_teacher)²."""
    term = MeanTeacher(weight=7.0, ramp_up_rounds=5)
    work = make_work(turn=2, shared={TEACHER: other_network()})
    step, draws = first_step(work), replay(work)
    active = term.start(work)
    points = torch.cat([step.labelled.points, step.unlabelled.points])
    own = answer(work.network, weaken(points, "translate", draws))  # the student draws first
    teacher = answer(make(work.model, 8), weaken(points, "translate", draws))
    wanted = 7.0 * math.exp(-5 * (1 - 3 / 5) ** 2) * ((own - teacher) ** 2).mean()
    assert step.logits is not None
    np.testing.assert_allclose(active.loss(step).item(), wanted, rtol=1e-4)


def test_fedsiam_by_hand():
    term = Siamese(weight=7.0, ramp_up_rounds=0)
    work = make_work()
    active = term.start(work)
    step, draws = first_step(work), replay(work)
    points = torch.cat([step.labelled.points, step.unlabelled.points])
    online = answer(work.network, weaken(points, "translate", draws))[6:]
    target = answer(work.network, weaken(step.unlabelled.points, "translate", draws))
    wanted = 7.0 * ((online - target) ** 2).mean()
    assert wanted > 1e-3  # two views of one network already differ
    np.testing.assert_allclose(active.loss(step).item(), wanted, rtol=1e-4)


@pytest.mark.parametrize("term", [MeanTeacher(decay=0.9), Siamese(decay=0.9)])
def test_the_teacher_follows_after_every_step_and_has_no_gradient(term):
    work = make_work()
    active = term.start(work)
    held = active.teacher if isinstance(term, MeanTeacher) else active.target
    begin = flatten(read(work.network))
    for part in held.parameters():
        assert not part.requires_grad
    with torch.no_grad():
        for part in work.network.parameters():
            part += 1.0
    active.after_step()
    np.testing.assert_allclose(flatten(read(held)), begin + 0.1, atol=1e-6)
    active.after_step()
    np.testing.assert_allclose(flatten(read(held)), begin + 0.19, atol=1e-6)


def test_with_equal_views_fedsiam_begins_at_rest_and_then_pulls_back():
    work = make_work(augmentation="none")
    active, step = Siamese(ramp_up_rounds=0).start(work), first_step(work)
    assert active.loss(step).item() == 0.0
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for part in work.network.parameters():
            part += 0.05 * torch.randn(part.shape, generator=noise)
    again = first_step(work)
    assert any(
        part.abs().max() > 0 for part in gradients(work.network, active.loss(again)).values()
    )


def test_fedsiam_sends_no_second_model_and_keeps_none():
    work = make_work()
    local.update(work, (CrossEntropy(), Siamese()))
    assert not work.returned
    assert not work.memory
    work = make_work()
    local.update(work, (CrossEntropy(), MeanTeacher()))
    assert work.returned.keys() == {TEACHER}


@pytest.mark.parametrize("term", [Siamese(), MeanTeacher(), Proximal(mu=1.0)])
def test_a_term_changes_the_update(term):
    found = []
    for terms in ((CrossEntropy(),), (CrossEntropy(), term)):
        work = make_work(n_labelled=12)
        local.update(work, terms)
        found.append(flatten(read(work.network)))
    assert np.abs(found[0] - found[1]).max() > 1e-5


def test_ramp_up():
    np.testing.assert_allclose(ramp_up(0, 5), math.exp(-5 * 0.64))
    assert ramp_up(4, 5) == ramp_up(90, 5) == ramp_up(0, 0) == 1.0


def test_the_proximal_term_pulls_towards_the_model_that_was_sent():
    work = make_work()
    active = Proximal(mu=0.3).start(work)
    begin = {name: part.detach().clone() for name, part in work.network.named_parameters()}
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for part in work.network.parameters():
            part += torch.randn(part.shape, generator=noise)
    pull = gradients(work.network, active.loss(first_step(work)))
    for name, part in work.network.named_parameters():
        torch.testing.assert_close(pull[name], 0.3 * (part.detach() - begin[name]))
        assert pull[name].abs().max() > 0.01


def test_class_weights():
    """(n / C) / n_c, over labels and pseudo-labels."""
    labels = torch.tensor([0, 0, 0, 1, -1, -1])
    np.testing.assert_allclose(class_weights(labels, 3), [4 / 3 / 3, 4 / 3, 0.0], rtol=1e-6)


def test_class_weights_multiply_the_cross_entropy():
    work = make_work(augmentation="none")
    labels = torch.arange(26) % 7 % 3  # not balanced
    weights = torch.linspace(0.2, 1.0, 26)
    work.targets = Targets(labels, weights)
    step = first_step(work)
    rows = torch.cat([step.labelled.rows, step.unlabelled.rows])
    counts = np.bincount(labels.numpy())
    p, y = answer(work.network, work.points[rows]), labels[rows].numpy()
    by_class = 26 / 3 / counts[y]
    wanted = (-np.log(p[np.arange(12), y]) * weights[rows].numpy() * by_class).sum() / 12
    got = CrossEntropy(class_weights=True).start(work).loss(step)
    np.testing.assert_allclose(got.item(), wanted, rtol=1e-4)
    assert abs(CrossEntropy().start(work).loss(step).item() - wanted) > 1e-3
