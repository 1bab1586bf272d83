"""Our descent against torch's, to the bit."""

import pytest
import torch

from colabel.learning.descent import Descent


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("decay", [0.0, 2e-4])
def test_it_moves_as_torch_does(momentum, decay):
    def path(make):
        torch.manual_seed(0)
        network = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
        network.append(torch.nn.Linear(2, 2))[3].requires_grad_(True)  # never used: no gradient
        mover = make(list(network.parameters()))
        for _ in range(6):
            mover.zero_grad()
            network[:3](torch.randn(4, 7)).square().sum().backward()
            mover.step()
        return [held.detach().clone() for held in network.parameters()]

    def torchs(moving):
        return torch.optim.SGD(moving, 0.05, momentum=momentum, weight_decay=decay)

    def ours(moving):
        return Descent(moving, 0.05, momentum=momentum, decay=decay)

    assert all(torch.equal(one, other) for one, other in zip(path(ours), path(torchs), strict=True))


@pytest.mark.parametrize("part", ["momentum", "decay"])
def test_momentum_and_decay_count(part):
    def end(**settings):
        held = torch.ones(3, requires_grad=True)
        mover = Descent([held], 0.1, **({"momentum": 0.0, "decay": 0.0} | settings))
        for _ in range(3):
            mover.zero_grad()
            held.square().sum().backward()
            mover.step()
        return held.detach()

    assert not torch.equal(end(), end(**{part: 0.5}))
