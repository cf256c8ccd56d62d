"""The search for the constant between length and penalty, example by example."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

GREATEST = 1e10  # no constant goes beyond


class Constants(NamedTuple):
    """Constants that grow tenfold until an attack succeeds, and are halved between then on.

    now: (networks, rows) those to be tried next.
    lower, upper: the last constant that failed, 0 if none, and that succeeded, infinite if none.
    """

    now: Tensor
    lower: Tensor
    upper: Tensor

    @classmethod
    def beginning(cls, first: Tensor) -> Constants:
        """Return the search that has tried nothing yet."""
        return cls(first, torch.zeros_like(first), torch.full_like(first, torch.inf))

    def after(self, met: Tensor, *, forgiving: bool = False) -> Constants:
        """Go on after an attack that met its goal where this says so.

        forgiving: failures before the first success do not count, as they may have been for want of
        a good start; from there constants fall tenfold until one fails.
        """
        new = met & self.upper.isinf()
        upper = torch.where(met, self.now, self.upper)
        lower = torch.where(met, self.lower, self.now)
        fallen = (lower + upper) / 2
        if forgiving:
            lower = torch.where(new, 0.0, lower)
            fallen = torch.where(lower > 0, (lower + upper) / 2, upper / 10)
        grown = (self.now * 10).clamp(max=GREATEST)
        return Constants(torch.where(upper.isfinite(), fallen, grown), lower, upper)
