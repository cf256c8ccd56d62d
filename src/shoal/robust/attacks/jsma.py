"""JSMA: change few pixels, each as far as possible, chosen pair by pair from the logits' gradients.

The value of a pair grows with how much it raises the target and lowers the other classes.
Papernot et al., "The limitations of deep learning in adversarial settings", EuroS&P 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.attacks.attack import Examples, in_parts, reached
from shoal.robust.classifier import Classifier, repeatable
from shoal.support.options import check_range
from shoal.support.progress import report

_MAX_PAIRS = 50_000_000


@dataclass(frozen=True, kw_only=True)
class JSMA:
    """The attack by saliency maps, which needs a target.

    Parameters:
        theta: How much a chosen pixel is raised; a negative value lowers it.
        share: Maximum share of pixels to change.

    >>> import torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> JSMA(share=0.5).run(network, torch.rand(3, 1, 2, 2), torch.tensor([0, 1, 1])).success.shape
    torch.Size([1, 3])
    """

    name: ClassVar[str] = "jsma"
    theta: float = 1.0
    share: float = 0.145

    def __post_init__(self) -> None:
        if not isinstance(self.theta, (int, float)) or self.theta == 0:
            raise InputError(f"theta must be a number other than 0, not {self.theta!r}")
        check_range("share", self.share, 0, 1, above=True)

    def run(
        self, model: Any, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Change pair after pair until the network predicts the target or the share is used up.

        Parameters and result are those of `Attack.run`.

        Raises:
            InputError: `targeted` is False.
        """
        if not targeted:
            raise InputError("jsma needs a target: give goals, and leave targeted=True")
        return in_parts(self._find, model, originals, goals)

    def _find(self, model: Classifier, originals: Tensor, goals: Tensor) -> Examples:
        pixels = model.spread(originals).flatten(2).clone()
        shape = (model.networks, *originals.shape)
        low, high = model.bounds
        limit = high if self.theta > 0 else low
        usable = pixels != limit
        steps = int(pixels.shape[2] * self.share / 2)
        success = torch.zeros(pixels.shape[:2], dtype=torch.bool, device=pixels.device)
        for step in range(steps + 1):
            report(self.name, step, steps + 1)
            logits, toward, others = slopes(model, pixels.view(shape), goals)
            success |= reached(logits, goals, True)
            if step == steps or bool(success.all()):
                break
            pairs, values = best_pairs(toward, others, usable, self.theta)
            active = (~success & (values > 0)).unsqueeze(2)
            if not active.any():
                break
            moved = (pixels.gather(2, pairs) + self.theta).clamp(low, high)
            moved = torch.where(active, moved, pixels.gather(2, pairs))
            pixels = pixels.scatter(2, pairs, moved)
            usable = usable & (pixels != limit)
        report(self.name, steps + 1, steps + 1)
        return Examples(originals, goals, pixels.view(shape), success, True, model.bounds)


def slopes(model: Classifier, inputs: Tensor, goals: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the logits, and the gradients of the target's logit and of the sum of the others."""
    given = inputs.detach().requires_grad_()
    with repeatable():
        logits = model.logits(given)
        wanted = logits.gather(-1, goals.expand(logits.shape[:-1]).unsqueeze(-1)).sum()
        (toward,) = torch.autograd.grad(wanted, given, retain_graph=True)
        (total,) = torch.autograd.grad(logits.sum(), given)
    return logits.detach(), toward.flatten(2), (total - toward).flatten(2)


def best_pairs(
    toward: Tensor, others: Tensor, usable: Tensor, theta: float
) -> tuple[Tensor, Tensor]:
    """Return (networks, rows, 2) the pair of highest value, and its value, 0 if none helps."""
    networks, rows, count = toward.shape
    flat = [value.reshape(-1, count) for value in (toward, others, usable)]
    size = max(1, _MAX_PAIRS // count**2)
    sign = 1 if theta > 0 else -1
    parts = [
        _best(up, down, free, sign)
        for up, down, free in zip(*(value.split(size) for value in flat), strict=True)
    ]
    pairs = torch.cat([pair for pair, _ in parts]).view(networks, rows, 2)
    return pairs, torch.cat([value for _, value in parts]).view(networks, rows)


def _best(toward: Tensor, others: Tensor, usable: Tensor, sign: int) -> tuple[Tensor, Tensor]:
    count = toward.shape[1]
    up = sign * (toward.unsqueeze(2) + toward.unsqueeze(1))  # (examples, pixels, pixels)
    down = sign * (others.unsqueeze(2) + others.unsqueeze(1))
    apart = torch.ones(count, count, dtype=torch.bool, device=toward.device).triu(1)
    allowed = usable.unsqueeze(2) & usable.unsqueeze(1) & apart & (up > 0) & (down < 0)
    values, cells = torch.where(allowed, -up * down, 0.0).flatten(1).max(dim=1)
    return torch.stack([cells // count, cells % count], dim=1), values
