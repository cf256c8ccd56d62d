"""Networks that classify pictures: two convolutions and pooling, twice, then two dense layers.

The networks of Table 4.1 in Liang, "Algorithms in privacy & security for data analytics and machine
learning", 2020, after Carlini & Wagner, "Towards evaluating the robustness of neural networks", S&P
2017, and a small one for the 8 × 8 digits.

Biases start at 0, weights as in He et al., "Delving deep into rectifiers", ICCV 2015. A temperature
T makes gradients T times smaller, and networks with smaller starting weights (Glorot & Bengio,
AISTATS 2010) need several times as many steps before they start to learn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

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
