import itertools

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from colabel.errors import InputError
from colabel.learning import audited
from colabel.learning.models import ModelPlan, make
from colabel.learning.parameters import read, trainable, write
from colabel.learning.work import as_input
from colabel.privacy.audit import UpdateAnswers
from colabel.privacy.audit.measures import interval, roc_auc
from colabel.privacy.audit.white_box import attempts

N, CLASSES = 160, 5
MEMBER = np.arange(N) % 2 == 0
MLP = ModelPlan(name="mlp_head", shape=(20,), n_classes=CLASSES, mean=(0.5,), std=(2.0,))
CNN = ModelPlan(name="tiny_cnn", shape=(1, 8, 8), n_classes=CLASSES)


def task(plan=MLP, n=N, seed=0):
    random = np.random.default_rng(seed)
    points = random.normal(size=(n, *plan.shape)).astype(np.float32)
    return points, random.integers(CLASSES, size=n)


def trained(points, labels, rounds, steps):
    """The models before and after each round of a site that learns by heart."""
    network = make(MLP)
    view, true = as_input(torch.from_numpy(points), MLP), torch.from_numpy(labels)
    mover = torch.optim.Adam(network.parameters(), 0.01)
    held = [read(network)]
    for _ in range(rounds):
        for _ in range(steps):
            mover.zero_grad()
            cross_entropy(network(view), true).backward()
            mover.step()
        held.append(read(network))
    return [*itertools.pairwise(held)]


def answers_of(rounds, points, labels, plan=MLP):
    network = make(plan)
    told = [audited.seen(network, *each, points, labels, plan) for each in rounds]
    return UpdateAnswers(
        np.stack([each.losses for each in told]),
        np.stack([each.alignments for each in told]),
        np.stack([each.norms for each in told]),
    )


def test_who_learnt_by_heart_is_found():
    points, labels = task()
    answers = answers_of(trained(points[MEMBER], labels[MEMBER], 4, 25), points, labels)
    made = list(attempts(answers, answers.most))
    assert [each.attack for each in made] == ["loss", "gradient norm", "alignment"]
    for each in made:
        assert each.queries == 4
        assert roc_auc(each.scores, MEMBER) >= 0.75, each.attack


def test_who_learnt_with_others_is_not():
    points, labels = task()
    answers = answers_of(trained(*task(seed=1), 4, 25), points, labels)
    for each in attempts(answers, answers.most):
        low, high = interval(each.scores, MEMBER, level=0.99)
        assert low <= 0.5 <= high, each.attack


def test_updates_give_members_away_before_losses_do():
    """One small step of a wide model: no loss has moved yet, but the step is a sum."""
    wide = ModelPlan(name="mlp_head", shape=(400,), n_classes=CLASSES)
    points, labels = task(wide)
    network, before = make(wide), read(make(wide))
    mine, true = torch.from_numpy(points[MEMBER]), torch.from_numpy(labels[MEMBER])
    cross_entropy(network(mine), true).backward()
    with torch.no_grad():
        for part in network.parameters():
            part -= 1e-3 * part.grad
    answers = answers_of([(before, read(network))], points, labels, wide)
    loss, _, alignment = (roc_auc(each.scores, MEMBER) for each in attempts(answers, 1))
    assert loss < 0.65
    assert alignment >= 0.9


def slowly(network, before, after, points, labels, plan):
    """One point at a time, with one gradient at a time."""
    network.eval()
    found = []
    for point, label in zip(torch.from_numpy(points), torch.from_numpy(labels), strict=True):
        sides = []
        for held in (before, after):
            write(network, held)
            network.zero_grad()
            loss = cross_entropy(network(as_input(point[None], plan)), label[None])
            loss.backward()
            rows = [part.grad.flatten() for part in trainable(network).values()]
            sides.append((loss.item(), torch.cat(rows).double().numpy()))
        step = np.concatenate([(after[k] - before[k]).ravel() for k in trainable(network)])
        first, (loss, last) = sides[0][1], sides[1]
        cosine = -first @ step / np.linalg.norm(first) / np.linalg.norm(step)
        found.append((loss, cosine, np.linalg.norm(last)))
    return np.array(found).T


@pytest.mark.parametrize("plan", [MLP, CNN], ids=["mlp", "cnn with batch norm"])
def test_numbers_as_one_point_at_a_time(plan, monkeypatch):
    monkeypatch.setattr(audited, "_NUMBERS", 40_000)  # a few points at a time
    points, labels = task(plan, n=13)
    network, before, after = make(plan), read(make(plan, 1)), read(make(plan, 2))
    for held in (before, after):  # running statistics that are not those of an untouched model
        for name in held:
            if "running" in name:
                held[name] += np.linspace(0.1, 0.9, len(held[name]), dtype=np.float32)
    assert network.training
    got = audited.seen(network, before, after, points, labels, plan)
    assert network.training
    slow = slowly(make(plan), before, after, points, labels, plan)
    np.testing.assert_allclose(np.stack(got), slow, rtol=1e-4, atol=1e-6)
    for name, held in read(network).items():
        np.testing.assert_array_equal(held, after[name])


def test_a_site_that_did_not_move_says_nothing():
    points, labels = task(n=6)
    held = read(make(MLP))
    seen = audited.seen(make(MLP), held, held, points, labels, MLP)
    np.testing.assert_array_equal(seen.alignments, 0.0)


def test_rounds_are_averaged_within_the_budget():
    random = np.random.default_rng(0)
    parts = np.exp(random.normal(size=(3, 5, N)))
    made = list(attempts(UpdateAnswers(*parts), 2))
    assert [each.queries for each in made] == [2, 2, 2]
    np.testing.assert_allclose(made[0].scores, -parts[0, -2:].mean(axis=0))
    np.testing.assert_allclose(made[1].scores, -np.log(parts[2, -2:]).mean(axis=0))
    np.testing.assert_allclose(made[2].scores, parts[1, -2:].mean(axis=0))
    assert [each.attack for each in attempts(UpdateAnswers(parts[0]), 2)] == ["loss"]


def test_what_does_not_fit_is_refused():
    losses = np.ones((2, 5))
    for wrong in ((losses[0],), (losses, losses[:1]), (losses, losses, losses * np.nan)):
        with pytest.raises(InputError):
            UpdateAnswers(*wrong)
