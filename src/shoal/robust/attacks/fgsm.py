"""FGSM: one step of equal size for every pixel, along the sign of the loss's gradient.

Goodfellow, Shlens & Szegedy, "Explaining and harnessing adversarial examples", ICLR 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from shoal.robust.attacks.attack import (
    Examples,
    cross_entropy,
    gradient,
    in_parts,
    reached,
)
from shoal.robust.classifier import Classifier
from shoal.support.options import check_range


@dataclass(frozen=True, kw_only=True)
class FGSM:
    """The fast gradient sign method.

    epsilon: what each pixel may change by.
    """

    name: ClassVar[str] = "fgsm"
    epsilon: float = 0.2

    def __post_init__(self) -> None:
        check_range("epsilon", self.epsilon, 0, above=True)

    def run(
        self, model: Any, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Step once, toward the target or away from the label."""
        return in_parts(partial(self._find, targeted=targeted), model, originals, goals)

    def _find(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool
    ) -> Examples:
        found = signed_step(model, model.spread(originals), goals, self.epsilon, targeted)
        with torch.no_grad():
            success = reached(model.logits(found), goals, targeted)
        return Examples(originals, goals, found, success, targeted, model.bounds)


def signed_step(
    model: Classifier, inputs: Tensor, goals: Tensor, size: float, targeted: bool
) -> Tensor:
    """Return (networks, rows, *shape) moved by this size along the sign, inside the bounds."""
    _, slope = gradient(inputs, lambda x: cross_entropy(model, model.logits(x), goals))
    step = -size if targeted else size
    return (inputs + step * slope.sign()).clamp(*model.bounds).detach()
