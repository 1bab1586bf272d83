"""The models of the papers: their sizes as the tables have them, and what all of them promise."""

import numpy as np
import pytest
import torch

from colabel.errors import InputError
from colabel.learning.models import MODELS, ModelPlan, make
from colabel.learning.parameters import flatten, read, shapes, unflatten, write
from colabel.learning.pseudo_labels import embed, predict

IMAGES = [name for name in MODELS if not name.startswith("gpt2")]  # they read tokens
SHAPES = {"fedct_mlp": (1, 28, 28), "mlp_head": (40,), "linear_mlp": (784,)}


def plan_for(name, **settings):
    defaults = {"name": name, "shape": SHAPES.get(name, (3, 32, 32)), "n_classes": 10}
    return ModelPlan(**(defaults | settings))


def count(module):
    return sum(held.numel() for held in module.parameters())


@pytest.mark.parametrize("name", IMAGES)
def test_embeddings_are_as_wide_as_promised_and_logits_one_per_class(name):
    plan = plan_for(name)
    network = make(plan)
    points = torch.randn(4, *plan.shape)
    assert embed(network, points, plan).shape == (4, network.width)
    assert predict(network, points, plan).shape == (4, 10)
    np.testing.assert_allclose(predict(network, points, plan).sum(dim=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", IMAGES)
def test_parameters_travel_as_they_are(name):
    plan = plan_for(name)
    first, second = make(plan, 0), make(plan, 1)
    sent = read(first)
    assert any((sent[key] != held).any() for key, held in read(second).items())
    write(second, unflatten(flatten(sent), shapes(second)))
    points = torch.randn(3, *plan.shape)
    torch.testing.assert_close(predict(first, points, plan), predict(second, points, plan))
    np.testing.assert_array_equal(flatten(read(make(plan, 0))), flatten(sent))


@pytest.mark.parametrize("name", ["cnn13", "resnet9", "resnet18", "small_cnn", "fedct_cifar"])
@pytest.mark.parametrize("norm", ["none", "batch", "group", "static"])
def test_every_normalisation(name, norm):
    plan = plan_for(name, norm=norm)
    network = make(plan)
    loss = network(torch.randn(6, *plan.shape)).square().sum()
    loss.backward()
    for held in network.parameters():
        assert held.grad is not None
        assert held.grad.isfinite().all()
    assert any("running" in name for name in shapes(network)) == (norm == "batch")


def test_resnet8_and_9_have_the_parameters_of_table_6():
    assert count(make(plan_for("resnet9", norm="none", head=False))) == 6_563_520
    assert count(make(plan_for("resnet9", norm="none"))) == 6_563_520 + 5_120


def test_the_13_layer_network_has_about_3_million():
    network = make(plan_for("cnn13"))
    assert network.width == 128
    assert 3.1e6 < count(network) < 3.2e6


def test_resnet18_has_its_11_million():
    assert 11.1e6 < count(make(plan_for("resnet18", shape=(3, 84, 84), n_classes=100))) < 11.3e6


def test_networks_of_co_training_have_the_parameters_of_their_tables():
    table_12 = [896, 9_248, 18_496, 36_928, 73_856, 147_584, 262_272, 1_290]
    norms = [2 * c for c in (32, 32, 64, 64, 128, 128, 128)]  # the table counts buffers too
    assert count(make(plan_for("fedct_cifar"))) == sum(table_12) + sum(norms)
    assert count(make(plan_for("fedct_mlp"))) == 401_920 + 262_656 + 5_130
    table_16 = [896, 64, 9_248, 18_496, 128, 36_928, 73_856, 256, 147_584, 262_272, 1_290]
    assert count(make(plan_for("fedct_svhn"))) == sum(table_16)


def test_unit_length_embeddings_of_the_authors_code():
    plan = plan_for("cnn13_unit")
    found = embed(make(plan), torch.randn(3, *plan.shape), plan)
    np.testing.assert_allclose(found.norm(dim=1), 1, atol=1e-5)


def test_labels_are_made_in_evaluation_mode_and_the_mode_comes_back():
    plan = plan_for("fedct_cifar")
    network = make(plan).train()
    points = torch.randn(8, *plan.shape)
    buffers = {name: held.clone() for name, held in network.named_buffers()}
    torch.testing.assert_close(
        predict(network, points, plan)[:3], predict(network, points[:3], plan)
    )
    assert network.training
    for name, held in network.named_buffers():
        torch.testing.assert_close(held, buffers[name])


def test_an_unknown_model_gets_a_hint():
    with pytest.raises(InputError, match="Did you mean 'cnn13'"):
        make(plan_for("cnn31"))
