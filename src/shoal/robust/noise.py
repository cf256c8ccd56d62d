"""Noise for queries: fresh for every number of every query."""

from __future__ import annotations

import os
import secrets
from typing import NoReturn

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.noise_shapes import check_noise


class Noise:
    """A stream of noise that only goes forward.

    scale: Laplace's b, the normal's standard deviation, or the greatest size of uniform noise.
    seed: for tests and experiments, whose noise must come again; by default the system chooses.
    """

    def __init__(self, scale: float, distribution: str, seed: int | None) -> None:
        check_noise(scale, distribution)
        self.scale = float(scale)
        self.distribution = distribution
        self._seed = seed
        self._streams: dict[str, torch.Generator] = {}
        self._process = os.getpid()

    def like(self, inputs: Tensor) -> Tensor:
        """Return fresh noise for every number of the inputs."""
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
            made = torch.Generator(device=device)
            made.manual_seed(secrets.randbits(63) if self._seed is None else self._seed)
            self._streams[str(device)] = made
        return self._streams[str(device)]

    def __reduce__(self) -> NoReturn:
        raise InputError("noise cannot be copied: the copy would repeat the same draws")
