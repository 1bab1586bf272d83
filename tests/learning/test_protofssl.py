"""ProtoFSSL as a term: its loss by hand, its episodes, and that each part of it is alive."""

import numpy as np
import pytest
import torch
from federations import CLASSES, draw, model_plan
from test_prototypes import far, softmax, table

from colabel.learning.local import update
from colabel.learning.models import make
from colabel.learning.parameters import flatten, read
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.learning.pseudo_labels import embed, only_truth
from colabel.learning.terms.prototypes import HELPERS, OWN, Prototypes
from colabel.learning.work import Progress, Work, generator

WIDTH = 256  # of mlp_head


def make_work(labels=None, n=40, n_labels=15, helpers=None, steps=1, seed=0):
    points, truth = draw(n, seed=3)
    known = np.where(np.arange(n) < n_labels, truth, -1) if labels is None else labels
    plan = model_plan(head=False)
    return Work(
        network=make(plan),
        model=plan,
        plan=LocalPlan(steps=steps, optimiser=OptimiserPlan(rate=0.1)),
        points=torch.from_numpy(points),
        targets=only_truth(torch.from_numpy(known)),
        labelled=torch.from_numpy(known >= 0),
        batch=4,
        rate=0.1,
        progress=Progress(1, 3),
        generator=generator(seed),
        shared={} if helpers is None else {HELPERS: helpers},
    )


def random_helpers(classes=range(CLASSES), n=2, seed=1):
    rng = np.random.default_rng(seed)
    return table(*({c: rng.standard_normal(WIDTH) * 0.1 for c in classes} for _ in range(n)))


def after(term, work):
    update(work, [term])
    return flatten(read(work.network))


def loss_of(term, work):
    """The loss of the first episode, and what it was made of."""
    active = term.start(work)
    step = next(active.own_steps())
    return active.loss(step), step, work.network.features(step.view).detach().numpy()


@pytest.mark.parametrize("kind", ["euclidean", "mean_square"])
def test_the_loss_is_equation_8(kind):
    term, helpers = Prototypes(distance=kind, unlabelled=6, weight=0.7), random_helpers()
    loss, step, z = loss_of(term, make_work(helpers=helpers))
    n, s = len(step.labelled), step.n_support
    y = step.labelled.labels.numpy()
    own = np.stack([z[:s][y[:s] == c].mean(axis=0) for c in range(CLASSES)])
    log_p = np.log(softmax(-far(z[s:], own, kind)))
    labelled = -np.mean([log_p[i, c] for i, c in enumerate(y[s:])])
    sets = helpers["vectors"].reshape(2, CLASSES, WIDTH)
    guessed = np.mean([softmax(-far(z[n:], held, kind)) for held in sets], axis=0)
    sharp = guessed**2 / (guessed**2).sum(axis=1, keepdims=True)
    unlabelled = -np.mean((sharp * log_p[n - s :]).sum(axis=1))
    assert loss.item() == pytest.approx(labelled + 0.7 * unlabelled, rel=1e-4)


def test_an_episode_has_support_and_query_of_every_class_and_unlabelled_points():
    work = make_work(helpers=random_helpers())
    step = next(Prototypes(support=2, query=1, unlabelled=7).start(work).own_steps())
    assert step.labelled.labels.tolist() == [0, 0, 1, 1, 2, 2, 0, 1, 2]
    assert len(set(step.labelled.rows.tolist())) == 9
    assert len(step.unlabelled) == 7
    assert not work.labelled[step.unlabelled.rows].any()


def test_a_local_epoch_is_one_episode_and_each_is_drawn_anew():
    work = make_work(steps=0)
    steps = list(Prototypes().start(work).own_steps())
    assert len(steps) == work.plan.epochs == 5
    assert len({tuple(step.labelled.rows.tolist()) for step in steps}) > 1


def test_without_helpers_only_labels_count():
    loss, step, _ = loss_of(Prototypes(), make_work())
    assert not len(step.unlabelled)
    assert loss.requires_grad


def test_unlabelled_points_are_alive():
    helpers = random_helpers()
    full = after(Prototypes(), make_work(helpers=helpers))
    without = after(Prototypes(weight=0.0), make_work(helpers=helpers))
    assert np.abs(full - without).max() > 1e-6


def test_a_target_has_no_gradient_but_in_the_authors_code():
    helpers = random_helpers()
    paper = after(Prototypes(), make_work(helpers=helpers))
    code = after(Prototypes(through_target=True), make_work(helpers=helpers))
    assert np.abs(paper - code).max() > 1e-7
    for through in (False, True):
        term = Prototypes(through_target=through)
        active = term.start(make_work(helpers=helpers))
        points = torch.randn(3, WIDTH, requires_grad=True)
        assert active._pseudo_labels(points, active.helpers).requires_grad == through


def test_sharpening_helpers_and_distance_are_alive():
    helpers = random_helpers()
    plain = after(Prototypes(), make_work(helpers=helpers))
    for term in (Prototypes(temperature=1.0), Prototypes(distance="mean_square")):
        assert np.abs(plain - after(term, make_work(helpers=helpers))).max() > 1e-7
    other = after(Prototypes(), make_work(helpers=random_helpers(seed=9)))
    assert np.abs(plain - other).max() > 1e-7


def test_prototypes_of_helpers_instead_of_a_support():
    """[App. B.1]: no support; c_k is the mean of the helpers'."""
    term, helpers = Prototypes(prototypes="helpers", weight=0.0, query=9), random_helpers()
    loss, step, z = loss_of(term, make_work(helpers=helpers))
    assert step.n_support == 0
    assert len(step.labelled) == 15  # all labels are asked about
    own = helpers["vectors"].reshape(2, CLASSES, WIDTH).mean(axis=0)
    log_p = np.log(softmax(-far(z[:15], own, "euclidean")))
    wanted = -np.mean([log_p[i, c] for i, c in enumerate(step.labelled.labels)])
    assert loss.item() == pytest.approx(wanted, rel=1e-4)
    first = next(term.start(make_work()).own_steps())
    assert first.n_support == CLASSES  # nobody helps yet


def test_a_class_that_the_site_lacks_is_the_mean_of_the_helpers():
    labels = np.full(40, -1)
    labels[:4] = [0, 0, 1, 1]
    work = make_work(labels=labels, helpers=random_helpers())
    active = Prototypes().start(work)
    step = next(active.own_steps())
    assert active.loss(step).isfinite()
    own, known = active._own(torch.zeros(2, WIDTH), torch.tensor([0, 1]))
    np.testing.assert_allclose(own[2], active.helpers.vectors[:, 2].mean(dim=0))
    assert known.all()
    active.finish()
    assert work.returned[OWN]["classes"].tolist() == [0, 1]


def test_a_class_that_only_the_site_has_gets_no_pseudo_labels():
    work = make_work(helpers=random_helpers(classes=(0, 1)))
    loss, *_ = loss_of(Prototypes(), work)
    loss.backward()
    assert loss.isfinite()
    assert all(held.grad.isfinite().all() for held in work.network.parameters())


def test_one_label_of_a_class_is_support_and_asks_nothing():
    labels = np.full(40, -1)
    labels[:3] = [0, 1, 1]
    _, step, _ = loss_of(Prototypes(), make_work(labels=labels))
    assert step.labelled.labels.tolist() == [0, 1, 1]
    assert step.n_support == 2


def test_a_site_without_labels_learns_from_helpers_and_sends_nothing():
    labels = np.full(40, -1)
    work = make_work(labels=labels, helpers=random_helpers())
    before = flatten(read(work.network))
    assert np.abs(after(Prototypes(), work) - before).max() > 1e-6
    assert work.returned[OWN]["vectors"].shape == (0, WIDTH)
    assert update(make_work(labels=labels), [Prototypes()]) == 0.0  # and nobody helps


def test_what_is_sent_are_the_prototypes_of_all_labels_by_the_trained_model():
    work = make_work()
    update(work, [Prototypes()])
    z = embed(work.network, work.points[:15], work.model).numpy()
    y = work.targets.labels[:15].numpy()
    wanted = np.stack([z[y == c].mean(axis=0) for c in range(CLASSES)])
    np.testing.assert_allclose(work.returned[OWN]["vectors"], wanted, rtol=1e-5)


@pytest.mark.parametrize("repeatable", [True, False])
def test_noise_of_that_size_and_only_on_what_is_sent(repeatable):
    plain, noisy, again = make_work(), make_work(), make_work()
    term = Prototypes(noise=2.0, repeatable_noise=repeatable)
    np.testing.assert_array_equal(after(Prototypes(), plain), after(term, noisy))
    after(term, again)
    noise = noisy.returned[OWN]["vectors"] - plain.returned[OWN]["vectors"]
    assert noise.std() == pytest.approx(2.0, rel=0.1)
    assert abs(noise.mean()) < 0.3
    same = (again.returned[OWN]["vectors"] == noisy.returned[OWN]["vectors"]).all()
    assert same == repeatable


def test_training_by_prototypes_brings_classes_apart():
    work = make_work(n_labels=30, steps=30, helpers=None)
    start = update(make_work(n_labels=30), [Prototypes()])
    update(work, [Prototypes()])
    work.plan = LocalPlan(steps=1)
    assert update(work, [Prototypes()]) < start / 2
