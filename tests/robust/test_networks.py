"""Networks are as Table 4.1 draws them, and start from their seed."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from shoal.robust import CIFAR10, DIGITS, MNIST, Architecture
from shoal.robust.networks import Dropout


def weights(network):
    return sum(value.numel() for value in network.parameters())


@pytest.mark.parametrize(
    ("made", "filters", "flat", "hidden"), [(MNIST, 32, 512, 200), (CIFAR10, 64, 1600, 256)]
)
def test_the_published_networks_have_the_published_layers(made, filters, flat, hidden):
    network = made.build(0)
    convolutions = [layer for layer in network if isinstance(layer, nn.Conv2d)]
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    assert [layer.out_channels for layer in convolutions] == [filters] * 4
    assert all(layer.kernel_size == (3, 3) for layer in convolutions)
    assert [layer.in_features for layer in linear] == [flat, hidden, hidden]
    assert sum(isinstance(layer, nn.MaxPool2d) for layer in network) == 2
    assert [layer.share for layer in network if isinstance(layer, Dropout)] == [0.5]
    assert network.eval()(torch.zeros(2, *made.shape)).shape == (2, 10)


def test_a_seed_makes_the_same_network_and_leaves_torch_alone():
    before = torch.default_generator.get_state()
    one, same, other = DIGITS.build(1), DIGITS.build(1), DIGITS.build(2)
    assert torch.equal(before, torch.default_generator.get_state())
    assert all(map(torch.equal, one.parameters(), same.parameters()))
    assert not torch.equal(one[0].weight, other[0].weight)


def test_an_architecture_comes_back_from_what_it_tells():
    assert Architecture.from_dict(CIFAR10.to_dict()) == CIFAR10
    assert weights(Architecture.from_dict(MNIST.to_dict()).build(0)) == weights(MNIST.build(0))


def test_dropout_drops_its_share_by_seed_and_step():
    layer = Dropout(0.25).train()
    ones = torch.ones(100, 400)
    first = layer(ones)
    assert torch.equal(first, layer(ones))
    assert first.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert abs(float((first == 0).float().mean()) - 0.25) < 0.01
    layer.step.fill_(1)
    assert not torch.equal(first, layer(ones))
    assert torch.equal(layer.eval()(ones), ones)
