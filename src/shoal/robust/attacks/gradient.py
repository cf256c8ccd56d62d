"""Attacks by gradients: FGSM, its iterations, saliency maps, and superimposed perturbations.

    FGSM            one step of equal size for every pixel, along the sign of the loss's gradient
    IterativeFGSM   small signed steps, never farther from the original than epsilon
    JSMA            few pixels, each as far as possible, chosen pair by pair: the value of a pair
                    grows with how much it raises the target's logit and lowers the others
    superimpose     the sum of the smallest perturbations found against single networks: a greedy
                    attack on what many networks have in common

Goodfellow, Shlens & Szegedy, "Explaining and harnessing adversarial examples", ICLR 2015; Kurakin,
Goodfellow & Bengio, "Adversarial examples in the physical world", ICLR workshop 2017; Papernot et
al., "The limitations of deep learning in adversarial settings", EuroS&P 2016; Liang, "Algorithms in
privacy & security for data analytics and machine learning", 2020, §4.3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.attacks.attack import Examples, cross_entropy, gradient, in_parts, reached, wide
from shoal.robust.classifier import Classifier, check_bounds, repeatable
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report


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
    # pixels × pixels for each example: as many examples at a time as fit into memory
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


def superimpose(
    examples: Examples, count: int, *, bounds: tuple[float, float] | None = None
) -> Examples:
    """Add the smallest perturbations of each row to its original.

    Only examples that succeeded are used. `judge` measures which networks the result misleads.

    Parameters:
        examples: Examples against several networks.
        count: Number of perturbations to add; a row with fewer successes gets those it has.
        bounds: Lowest and highest value of a pixel; by default those of the examples.

    Returns:
        One example per row, inside the bounds; `success` is whether the row has `count` successes.

    Raises:
        InputError: `count` is greater than the number of attacked networks.

    >>> import torch
    >>> found = torch.tensor([[[0.6, 0.5]], [[0.5, 0.3]]])  # (2 networks, 1 row, 2 pixels)
    >>> goals, success = torch.tensor([1]), torch.ones(2, 1, dtype=torch.bool)
    >>> examples = Examples(torch.full((1, 2), 0.5), goals, found, success)
    >>> superimpose(examples, 2).adversarial[0, 0]
    tensor([0.6000, 0.3000])
    """
    networks = len(examples.adversarial)
    check_whole("count", count, 1)
    if count > networks:
        raise InputError(
            f"count must be at most {networks}, the number of attacked networks, not {count}"
        )
    limits = examples.bounds if bounds is None else check_bounds(bounds)
    lengths = torch.where(examples.success, examples.distances, torch.inf)
    chosen = lengths.argsort(dim=0, stable=True)[:count]  # (count, rows) networks
    rows = torch.arange(chosen.shape[1], device=chosen.device).expand_as(chosen)
    used = examples.success[chosen, rows]
    changes = (examples.adversarial - examples.originals)[chosen, rows]
    added = torch.where(used.view(*used.shape, *[1] * (changes.ndim - 2)), changes, 0.0)
    adversarial = (examples.originals + added.sum(dim=0)).clamp(*limits)
    return Examples(
        examples.originals,
        examples.goals,
        adversarial.unsqueeze(0),
        used.all(dim=0, keepdim=True),
        examples.targeted,
        limits,
    )
