"""L-BFGS: the first published attack, by a quasi-Newton search inside the bounds.

Minimizes ‖x′ − x‖² + c · loss(x′, t), for the least c that succeeds; the length is squared, so that
there is a slope at the start. All examples descend together, each with a memory of its own: steps
are projected into the bounds (Bertsekas, "Projected Newton methods...", SIAM J. Control 1982).
Szegedy et al., "Intriguing properties of neural networks", ICLR 2014.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from shoal.robust.attacks.attack import Examples, cross_entropy, gradient, in_parts, reached
from shoal.robust.attacks.constants import Constants
from shoal.robust.classifier import Classifier, repeatable
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report

Objective = Callable[[Tensor], Tensor]  # (networks, rows, pixels) to (networks, rows)
_ENOUGH = 1e-4  # of the promised fall, for a step to be taken
_FLAT = 1e-10  # curvature that is not remembered


@dataclass(frozen=True, kw_only=True)
class LBFGS:
    """The attack by box-constrained L-BFGS.

    steps: of descent for each constant.
    searches: constants tried for each example.
    constant: c to begin with.
    memory: number of past steps that estimate the curvature.
    """

    name: ClassVar[str] = "lbfgs"
    steps: int = 50
    searches: int = 9
    constant: float = 0.1
    memory: int = 8

    def __post_init__(self) -> None:
        for name in ("steps", "searches", "memory"):
            check_whole(name, getattr(self, name), 1)
        check_range("constant", self.constant, 0, above=True)

    def run(
        self, model: Any, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Descend from the original, for constants that are searched by halving."""
        return in_parts(partial(self._find, targeted=targeted), model, originals, goals)

    def _find(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool
    ) -> Examples:
        start = model.spread(originals).flatten(2)
        size = (model.networks, len(originals))
        constants = Constants.beginning(torch.full(size, self.constant, device=model.device))
        best, lengths = start.clone(), torch.full_like(constants.now, torch.inf)
        shape = (model.networks, *originals.shape)
        sign = 1 if targeted else -1
        for search in range(self.searches):
            report(self.name, search, self.searches)

            def objective(pixels: Tensor, weight: Tensor = constants.now) -> Tensor:
                loss = cross_entropy(model, model.logits(pixels.view(shape)), goals)
                return (pixels - start).square().sum(dim=2) + weight * sign * loss

            with repeatable():
                found = minimized(objective, start, model.bounds, self.steps, self.memory)
                with torch.no_grad():
                    met = reached(model.logits(found.view(shape)), goals, targeted)
            away = (found - start).norm(dim=2)
            closer = met & (away < lengths)
            lengths = torch.where(closer, away, lengths)
            best[closer] = found[closer]
            constants = constants.after(met)
        report(self.name, self.searches, self.searches)
        found, success = best.view(shape), lengths.isfinite()
        return Examples(originals, goals, found, success, targeted, model.bounds)


def minimized(
    objective: Objective, start: Tensor, bounds: tuple[float, float], steps: int, memory: int
) -> Tensor:
    """Return (networks, rows, pixels) where each objective is least, as far as the steps lead."""
    low, high = bounds
    pixels, past = start.clone(), _Memory(memory)
    values, slope = gradient(pixels, objective)
    for step in range(steps):
        outward = ((pixels <= low) & (slope > 0)) | ((pixels >= high) & (slope < 0))
        free = (~outward).to(slope.dtype)
        steepest = -slope * free
        direction = past.direction(steepest) * free
        downhill = (direction * slope).sum(dim=2, keepdim=True) < 0
        direction = torch.where(downhill, direction, steepest)
        if step == 0:
            direction = direction / direction.norm(dim=2, keepdim=True).clamp(min=1e-12)
        moved = _line_search(objective, pixels, values, slope, direction, bounds)
        values, turned = gradient(moved, objective)
        past.add(moved - pixels, turned - slope)
        pixels, slope = moved, turned
    return pixels


def _line_search(
    objective: Objective,
    pixels: Tensor,
    values: Tensor,
    slope: Tensor,
    direction: Tensor,
    bounds: tuple[float, float],
) -> Tensor:
    """Halve each step until it falls enough; those that never do stay where they are."""
    size = torch.ones_like(values)
    taken = pixels.clone()
    waiting = torch.ones_like(values, dtype=torch.bool)
    for _ in range(20):
        tried = (pixels + size.unsqueeze(2) * direction).clamp(*bounds)
        with torch.no_grad():
            reachable = objective(tried)
        promised = (slope * (tried - pixels)).sum(dim=2)
        enough = waiting & (reachable <= values + _ENOUGH * promised)
        taken = torch.where(enough.unsqueeze(2), tried, taken)
        waiting &= ~enough
        if not waiting.any():
            break
        size = size / 2
    return taken


class _Memory:
    """The last steps and how the slope turned on them, of every example."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.pairs: list[tuple[Tensor, Tensor, Tensor]] = []  # step, turn, 1 / curvature or 0

    def add(self, step: Tensor, turn: Tensor) -> None:
        """Remember a step; one without curvature counts for nothing."""
        curvature = (step * turn).sum(dim=2, keepdim=True)
        inverse = torch.where(curvature > _FLAT, 1 / curvature.clamp(min=_FLAT), 0.0)
        self.pairs = [*self.pairs, (step, turn, inverse)][-self.most :]

    def direction(self, steepest: Tensor) -> Tensor:
        """Return the steepest descent, bent by the curvature that was met (two-loop recursion)."""
        bent, shares = steepest, []
        for step, turn, inverse in reversed(self.pairs):
            share = inverse * (step * bent).sum(dim=2, keepdim=True)
            shares.append(share)
            bent = bent - share * turn
        scale = torch.ones_like(steepest[..., :1])
        for _, turn, inverse in self.pairs:  # the last that has curvature decides
            length = turn.square().sum(dim=2, keepdim=True)
            scale = torch.where(inverse > 0, 1 / (inverse * length).clamp(min=1e-12), scale)
        bent = bent * scale
        for (step, turn, inverse), share in zip(self.pairs, reversed(shares), strict=True):
            bent = bent + step * (share - inverse * (turn * bent).sum(dim=2, keepdim=True))
        return bent
