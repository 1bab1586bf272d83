"""FedMatch's losses by hand, who moves what, and who helps whom."""

import numpy as np
import pytest
import torch
from federations import draw, make_federation, model_plan, plan
from torch.nn import functional

from colabel.federation.training_plan import Stage
from colabel.jobs.train import train_sites
from colabel.learning import local
from colabel.learning.models import make
from colabel.learning.parameters import flatten, read
from colabel.learning.plan import LocalPlan, OptimiserPlan
from colabel.learning.terms import FedMatch
from colabel.learning.terms.fedmatch import PSI, vote
from colabel.learning.work import Progress, Targets, Work, as_tensor, batches, generator

MODEL = model_plan(norm="none")


def make_work(n_labelled=10, n=24, steps=1, shared=None):
    points, truth = draw(n)
    known = np.where(np.arange(n) < n_labelled, truth, -1)
    return Work(
        network=make(MODEL, 3),
        model=MODEL,
        plan=LocalPlan(steps=steps, optimiser=OptimiserPlan(rate=0.01)),
        points=as_tensor(points),
        targets=Targets(as_tensor(known), torch.ones(n)),
        labelled=as_tensor(known >= 0),
        batch=6,
        rate=0.01,
        progress=Progress(0, 1),
        generator=generator(5),
        shared=shared or {},
    )


def helper_of(seed):
    return {name: held * 0.5 for name, held in read(make(MODEL, seed)).items()}


def test_the_loss_is_the_papers():
    """σ = 0.8 θ and ψ = 0.2 θ at first, so every part can be said from θ."""
    term = FedMatch(confidence=0.0)
    work = make_work(shared={"helper 0": helper_of(8), "helper 1": helper_of(9)})
    theta = {k: v.detach().clone() for k, v in work.network.named_parameters()}
    active = term.start(work)
    step = next(batches(work, use_unlabelled=True))
    got = active.loss(step)

    def answer(parameters, points):
        return torch.func.functional_call(make(MODEL), parameters, (points,))

    labelled, unlabelled = step.labelled.points, step.unlabelled.points
    supervised = functional.cross_entropy(answer(theta, labelled), step.labelled.labels)
    own = answer(theta, unlabelled).softmax(dim=1)
    helpers = [
        answer({k: 0.8 * theta[k] + torch.from_numpy(h[k]) for k in theta}, unlabelled).softmax(1)
        for h in (work.shared["helper 0"], work.shared["helper 1"])
    ]
    kl = [(h * (h / own).log()).sum(dim=1).mean() for h in helpers]
    votes = torch.zeros_like(own)
    for held in (own, *helpers):
        votes += functional.one_hot(held.argmax(dim=1), 3)
    agreed = functional.cross_entropy(answer(theta, unlabelled), votes.argmax(dim=1))
    apart = sum(((0.8 - 0.2) * held).square().sum() for held in theta.values())
    size = sum((0.2 * held).abs().sum() for held in theta.values())
    want = 10 * supervised + 1e-2 * sum(kl) / 2 + 1e-2 * agreed + 10 * apart + 1e-4 * size
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_labels_move_sigma_and_unlabelled_points_move_psi():
    for n_labelled, only in ((10, None), (0, "psi")):
        work = make_work(n_labelled)
        active = FedMatch(confidence=0.0).start(work)
        active.loss(next(batches(work, use_unlabelled=True))).backward()
        sigma = [held.grad for held in active.sigma.values()]
        assert all((held is None) == (only == "psi") for held in sigma)
        assert all(held.grad is not None for held in active.psi.values())


def test_psi_does_not_follow_the_labels():
    silent = FedMatch(confidence=1.1, l1=0.0, l2=0.0)
    work = make_work()
    before = 0.2 * flatten(read(work.network))
    local.update(work, [silent])
    np.testing.assert_allclose(flatten(work.returned[PSI]), before, atol=1e-7)


@pytest.mark.parametrize("part", ["between", "agreement", "l1", "l2", "supervised"])
def test_every_part_is_alive(part):
    def after(term):
        work = make_work(steps=3, shared={"helper 0": helper_of(8)})
        local.update(work, [term])
        return flatten(read(work.network))

    whole = after(FedMatch(confidence=0.0, between=1.0, agreement=1.0, l1=0.01, l2=0.1))
    settings = {"between": 1.0, "agreement": 1.0, "l1": 0.01, "l2": 0.1} | {part: 0.0}
    assert np.abs(whole - after(FedMatch(confidence=0.0, **settings))).max() > 1e-6


def test_only_points_that_the_model_is_sure_of_count():
    def after(confidence):
        work = make_work(steps=3)
        local.update(work, [FedMatch(confidence=confidence, agreement=1.0)])
        return flatten(read(work.network))

    np.testing.assert_array_equal(after(1.01), after(1.5))
    assert np.abs(after(0.0) - after(1.01)).max() > 1e-6


def test_votes():
    answers = [torch.tensor([[0.6, 0.4, 0.0]]), torch.tensor([[0.1, 0.9, 0.0]])]
    assert vote(answers).tolist() == [0]
    assert vote([*answers, torch.tensor([[0.2, 0.7, 0.1]])]).tolist() == [1]


def test_helpers_are_the_nearest_and_are_chosen_every_interval():
    term, kept = FedMatch(helpers=1, interval=2), {}

    def told(answers):
        return {
            site: {PSI: {"w": np.full(2, value)}, "answer": {"answer": np.array([value])}}
            for site, value in answers.items()
        }

    kept = term.keep_each(kept, told({"a": 1.0, "b": 1.2, "c": 9.0, "d": 9.5}))
    assert [list(kept[f"helper {site}"]) for site in "abcd"] == [["b"], ["a"], ["d"], ["c"]]
    np.testing.assert_allclose(kept[PSI]["w"], 5.175)
    np.testing.assert_allclose(term.send(kept, "a")["helper 0"]["w"], 1.2)
    assert term.send(kept, "stranger").keys() == {PSI}
    moved = told({"a": 8.9})
    kept = term.keep_each(kept, moved)
    assert list(kept["helper a"]) == ["b"]  # not yet
    kept = term.keep_each(kept, moved)
    assert list(kept["helper a"]) == ["c"]


def test_the_server_remembers_a_pool_only():
    term, kept = FedMatch(pool=2), {}
    for number in range(5):
        held = {PSI: {"w": np.zeros(1)}, "answer": {"answer": np.array([float(number)])}}
        kept = term.keep_each(kept, {f"s{number}": held})
    assert {key for key in kept if key.startswith("psi ")} == {"psi s3", "psi s4"}


def test_a_run_uses_helpers():
    sites, truth = make_federation()

    def run(helpers):
        # a strong pull to σ would make all ψ the same
        strong = {"confidence": 0.0, "between": 1.0, "agreement": 1.0, "l2": 0.01}
        stage = Stage(rounds=3, terms=(FedMatch(helpers=helpers, interval=1, **strong),))
        return flatten(train_sites(sites, plan(stages=(stage,)), truth=truth).model)

    assert np.abs(run(2) - run(0)).max() > 1e-5
    np.testing.assert_array_equal(run(2), run(2))
