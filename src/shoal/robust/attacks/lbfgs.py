"""L-BFGS: the first published attack, a quasi-Newton search inside the bounds.

Minimizes ‖x′ − x‖² + c · loss(x′, t), for the smallest c that succeeds; the length is squared so
that it has a gradient at the start. All examples descend together, each with its own memory; steps
are projected onto the bounds (Bertsekas, "Projected Newton methods...", SIAM J. Control 1982).
Szegedy et al., "Intriguing properties of neural networks", ICLR 2014.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from shoal.robust.attacks.attack import (
    Constants,
    Examples,
    cross_entropy,
    gradient,
    in_parts,
    reached,
)
from shoal.robust.classifier import Classifier, repeatable
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report

Objective = Callable[[Tensor], Tensor]  # (networks, rows, pixels) to (networks, rows)
_MIN_DECREASE = 1e-4  # share of the predicted decrease that a step must achieve
_MIN_CURVATURE = 1e-10  # steps with less curvature are ignored


@dataclass(frozen=True, kw_only=True)
class LBFGS:
    """The attack by box-constrained L-BFGS.

    Parameters:
        steps: Number of steps for each constant.
        searches: Number of constants to try for each example.
        constant: First value of c.
        memory: Number of past steps that estimate the curvature.

    >>> import torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> attack = LBFGS(steps=5, searches=2)
    >>> attack.run(network, torch.rand(3, 1, 2, 2), torch.tensor([0, 1, 1])).success.shape
    torch.Size([1, 3])
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
        """Descend from the original, with constants that are searched by bisection.

        Parameters and result are those of `Attack.run`.
        """
        return in_parts(partial(self._find, targeted=targeted), model, originals, goals)

    def _find(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool
    ) -> Examples:
        start = model.spread(originals).flatten(2)
        size = (model.networks, len(originals))
        constants = Constants.start(torch.full(size, self.constant, device=model.device))
        best, lengths = start.clone(), torch.full_like(constants.now, torch.inf)
        shape = (model.networks, *originals.shape)
        sign = 1 if targeted else -1
        for search in range(self.searches):
            report(self.name, search, self.searches)

            def objective(pixels: Tensor, weight: Tensor = constants.now) -> Tensor:
                loss = cross_entropy(model, model.logits(pixels.view(shape)), goals)
                return (pixels - start).square().sum(dim=2) + weight * sign * loss

            with repeatable():
                pixels = minimized(objective, start, model.bounds, self.steps, self.memory)
                with torch.no_grad():
                    met = reached(model.logits(pixels.view(shape)), goals, targeted)
            distances = (pixels - start).norm(dim=2)
            closer = met & (distances < lengths)
            lengths = torch.where(closer, distances, lengths)
            best[closer] = pixels[closer]
            constants = constants.after(met)
        report(self.name, self.searches, self.searches)
        success = lengths.isfinite()
        return Examples(originals, goals, best.view(shape), success, targeted, model.bounds)


def minimized(
    objective: Objective, start: Tensor, bounds: tuple[float, float], steps: int, memory: int
) -> Tensor:
    """Return (networks, rows, pixels) the minimum of each objective, or where the steps run out."""
    low, high = bounds
    pixels, past = start.clone(), _Memory(memory)
    values, slope = gradient(pixels, objective)
    for step in range(steps):
        # pixels at a bound whose gradient points outward are fixed in this step
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
    """Halve each step until the objective falls enough; examples where it never does stay put."""
    size = torch.ones_like(values)
    taken = pixels.clone()
    waiting = torch.ones_like(values, dtype=torch.bool)
    for _ in range(20):
        tried = (pixels + size.unsqueeze(2) * direction).clamp(*bounds)
        with torch.no_grad():
            reached_values = objective(tried)
        predicted = (slope * (tried - pixels)).sum(dim=2)
        enough = waiting & (reached_values <= values + _MIN_DECREASE * predicted)
        taken = torch.where(enough.unsqueeze(2), tried, taken)
        waiting &= ~enough
        if not waiting.any():
            break
        size = size / 2
    return taken


class _Memory:
    """The last steps of every example, and how its gradient changed in each."""

    def __init__(self, size: int) -> None:
        self.size = size
        # of each stored step: the step, the change of the gradient, and 1 / curvature or 0
        self.pairs: list[tuple[Tensor, Tensor, Tensor]] = []

    def add(self, step: Tensor, turn: Tensor) -> None:
        """Store a step; one without curvature has no effect."""
        curvature = (step * turn).sum(dim=2, keepdim=True)
        inverse = torch.where(
            curvature > _MIN_CURVATURE, 1 / curvature.clamp(min=_MIN_CURVATURE), 0.0
        )
        self.pairs = [*self.pairs, (step, turn, inverse)][-self.size :]

    def direction(self, steepest: Tensor) -> Tensor:
        """Return the steepest descent, corrected by the stored curvature (two-loop recursion)."""
        bent, shares = steepest, []
        for step, turn, inverse in reversed(self.pairs):
            share = inverse * (step * bent).sum(dim=2, keepdim=True)
            shares.append(share)
            bent = bent - share * turn
        scale = torch.ones_like(steepest[..., :1])
        for _, turn, inverse in self.pairs:  # the last step with curvature sets the scale
            length = turn.square().sum(dim=2, keepdim=True)
            scale = torch.where(inverse > 0, 1 / (inverse * length).clamp(min=1e-12), scale)
        bent = bent * scale
        for (step, turn, inverse), share in zip(self.pairs, reversed(shares), strict=True):
            bent = bent + step * (share - inverse * (turn * bent).sum(dim=2, keepdim=True))
        return bent
