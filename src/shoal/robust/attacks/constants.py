"""The search for the constant that weighs the penalty against the length, example by example."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

MAX_CONSTANT = 1e10


class Constants(NamedTuple):
    """Constants that grow tenfold until an attack succeeds, and are then searched by bisection.

    now: (networks, rows) the constants to try next.
    lower: (networks, rows) the last constant that failed, 0 if none has.
    upper: (networks, rows) the last constant that succeeded, infinite if none has.
    """

    now: Tensor
    lower: Tensor
    upper: Tensor

    @classmethod
    def start(cls, first: Tensor) -> Constants:
        """Return the search before any constant is tried."""
        return cls(first, torch.zeros_like(first), torch.full_like(first, torch.inf))

    def after(self, met: Tensor, *, forgiving: bool = False) -> Constants:
        """Return the search after one attack.

        met: (networks, rows) whether the attack met its goal with the constant `now`.
        forgiving: ignore failures before the first success, which may be due to a bad starting
            point; constants then fall tenfold until one fails.
        """
        first = met & self.upper.isinf()
        upper = torch.where(met, self.now, self.upper)
        lower = torch.where(met, self.lower, self.now)
        smaller = (lower + upper) / 2
        if forgiving:
            lower = torch.where(first, 0.0, lower)
            smaller = torch.where(lower > 0, (lower + upper) / 2, upper / 10)
        larger = (self.now * 10).clamp(max=MAX_CONSTANT)
        return Constants(torch.where(upper.isfinite(), smaller, larger), lower, upper)
