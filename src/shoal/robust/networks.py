"""Networks that classify pictures, and layers that run several networks in one call.

    Architecture        two convolutions and pooling, twice, then two dense layers: Table 4.1, after
                        Carlini & Wagner; and a small one for the 8 × 8 digits
    Stacked…            layers that hold the weights of several networks. Between a convolution and
                        the next flattening, networks are groups of channels: pictures are (rows,
                        networks × channels, height, width). Elsewhere, inputs are (networks, rows,
                        units)
    quick_convolution   the form of a grouped convolution that is fastest on a GPU

Grouped convolutions are fast if channels come last in memory and each group fills 16 bytes. One or
three channels do not fill them: such a layer is padded with channels of zeros or, if only its
weights are learned, computed as one matrix product per network. A training step of fifty networks
takes a quarter less time this way.

Biases start at 0, weights as in He et al., "Delving deep into rectifiers", ICCV 2015. A temperature
T makes gradients T times smaller, and networks with smaller starting weights (Glorot & Bengio,
AISTATS 2010) need several times as many steps before they start to learn. Liang, "Algorithms in
privacy & security for data analytics and machine learning", 2020; Carlini & Wagner, "Towards
evaluating the robustness of neural networks", S&P 2017.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from shoal.errors import InputError
from shoal.robust import draws
from shoal.support.options import check_range, check_whole


@dataclass(frozen=True)
class Architecture:
    """The layers of a network.

    Parameters:
        name: Name of the architecture.
        shape: Channels, height and width of a picture.
        filters: Number of filters of each 3 × 3 convolution; pooling follows every second one.
        hidden: Number of units of the fully connected layers, with dropout between them.
        classes: Number of classes.
        dropout: Share of units that dropout removes.
        padded: Whether convolutions keep height and width.

    Raises:
        InputError: An option is out of range, or pictures are too small for the convolutions.

    >>> import torch
    >>> network = Architecture("tiny", (1, 8, 8), (4, 4), (16,)).build(seed=0)
    >>> network(torch.rand(3, 1, 8, 8)).shape
    torch.Size([3, 10])
    """

    name: str
    shape: tuple[int, int, int]
    filters: tuple[int, ...]
    hidden: tuple[int, ...]
    classes: int = 10
    dropout: float = 0.5
    padded: bool = False

    def __post_init__(self) -> None:
        if len(self.shape) != 3:
            raise InputError(f"shape must be channels, height and width, not {self.shape!r}")
        for name in ("shape", "filters", "hidden"):
            for value in getattr(self, name):
                check_whole(name, value, 1)
        check_whole("classes", self.classes, 2)
        check_range("dropout", self.dropout, 0, 1)
        if self.dropout == 1:
            raise InputError("dropout must be less than 1; at 1 nothing is left to learn from")
        if min(self._sides()) < 1:
            raise InputError(
                f"pictures of {self.shape[1]} × {self.shape[2]} are too small for "
                f"{len(self.filters)} convolutions with pooling after every second one"
            )

    def _sides(self) -> list[int]:
        """Return the height and width after all convolutions and pools."""
        sides = list(self.shape[1:])
        for index in range(len(self.filters)):
            sides = [side if self.padded else side - 2 for side in sides]
            if index % 2:
                sides = [side // 2 for side in sides]
        return sides

    def build(self, seed: int) -> nn.Sequential:
        """Return the network with its starting weights."""
        return seeded(self._build, seed)

    def _build(self) -> nn.Sequential:
        layers: list[nn.Module] = []
        channels = self.shape[0]
        for index, filters in enumerate(self.filters):
            layers += [nn.Conv2d(channels, filters, 3, padding=int(self.padded)), nn.ReLU()]
            channels = filters
            if index % 2:
                layers.append(nn.MaxPool2d(2))
        layers.append(nn.Flatten())
        units = channels * math.prod(self._sides())
        for index, hidden in enumerate(self.hidden):
            layers += [nn.Linear(units, hidden), nn.ReLU()]
            if index < len(self.hidden) - 1:
                layers.append(Dropout(self.dropout))
            units = hidden
        layers.append(nn.Linear(units, self.classes))
        network = nn.Sequential(*layers)
        for layer in network:
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")
                nn.init.zeros_(layer.bias)
        return network

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Architecture:
        """Return the architecture that `to_dict` describes."""
        lists = {name: tuple(fields[name]) for name in ("shape", "filters", "hidden")}
        return cls(**{**fields, **lists})


MNIST = Architecture("mnist", (1, 28, 28), (32, 32, 32, 32), (200, 200))
CIFAR10 = Architecture("cifar10", (3, 32, 32), (64, 64, 64, 64), (256, 256))
DIGITS = Architecture("digits", (1, 8, 8), (8, 8, 16, 16), (64, 64), padded=True)
ARCHITECTURES = {each.name: each for each in (MNIST, CIFAR10, DIGITS)}


class Dropout(nn.Module):  # type: ignore[misc]
    """Dropout whose draws depend only on a seed and a step.

    The training loop sets both. Outside training, inputs pass unchanged.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        for name in ("seed", "step"):
            self.register_buffer(name, torch.zeros((), dtype=torch.int64), persistent=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """Drop units of (rows, …) inputs, or of (networks, rows, …) with a seed per network."""
        if not self.training or self.share == 0:
            return inputs
        count = inputs[0].numel() if self.seed.ndim else inputs.numel()
        drawn = draws.uniforms(self.seed, self.step, count=count).view(inputs.shape)
        return inputs * (drawn >= self.share).to(inputs.dtype) / (1 - self.share)

    def extra_repr(self) -> str:
        """Return the share, for the repr."""
        return f"share={self.share}"


def seeded(build: Callable[[], nn.Module], seed: int) -> Any:
    """Build a network with torch's own generator at a seed, and restore the generator."""
    kept = torch.default_generator.get_state()
    try:
        torch.default_generator.manual_seed(seed)
        return build()
    finally:
        torch.default_generator.set_state(kept)


def with_own_dropout(network: nn.Module) -> nn.Module:
    """Replace every `nn.Dropout` in the network with one whose draws are reproducible."""
    for name, child in network.named_children():
        if isinstance(child, nn.Dropout):
            setattr(network, name, Dropout(child.p))
        else:
            with_own_dropout(child)
    return network


_ALIGNED = 16  # bytes
_FEW_CHANNELS = 4  # maximum for which all patches fit into memory


def quick_convolution(
    pictures: Tensor, weight: Tensor, bias: Tensor | None, *, first: bool, **options: Any
) -> Tensor:
    """Convolve in the form that is fastest on a GPU.

    weight: (networks, filters, channels, height, width).
    options: stride, padding and dilation of `nn.Conv2d`.
    """
    if not first:
        return grouped(pictures, weight, bias, **options)
    if torch.is_autocast_enabled("cuda"):  # before pixels are copied into patches
        pictures = pictures.to(torch.get_autocast_dtype("cuda"))
    few = pictures.shape[2] <= _FEW_CHANNELS
    if few and not pictures.requires_grad and weight.requires_grad and torch.is_grad_enabled():
        return as_products(pictures, weight, bias, **options)
    return filled_up(pictures, weight, bias, **options)


def grouped(pictures: Tensor, weight: Tensor, bias: Tensor | None, **options: Any) -> Tensor:
    """Convolve by groups, with channels last in memory."""
    pictures = pictures.contiguous(memory_format=torch.channels_last)
    filters = weight.flatten(0, 1).contiguous(memory_format=torch.channels_last)
    biases = None if bias is None else bias.flatten()
    return functional.conv2d(pictures, filters, biases, groups=len(weight), **options)


def filled_up(pictures: Tensor, weight: Tensor, bias: Tensor | None, **options: Any) -> Tensor:
    """Convolve by groups, with channels of zeros up to 16 bytes per network."""
    padding = -pictures.shape[2] % (_ALIGNED // pictures.element_size())
    last = functional.pad(pictures.permute(1, 3, 4, 0, 2), (0, padding))
    joined = last.flatten(3).permute(0, 3, 1, 2)  # (rows, networks × channels, height, width)
    return grouped(joined, functional.pad(weight, (0, 0, 0, 0, 0, padding)), bias, **options)


def as_products(
    pictures: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    *,
    stride: Sequence[int],
    padding: Sequence[int] | str,
    dilation: Sequence[int],
) -> Tensor:
    """Convolve by one matrix product per network, of its patches and its filters."""
    seen = _seen(pictures, weight.shape[-2:], stride, padding, dilation)
    taps, used = len(seen), len(seen) * pictures.shape[2]
    more = -used % _ALIGNED
    # (networks, channels × taps and filling, rows, height, width), filled one tap at a time
    patches = pictures.new_zeros(len(weight), used + more, *seen[0].shape[2:])
    for index, pixels in enumerate(seen):
        patches[:, index:used:taps] = pixels
    columns = patches.flatten(2).transpose(1, 2)  # (networks, positions, channels × taps)
    filters = functional.pad(weight.flatten(2), (0, more)).transpose(1, 2)
    if bias is None:
        products = torch.bmm(columns, filters)
    else:
        products = torch.baddbmm(bias.unsqueeze(1), columns, filters)
    products = products.unflatten(1, patches.shape[2:])  # (networks, rows, height, width, filters)
    return products.permute(1, 2, 3, 0, 4).flatten(3).permute(0, 3, 1, 2)


def _seen(
    pictures: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int] | str,
    dilation: Sequence[int],
) -> list[Tensor]:
    """Return, for each tap of a filter, (networks, channels, rows, height, width) its pixels."""
    spans = [gap * (taps - 1) for gap, taps in zip(dilation, size, strict=True)]
    above, beside = _edges(padding, spans)
    padded = functional.pad(pictures.transpose(1, 2), (*beside, *above))
    height, width = (side - span for side, span in zip(padded.shape[-2:], spans, strict=True))
    corners = [
        (row * dilation[0], column * dilation[1])
        for row in range(size[0])
        for column in range(size[1])
    ]
    return [
        padded[..., top : top + height : stride[0], left : left + width : stride[1]]
        for top, left in corners
    ]


def _edges(padding: Sequence[int] | str, spans: Sequence[int]) -> list[tuple[int, int]]:
    """Return the padding before and after, in pixels, of the height and of the width."""
    if padding == "same":
        return [(span // 2, span - span // 2) for span in spans]
    if isinstance(padding, str):
        return [(0, 0), (0, 0)]
    return [(each, each) for each in padding]


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
    # folded: whether networks are groups of channels here, from the first convolution to flattening
    folded = False
    stacked: list[nn.Module] = []
    for layers in zip(*networks, strict=True):  # one architecture, so the numbers are equal
        layer = layers[0]
        if type(layer) is nn.Conv2d and layer.groups == 1 and layer.padding_mode == "zeros":
            stacked.append(StackedConv2d(layers, first=not folded))
            folded = True
        # folded pictures have no axis of networks, which linear layers and dropout need
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
