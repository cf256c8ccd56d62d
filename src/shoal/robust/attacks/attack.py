"""The interface of attacks, the examples that they return, and what their searches share.

    Attack        a search for pictures near the originals that a model classifies differently
    in_parts      examples for all rows, as many at a time as fit into memory
    cross_entropy, excess, gradient
                  losses, and how far an answer is from its goal
    Constants     the constant that weighs the penalty against the length, searched for each example

Arrays are (networks, rows, *shape of a picture).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.classifier import (
    Classifier,
    as_classes,
    as_classifier,
    as_pictures,
    repeatable,
    tempered,
)
from shoal.support.options import check_whole
from shoal.support.progress import part_of

_MAX_PICTURES = 10_000  # attacked together: a few GB; a GPU takes as long for few as for many


@dataclass(frozen=True)
class Examples:
    """Adversarial examples, one for each network and row.

    Parameters:
        originals: (rows, *shape) the attacked pictures.
        goals: (rows,) the target class, or the class to avoid if the attack has no target.
        adversarial: (networks, rows, *shape) the examples; the original if none was found.
        success: (networks, rows) whether the attacked model predicts the target, or no longer the
            class to avoid.
        targeted: Whether the goals are targets.
        bounds: Lowest and highest value of a pixel, as in the attacked model.

    Raises:
        InputError: The shapes do not match.

    >>> import torch
    >>> originals, goals = torch.tensor([[3.0, 4.0]]), torch.tensor([1])
    >>> found = torch.tensor([[[3.0, 4.5]]])
    >>> Examples(originals, goals, found, torch.tensor([[True]])).perturbations
    tensor([[0.1000]], dtype=torch.float64)
    """

    originals: Tensor
    goals: Tensor
    adversarial: Tensor
    success: Tensor
    targeted: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        networks, rows = len(self.adversarial), len(self.originals)
        shapes = {
            "goals": (rows,),
            "adversarial": (networks, rows, *self.originals.shape[1:]),
            "success": (networks, rows),
        }
        for name, shape in shapes.items():
            given = tuple(getattr(self, name).shape)
            if given != shape:
                raise InputError(f"{name} must have shape {shape} like the others, not {given}")

    @property
    def distances(self) -> Tensor:
        """(networks, rows) the Euclidean length of each perturbation."""
        return (self.adversarial - self.originals).flatten(2).double().norm(dim=2)

    @property
    def perturbations(self) -> Tensor:
        """(networks, rows) ‖a − s‖ / ‖s‖, equation 4.3.1 of the thesis.

        If the original is all 0, infinite, or 0 for an example without a change.
        """
        sizes = self.originals.flatten(1).double().norm(dim=1)
        return torch.where(self.distances > 0, self.distances / sizes, 0.0)


Search = Callable[[Classifier, Tensor, Tensor], Examples]


class Attack(Protocol):
    """Searches pictures near the originals that a model classifies differently."""

    name: ClassVar[str]

    def run(
        self, model: Any, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Attack every network of the model with every row.

        Parameters:
            model: A torch module, several in a sequence, a classifier, or a model of foolbox or
                ART.
            originals: (rows, *shape) pictures to start from.
            goals: (rows,) the target of each row, or its label if there is no target.
            targeted: Whether the goals are targets; if not, classes to avoid.

        Returns:
            The examples, with the original where none was found.

        Raises:
            InputError: The originals are no pictures, or the goals no classes, of the model.
        """


def every_target(
    images: Tensor, labels: Tensor, classes: int = 10
) -> tuple[Tensor, Tensor, Tensor]:
    """Pair each picture with each class except its own.

    Parameters:
        images: (rows, *shape) the pictures.
        labels: (rows,) their true classes.
        classes: Number of classes.

    Returns:
        For each pair, the position of the picture, the goal, and the true class.

    Raises:
        InputError: The labels are no classes.

    >>> import torch
    >>> every_target(torch.rand(2, 1, 8, 8), torch.tensor([0, 2]), classes=3)
    (tensor([0, 0, 1, 1]), tensor([1, 2, 0, 1]), tensor([0, 0, 2, 2]))
    """
    check_whole("classes", classes, 2)
    truth = as_classes("labels", labels, rows=len(images), classes=classes).cpu()
    pictures = torch.arange(len(images)).repeat_interleave(classes)
    goals = torch.arange(classes).repeat(len(images))
    other = goals != truth[pictures]
    return pictures[other], goals[other], truth[pictures][other]


def in_parts(find: Search, model: Any, originals: Any, goals: Any) -> Examples:
    """Search examples for all rows, as many at a time as fit into memory."""
    attacked, pictures, targets = prepared(model, originals, goals)
    count = max(1, -(-len(pictures) * attacked.width // _MAX_PICTURES))
    parts = []
    for index, rows in enumerate(torch.arange(len(pictures)).tensor_split(count)):
        with part_of(count, index):
            parts.append(find(attacked, pictures[rows], targets[rows]))
    if count == 1:
        return parts[0]
    adversarial = torch.cat([part.adversarial for part in parts], dim=1)
    success = torch.cat([part.success for part in parts], dim=1)
    return replace(
        parts[0], originals=pictures, goals=targets, adversarial=adversarial, success=success
    )


def prepared(model: Any, originals: Any, goals: Any) -> tuple[Classifier, Tensor, Tensor]:
    """Check the model, the originals and the goals, and convert them for an attack."""
    attacked = as_classifier(model)
    pictures = as_pictures(originals, attacked.bounds, attacked.intake)
    classes = attacked.classes(pictures)
    targets = as_classes("goals", goals, rows=len(pictures), classes=classes)
    return attacked, pictures, targets.to(attacked.device)


def excess(logits: Tensor, goals: Tensor, targeted: bool) -> Tensor:
    """Return (networks, rows) how far each answer is from its goal, below 0 if it is reached.

    With a target, the highest other logit minus the target's; without, the label's logit minus the
    highest other.
    """
    wanted = goals.expand(logits.shape[:-1]).unsqueeze(-1)
    named = logits.gather(-1, wanted).squeeze(-1)
    other = logits.scatter(-1, wanted, -torch.inf).amax(dim=-1)
    return other - named if targeted else named - other


def reached(logits: Tensor, goals: Tensor, targeted: bool) -> Tensor:
    """Return (networks, rows) whether the prediction is the target, or no longer the label."""
    return (logits.argmax(dim=-1) == goals) == targeted


def cross_entropy(model: Classifier, logits: Tensor, goals: Tensor) -> Tensor:
    """Return (networks, rows) the training loss of each network, at its temperature."""
    log_shares = tempered(logits, model.temperatures).log_softmax(dim=-1)
    wanted = goals.expand(log_shares.shape[:-1]).unsqueeze(-1)
    return -log_shares.gather(-1, wanted).squeeze(-1)


def wide(values: Tensor, pictures: Tensor) -> Tensor:
    """Return (networks, rows) values with as many axes as the pictures, for broadcasting."""
    return values.view(*values.shape, *[1] * (pictures.ndim - values.ndim))


def gradient(inputs: Tensor, objective: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Return the objective of each example and its gradient with respect to the inputs."""
    given = inputs.detach().requires_grad_()
    with repeatable():
        values = objective(given)
        (slopes,) = torch.autograd.grad(values.sum(), given)
    return values.detach(), slopes


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
