"""Carlini–Wagner: the smallest perturbation, in length, that the logits answer with the target.

Minimizes ‖x′ − x‖² + c · max(max_{i≠t} Z(x′)_i − Z(x′)_t, −κ) by Adam over a variable that keeps x′
inside the bounds, for a c that is searched example by example.
Carlini & Wagner, "Towards evaluating the robustness of neural networks", S&P 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from shoal.robust.attacks.attack import Examples, excess, in_parts, wide
from shoal.robust.attacks.hunt import Hunt, leads_enough
from shoal.robust.classifier import Classifier, repeatable
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report


@dataclass(frozen=True, kw_only=True)
class CarliniWagner:
    """The attack in Euclidean length.

    steps: of Adam for each constant, at most.
    searches: constants tried for each example, at most.
    rate: Adam's.
    confidence: κ, by how much the target must lead.
    constant: c to begin with, or more where the slope at the original says that it is too small.
    abort_early: whether a search ends, example by example, once the loss no longer falls.
    shorten: halvings, at the end, of the way back to the original; none if published.
    published: whether to search as published: over tanh, always from the original, all constants.
    """

    name: ClassVar[str] = "carlini-wagner"
    steps: int = 1000
    searches: int = 9
    rate: float = 0.01
    confidence: float = 0.0
    constant: float = 1e-3
    abort_early: bool = True
    shorten: int = 10
    published: bool = False

    def __post_init__(self) -> None:
        check_whole("steps", self.steps, 1)
        check_whole("searches", self.searches, 1)
        check_whole("shorten", self.shorten, 0)
        check_range("rate", self.rate, 0, above=True)
        check_range("constant", self.constant, 0, above=True)
        check_range("confidence", self.confidence, 0)

    def run(
        self, model: Any, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Search every example against its own network."""
        return in_parts(partial(self._find, targeted=targeted), model, originals, goals)

    def _find(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool
    ) -> Examples:
        with repeatable():
            hunt = Hunt(self, model, originals, goals, targeted)
            hunt.run()
            best = hunt.adversarial
            if not self.published:
                best = self._shortened(model, originals, goals, best, targeted)
        total = self.searches * self.steps
        report(self.name, total, total)
        success = hunt.squares.isfinite()
        return Examples(originals, goals, best, success, targeted, model.bounds)

    def _shortened(
        self, model: Classifier, originals: Tensor, goals: Tensor, found: Tensor, targeted: bool
    ) -> Tensor:
        """Go back toward the original as far as the goal is still met."""
        near = torch.zeros(found.shape[:2], device=found.device)
        far = torch.ones_like(near)
        best = found
        for _ in range(self.shorten):
            middle = (near + far) / 2
            tried = originals + wide(middle, found) * (found - originals)
            with torch.no_grad():
                leads = excess(model.logits(tried), goals, targeted)
            met = leads_enough(leads, self.confidence)
            near, far = torch.where(met, near, middle), torch.where(met, middle, far)
            best = torch.where(wide(met, found), tried, best)
        return best
