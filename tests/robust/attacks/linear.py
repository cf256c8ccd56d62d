"""Networks of one linear layer, whose nearest adversarial examples can be told by hand."""

from __future__ import annotations

import torch
from torch import nn

from shoal.robust import Ensemble


def linear(weights, biases, *, shape, bounds=(0.0, 1.0)):
    """Return networks that give x · weights[n] + biases[n] for pictures of this shape."""
    networks = []
    for weight, bias in zip(weights, biases, strict=True):
        layer = nn.Linear(int(torch.tensor(shape).prod()), len(bias))
        with torch.no_grad():
            layer.weight.copy_(torch.as_tensor(weight))
            layer.bias.copy_(torch.as_tensor(bias))
        networks.append(nn.Sequential(nn.Flatten(), layer))
    return Ensemble.of(networks, bounds=bounds)


def drawn(seed, *, networks=2, classes=3, shape=(1, 2, 3)):
    """Return random networks, and pictures well inside the bounds."""
    stream = torch.Generator().manual_seed(seed)
    pixels = int(torch.tensor(shape).prod())
    weights = torch.randn(networks, classes, pixels, generator=stream)
    biases = torch.randn(networks, classes, generator=stream) * 0.2
    pictures = 0.35 + 0.3 * torch.rand(4, *shape, generator=stream)
    return linear(weights, biases, shape=shape), weights, biases, pictures
