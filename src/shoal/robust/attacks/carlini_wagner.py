"""Carlini–Wagner: the shortest perturbation for which the target has the highest logit.

Minimizes ‖x′ − x‖² + c · max(max_{i≠t} Z(x′)_i − Z(x′)_t, −κ) by Adam over a variable that keeps x′
inside the bounds; c is searched example by example.
Carlini & Wagner, "Towards evaluating the robustness of neural networks", S&P 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from shoal.robust.attacks.adam_search import AdamSearch, leads_enough
from shoal.robust.attacks.attack import Examples, excess, in_parts, wide
from shoal.robust.classifier import Classifier, repeatable
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report


@dataclass(frozen=True, kw_only=True)
class CarliniWagner:
    """The attack that minimizes the Euclidean length.

    Parameters:
        steps: Maximum number of Adam steps for each constant.
        searches: Maximum number of constants to try for each example.
        rate: Learning rate of Adam.
        confidence: κ, the lead that the target's logit must have.
        constant: First value of c; increased where the gradient at the original shows that it is
            too small.
        abort_early: Whether the search of an example ends once its loss no longer falls.
        shorten: Number of bisections at the end, between the example and its original; ignored if
            `published`.
        published: Whether to search as published: with tanh, every search from the original, all
            constants.

    >>> import torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> attack = CarliniWagner(steps=5, searches=2)
    >>> attack.run(network, torch.rand(3, 1, 2, 2), torch.tensor([0, 1, 1])).success.shape
    torch.Size([1, 3])
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
        """Search an example for every row and network.

        Parameters and result are those of `Attack.run`.
        """
        return in_parts(partial(self._find, targeted=targeted), model, originals, goals)

    def _find(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool
    ) -> Examples:
        with repeatable():
            search = AdamSearch(self, model, originals, goals, targeted)
            search.run()
            best = search.adversarial
            if not self.published:
                best = self._shortened(model, originals, goals, best, targeted)
        total = self.searches * self.steps
        report(self.name, total, total)
        success = search.squares.isfinite()
        return Examples(originals, goals, best, success, targeted, model.bounds)

    def _shortened(
        self, model: Classifier, originals: Tensor, goals: Tensor, found: Tensor, targeted: bool
    ) -> Tensor:
        """Move each example toward its original as far as the goal is still met."""
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
