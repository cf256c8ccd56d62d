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

    Parameters:
        epsilon: How much each pixel changes.

    >>> import torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> examples = FGSM(epsilon=0.1).run(network, torch.rand(3, 1, 2, 2), torch.tensor([0, 1, 1]))
    >>> examples.adversarial.shape
    torch.Size([1, 3, 1, 2, 2])
    """

    name: ClassVar[str] = "fgsm"
    epsilon: float = 0.2

    def __post_init__(self) -> None:
        check_range("epsilon", self.epsilon, 0, above=True)

    def run(
        self, model: Any, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Take one step toward the target, or away from the label.

        Parameters and result are those of `Attack.run`.
        """
        return in_parts(partial(self._find, targeted=targeted), model, originals, goals)

    def _find(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool
    ) -> Examples:
        adversarial = signed_step(model, model.spread(originals), goals, self.epsilon, targeted)
        with torch.no_grad():
            success = reached(model.logits(adversarial), goals, targeted)
        return Examples(originals, goals, adversarial, success, targeted, model.bounds)


def signed_step(
    model: Classifier, inputs: Tensor, goals: Tensor, size: float, targeted: bool
) -> Tensor:
    """Return (networks, rows, *shape) inputs, moved along the gradient's sign inside the bounds."""
    _, slopes = gradient(inputs, lambda x: cross_entropy(model, model.logits(x), goals))
    step = -size if targeted else size
    return (inputs + step * slopes.sign()).clamp(*model.bounds).detach()
