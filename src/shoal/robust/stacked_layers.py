"""Layers that hold the weights of several networks and run them in one call.

Between a convolution and the next flattening, the networks are groups of channels: pictures are
(rows, networks × channels, height, width). Elsewhere, inputs are (networks, rows, units).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn import functional

from shoal.robust.convolutions import quick_convolution
from shoal.robust.networks import Dropout

_FEW_ROWS = 32  # from this on, a CPU runs one convolution per network faster than groups
_PLAIN = (nn.ReLU, nn.Tanh, nn.Sigmoid, nn.ELU, nn.SiLU, nn.Identity)  # independent of the shape
_POOLS = (nn.MaxPool2d, nn.AvgPool2d)


class StackedConv2d(nn.Module):  # type: ignore[misc]
    """A convolution of each network; the first of a chain makes networks groups of channels."""

    def __init__(self, layers: Sequence[nn.Conv2d], *, first: bool) -> None:
        super().__init__()
        one = layers[0]
        self.weight = _stacked([layer.weight for layer in layers])
        self.bias = None if one.bias is None else _stacked([layer.bias for layer in layers])
        self.options = {name: getattr(one, name) for name in ("stride", "padding", "dilation")}
        self.first = first

    def forward(self, inputs: Tensor) -> Tensor:
        """Convolve: (rows, networks × channels, height, width) in and out."""
        networks = len(self.weight)
        if inputs.device.type == "cuda":
            given = self.weight, self.bias
            return quick_convolution(inputs, *given, first=self.first, **self.options)
        pictures = inputs.transpose(0, 1).flatten(1, 2) if self.first else inputs
        if len(pictures) >= _FEW_ROWS:
            biases = [None] * networks if self.bias is None else self.bias.unbind()
            each = zip(pictures.chunk(networks, dim=1), self.weight.unbind(), biases, strict=True)
            return torch.cat([functional.conv2d(*given, **self.options) for given in each], dim=1)
        bias = None if self.bias is None else self.bias.flatten()
        weight = self.weight.flatten(0, 1)
        return functional.conv2d(pictures, weight, bias, groups=networks, **self.options)


class StackedLinear(nn.Module):  # type: ignore[misc]
    """A fully connected layer of each network."""

    def __init__(self, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        self.weight = _stacked([layer.weight for layer in layers])
        one = layers[0]
        self.bias = None if one.bias is None else _stacked([layer.bias for layer in layers])

    def forward(self, inputs: Tensor) -> Tensor:
        """Multiply: (networks, rows, …, units) in and out."""
        flat = inputs.flatten(1, -2)
        if self.bias is None:
            products = torch.bmm(flat, self.weight.transpose(1, 2))
        else:
            products = torch.baddbmm(self.bias.unsqueeze(1), flat, self.weight.transpose(1, 2))
        return products.view(*inputs.shape[:-1], self.weight.shape[1])


class StackedFlatten(nn.Module):  # type: ignore[misc]
    """Flattening: from (rows, networks × channels, …) to (networks, rows, units)."""

    def __init__(self, networks: int, *, folded: bool) -> None:
        super().__init__()
        self.networks = networks
        self.folded = folded

    def forward(self, inputs: Tensor) -> Tensor:
        """Flatten the features of each row and network."""
        return (unfolded(inputs, self.networks) if self.folded else inputs).flatten(2)


def pools_first(parts: Sequence[nn.Module]) -> list[nn.Module]:
    """Return layers with every ReLU moved behind the max pooling that follows it.

    Outputs and gradients stay the same at a quarter of the cost.
    """
    ordered = list(parts)
    for index in range(len(ordered) - 1):
        if type(ordered[index]) is nn.ReLU and type(ordered[index + 1]) is nn.MaxPool2d:
            ordered[index : index + 2] = reversed(ordered[index : index + 2])
    return ordered


def unfolded(pictures: Tensor, networks: int) -> Tensor:
    """Return grouped pictures as (networks, rows, channels, height, width)."""
    return pictures.unflatten(1, (networks, -1)).transpose(0, 1)


def stacked_layers(networks: Sequence[nn.Module]) -> nn.Sequential | None:
    """Return stacked layers of all networks, None if a layer has no stacked form."""
    if not all(type(network) is nn.Sequential for network in networks):
        return None
    folded = False
    stacked: list[nn.Module] = []
    for layers in zip(*networks, strict=True):  # one architecture, so the numbers are equal
        layer = layers[0]
        if type(layer) is nn.Conv2d and layer.groups == 1 and layer.padding_mode == "zeros":
            stacked.append(StackedConv2d(layers, first=not folded))
            folded = True
        elif type(layer) is nn.Linear and not folded:
            stacked.append(StackedLinear(layers))
        elif type(layer) is nn.Flatten and (layer.start_dim, layer.end_dim) == (1, -1):
            stacked.append(StackedFlatten(len(networks), folded=folded))
            folded = False
        elif isinstance(layer, Dropout | nn.Dropout) and not folded:
            stacked.append(Dropout(layer.share if isinstance(layer, Dropout) else layer.p))
        elif type(layer) in _PLAIN or (type(layer) in _POOLS and folded):
            stacked.append(deepcopy(layer))
        else:
            return None
    names = [name for name, _ in networks[0].named_children()]
    return None if folded else nn.Sequential(OrderedDict(zip(names, stacked, strict=True)))


def _stacked(values: Sequence[Tensor]) -> nn.Parameter:
    return nn.Parameter(torch.stack([value.detach() for value in values]))
