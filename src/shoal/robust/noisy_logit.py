"""Noisy Logit: every query is answered from a noisy copy of its input.

Averaging does not recover the clean answer exactly, because networks are not linear, but many
queries come close (`Expectation`). An attacker with a copy of the network is not hindered at all.
Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, §4.2.2.
"""

from __future__ import annotations

import os
import secrets
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.classifier import Classifier, Intake, as_classifier
from shoal.robust.noise import check_noise

_HIDDEN: WeakKeyDictionary[NoisyLogit, tuple[Classifier, Noise]]  # not reachable by attributes


class Noise:
    """A stream of noise that never repeats.

    scale: Laplace's b, the normal's standard deviation, or the maximum of uniform noise.
    seed: for reproducible tests and experiments; by default the system chooses.
    """

    def __init__(self, scale: float, distribution: str, seed: int | None) -> None:
        check_noise(scale, distribution)
        self.scale = float(scale)
        self.distribution = distribution
        self._seed = seed
        self._streams: dict[str, torch.Generator] = {}
        self._process = os.getpid()

    def like(self, inputs: Tensor) -> Tensor:
        """Return new noise for every number of the inputs."""
        stream = self._stream(inputs.device)
        empty = torch.empty(inputs.shape, dtype=inputs.dtype, device=inputs.device)
        if self.distribution == "normal":
            drawn = empty.normal_(generator=stream)
        elif self.distribution == "uniform":
            drawn = empty.uniform_(-1, 1, generator=stream)
        else:  # the difference of two exponentials
            drawn = empty.exponential_(generator=stream)
            drawn -= torch.empty_like(empty).exponential_(generator=stream)
        return drawn * self.scale

    def _stream(self, device: torch.device) -> torch.Generator:
        if self._seed is None and os.getpid() != self._process:  # a fork would repeat its parent
            self._streams, self._process = {}, os.getpid()
        if str(device) not in self._streams:
            stream = torch.Generator(device=device)
            stream.manual_seed(secrets.randbits(63) if self._seed is None else self._seed)
            self._streams[str(device)] = stream
        return self._streams[str(device)]

    def __reduce__(self) -> NoReturn:
        raise InputError("noise cannot be copied: the copy would repeat the same draws")


class NoisyLogit(Classifier):
    """A model that adds noise to its inputs: z′ = F(x + g), at every layer.

    Rows, networks and queries get independent noise. No attribute of the wrapper leads to the
    wrapped model, which prevents accidental leaks but does not protect against code that runs in
    the same process. Answers have gradients, which attacks use; a service returns only numbers.

    Parameters:
        model: A torch module, several in a sequence, or a classifier.
        scale: Laplace's b, the normal's standard deviation, or the maximum of uniform noise.
        distribution: laplace, normal or uniform.
        seed: For reproducible tests and experiments only.
        bounds: Lowest and highest value of a pixel; by default the model's, or 0 and 1.

    Raises:
        InputError: The model is none, or the noise is invalid.

    >>> import torch
    >>> from torch import nn
    >>> model = NoisyLogit(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)), scale=0.1)
    >>> model, model(torch.rand(3, 1, 2, 2)).shape
    (<NoisyLogit over 1 networks, laplace(0.1)>, torch.Size([3, 2]))
    """

    def __init__(
        self,
        model: Any,
        scale: float,
        distribution: str = "laplace",
        *,
        seed: int | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        hidden = as_classifier(model, bounds=bounds)
        _HIDDEN[self] = hidden, Noise(scale, distribution, seed)
        self.scale = float(scale)
        self.distribution = distribution
        self.networks = hidden.networks
        self.alone = hidden.alone
        self.temperatures = hidden.temperatures.clone()
        self.bounds = hidden.bounds

    @property
    def width(self) -> int:
        """Number of pictures that are processed for each row."""
        return _HIDDEN[self][0].width

    @property
    def intake(self) -> Intake:
        """Device, type and shape of the pictures that the model accepts."""
        return _HIDDEN[self][0].intake

    def classes(self, inputs: Tensor) -> int:
        """Return the number of classes of the model."""
        return _HIDDEN[self][0].classes(inputs)

    def __repr__(self) -> str:
        return f"<NoisyLogit over {self.networks} networks, {self.distribution}({self.scale:g})>"

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) each network's answer to a noisy copy of its rows."""
        hidden, noise = _HIDDEN[self]
        return hidden.logits(inputs + noise.like(inputs), layer)

    def __reduce__(self) -> NoReturn:
        raise InputError("a noisy model cannot be copied or pickled; save the model it wraps")


_HIDDEN = WeakKeyDictionary()
