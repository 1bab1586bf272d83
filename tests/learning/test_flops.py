"""Operations of a network against torch's own counter, and of a round against a round that runs."""

import pytest
import torch
from test_models import IMAGES, plan_for
from torch.utils.flop_counter import FlopCounterMode

from colabel.learning.flops import forward, of_one_point
from colabel.learning.local import update
from colabel.learning.models import make
from colabel.learning.plan import LocalPlan
from colabel.learning.pseudo_labels import only_truth
from colabel.learning.round_costs import TABLE_1, Setting, fedavg, fedprop, protofssl
from colabel.learning.terms import Prototypes
from colabel.learning.threads import enough_threads
from colabel.learning.work import Progress, Work, generator

PAPER = {  # [ProtoFSSL table 2]
    "MixMatch-FedAvg": (782.0, 52.6),
    "FedRGD (or FixMatch-FedAvg)": (782.0, 52.6),
    "FedMatch": (1526.0, 115.6),
    "ProtoFSSL": (447.9, 52.6),
}


@pytest.mark.parametrize("name", IMAGES)
def test_products_are_those_that_torch_counts(name):
    plan = plan_for(name)
    network = make(plan).eval()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(torch.zeros(3, *plan.shape))
    assert 3 * forward(network, plan.shape).products == counter.get_total_flops()


def test_the_rest_by_hand():
    """resnet9 without normalisation: ReLUs, poolings and the two skips."""
    relus = 64 * 32**2 + 128 * 32**2 + 2 * 128 * 16**2 + 256 * 16**2 + 512 * 8**2 + 2 * 512 * 4**2
    pools = 128 * 32**2 + 256 * 16**2 + 512 * 8**2 + 512 * 4**2
    skips = 128 * 16**2 + 512 * 4**2
    network = make(plan_for("resnet9", norm="none"))
    assert forward(network, (3, 32, 32)).others == relus + pools + skips
    normed = forward(make(plan_for("resnet9", norm="batch")), (3, 32, 32)).others
    assert normed == relus * 3 + pools + skips


@pytest.mark.parametrize("name", IMAGES)
def test_a_plan_says_the_same_as_its_network(name):
    plan = plan_for(name)
    assert of_one_point(plan) == forward(make(plan), plan.shape)


@pytest.mark.parametrize(("name", "n_points", "alone"), [("fedct_mlp", 100, 1), ("cnn13", 100, 0)])
def test_one_thread_for_what_is_soon_computed(name, n_points, alone):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with enough_threads(plan_for(name), n_points):
        inside = torch.get_num_threads()
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)
    assert inside == (1 if alone else 2)


def test_counting_leaves_no_trace():
    network = make(plan_for("small_cnn"))
    before = {name: held.clone() for name, held in network.state_dict().items()}
    forward(network, (3, 32, 32))
    assert network.training
    for name, held in network.state_dict().items():
        torch.testing.assert_close(held, before[name])
    assert all(not module._forward_hooks for module in network.modules())


def setting_for(name, *, biases):
    head = name != "ProtoFSSL"
    network = make(plan_for("resnet9", norm="none", head=head))
    size = sum(held.numel() for held in network.parameters())
    size += biases * (64 + 3 * 128 + 256 + 3 * 512 + 10 * head)
    return Setting(forward=forward(network, (3, 32, 32)).flops, model_bytes=4 * size)


def test_table_2_to_the_last_digit():
    """One epoch, two operations for a product; bytes are those of layers with biases, which table
    6 does not have (the ReLUs that are counted here are as many as the biases there).
    """
    assert TABLE_1["MixMatch-FedAvg"](setting_for("MixMatch-FedAvg", biases=False)).bytes < 52.55e6
    for name in PAPER:
        found = TABLE_1[name](setting_for(name, biases=True))
        rounded = round(found.flops / 1e9, 1), round(found.bytes / 1e6, 1)
        assert rounded == PAPER[name], name


def test_fedprop_is_an_epoch_more_than_the_points_and_codes():
    at = Setting(forward=1e6, model_bytes=100, epochs=5, width=8, n_bits=16)
    assert fedprop(at, 7.0).flops == 1e6 * 540 * 6 + 540 * 2 * 8 * 16
    assert fedprop(at, 7.0).bytes == 207
    assert fedavg(at) == (1e6 * 50 * 5, 200)


def test_a_round_of_protofssl_computes_what_the_formula_says():
    """Episodes of all points: a step of training is three forward passes but for the first layer,
    through which no gradient goes on.
    """
    plan = plan_for("small_cnn", norm="none", head=False)
    labels = torch.full((60,), -1)
    labels[:20] = torch.arange(10).repeat(2)
    helpers = {
        "vectors": torch.randn(10, 128).numpy(),
        "classes": torch.arange(10).numpy(),
        "owners": torch.zeros(10).numpy(),
    }
    work = Work(
        network=make(plan),
        model=plan,
        plan=LocalPlan(steps=3),
        points=torch.randn(60, 3, 32, 32),
        targets=only_truth(labels),
        labelled=labels >= 0,
        batch=1,
        rate=1e-3,
        progress=Progress(1, 2),
        generator=generator(0),
        shared={"helpers' prototypes": helpers},
    )
    with FlopCounterMode(display=False) as counter:
        update(work, [Prototypes(query=1)])
    f = forward(work.network, plan.shape).products
    at = Setting(forward=f, model_bytes=0, labelled=20, unlabelled=40, epochs=3, helpers=0)
    passes = protofssl(at).flops
    first = 2 * 27 * 16 * 32**2
    trained = 3 * 60 * (3 * f - first)  # epochs · points · (forward and backward)
    assert passes == 3 * 60 * f + 20 * f
    assert counter.get_total_flops() == pytest.approx(trained + 20 * f, rel=0.01)
