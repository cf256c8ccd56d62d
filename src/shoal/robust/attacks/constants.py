"""The search for the constant between length and penalty, example by example."""

from __future__ import annotations

import torch
from torch import Tensor

_GREATEST = 1e10  # no constant goes beyond


class Constants:
    """Constants that grow tenfold until an attack succeeds, and are halved between then on.

    now: (networks, rows) those to be tried next.
    """

    def __init__(self, first: float, size: tuple[int, int], device: torch.device) -> None:
        self.now = torch.full(size, float(first), device=device)
        self._lower = torch.zeros_like(self.now)
        self._upper = torch.full_like(self.now, torch.inf)

    def update(self, met: Tensor) -> None:
        """Go on after an attack that met its goal where this says so."""
        self._upper = torch.where(met, self.now, self._upper)
        self._lower = torch.where(met, self._lower, self.now)
        halved = (self._lower + self._upper) / 2
        grown = (self.now * 10).clamp(max=_GREATEST)
        self.now = torch.where(self._upper.isfinite(), halved, grown)
