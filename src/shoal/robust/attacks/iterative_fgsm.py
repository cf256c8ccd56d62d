"""Iterative FGSM: small signed steps, never farther from the original than epsilon.

Kurakin, Goodfellow & Bengio, "Adversarial examples in the physical world", ICLR workshop 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from shoal.robust.attacks.attack import Examples, in_parts, reached, wide
from shoal.robust.attacks.fgsm import signed_step
from shoal.robust.classifier import Classifier
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report


@dataclass(frozen=True, kw_only=True)
class IterativeFGSM:
    """Several signed steps; each example stops where it first succeeds.

    Parameters:
        epsilon: Maximum total change of each pixel.
        steps: Maximum number of steps.
        size: Size of one step; by default 2.5 · epsilon / steps, so that a step can be undone.

    >>> import torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> attack = IterativeFGSM(epsilon=0.1, steps=5)
    >>> attack.run(network, torch.rand(3, 1, 2, 2), torch.tensor([0, 1, 1])).success.shape
    torch.Size([1, 3])
    """

    name: ClassVar[str] = "iterative-fgsm"
    epsilon: float = 0.2
    steps: int = 20
    size: float | None = None

    def __post_init__(self) -> None:
        check_range("epsilon", self.epsilon, 0, above=True)
        check_whole("steps", self.steps, 1)
        if self.size is not None:
            check_range("size", self.size, 0, above=True)

    def run(
        self, model: Any, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Step until the goal is reached or steps run out.

        Parameters and result are those of `Attack.run`.
        """
        return in_parts(partial(self._find, targeted=targeted), model, originals, goals)

    def _find(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool
    ) -> Examples:
        size = 2.5 * self.epsilon / self.steps if self.size is None else self.size
        inputs = model.spread(originals).clone()
        success = torch.zeros(inputs.shape[:2], dtype=torch.bool, device=inputs.device)
        for step in range(self.steps):
            report(self.name, step, self.steps)
            moved = signed_step(model, inputs, goals, size, targeted)
            near = torch.minimum(
                torch.maximum(moved, originals - self.epsilon), originals + self.epsilon
            )
            with torch.no_grad():
                now = reached(model.logits(near), goals, targeted)
            inputs = torch.where(wide(success, inputs), inputs, near)
            success |= now
        report(self.name, self.steps, self.steps)
        return Examples(originals, goals, inputs, success, targeted, model.bounds)
