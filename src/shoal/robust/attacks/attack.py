"""What an attack is: options with one verb, and the examples that it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.classifier import Classifier, repeatable


@dataclass(frozen=True)
class Examples:
    """Adversarial examples, one for each network and row.

    originals: (rows, *shape) the pictures attacked.
    goals: (rows,) the class wanted, or, of an attack without target, the class to be left.
    adversarial: (networks, rows, *shape) what was found, the original where nothing was.
    success: (networks, rows) whether the attacked model took it for what was wanted.
    """

    originals: Tensor
    goals: Tensor
    adversarial: Tensor
    success: Tensor
    targeted: bool = True

    @property
    def distances(self) -> Tensor:
        """(networks, rows) the Euclidean length of each perturbation."""
        return (self.adversarial - self.originals).flatten(2).double().norm(dim=2)

    @property
    def perturbations(self) -> Tensor:
        """(networks, rows) ‖a − s‖ / ‖s‖, equation 4.3.1 of the thesis.

        Of an original that is all 0, endless, or 0 where nothing was changed.
        """
        sizes = self.originals.flatten(1).double().norm(dim=1)
        return torch.where(self.distances > 0, self.distances / sizes, 0.0)


class Attack(Protocol):
    """Finds pictures near the originals that a model takes for something else."""

    name: ClassVar[str]

    def run(
        self, model: Classifier, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Attack every network of the model with every row."""


def every_target(
    images: Tensor, labels: Tensor, classes: int = 10
) -> tuple[Tensor, Tensor, Tensor]:
    """Pair each picture with each class but its own.

    Returns, row by row, the position of the picture, the goal, and the true class.
    """
    pictures = torch.arange(len(images)).repeat_interleave(classes)
    goals = torch.arange(classes).repeat(len(images))
    other = goals != labels.cpu()[pictures]
    return pictures[other], goals[other], labels.cpu()[pictures][other]


def prepared(model: Classifier, originals: Tensor, goals: Tensor) -> tuple[Tensor, Tensor]:
    """Check what an attack is given: originals and goals, where the model is."""
    low, high = model.bounds
    if len(originals) != len(goals):
        raise InputError(f"there are {len(originals)} pictures and {len(goals)} goals")
    if not originals.is_floating_point():
        raise InputError(f"pixels must be numbers with a fraction, not {originals.dtype}")
    if not ((originals >= low) & (originals <= high)).all():  # bounds rounded as pixels are
        raise InputError(f"pixels must be between {low:g} and {high:g}, the bounds of the model")
    return originals.to(model.device), goals.to(model.device)


def excess(logits: Tensor, goals: Tensor, targeted: bool) -> Tensor:
    """How far the answer is from what is wanted: below 0 where it is reached.

    With a target, the greatest other logit less the target's; without, the reverse for the label.
    """
    wanted = goals.expand(logits.shape[:-1]).unsqueeze(-1)
    named = logits.gather(-1, wanted).squeeze(-1)
    other = logits.scatter(-1, wanted, -torch.inf).amax(dim=-1)
    return other - named if targeted else named - other


def reached(logits: Tensor, goals: Tensor, targeted: bool) -> Tensor:
    """Tell where the class named is the one wanted, or no longer the label."""
    return (logits.argmax(dim=-1) == goals) == targeted


def cross_entropy(model: Classifier, logits: Tensor, goals: Tensor) -> Tensor:
    """(networks, rows) the loss that the networks learned by, each at its temperature."""
    told = (logits / model.temperatures.view(-1, 1, 1)).log_softmax(dim=-1)
    wanted = goals.expand(told.shape[:-1]).unsqueeze(-1)
    return -told.gather(-1, wanted).squeeze(-1)


def wide(values: Tensor, pictures: Tensor) -> Tensor:
    """Return (networks, rows) values with as many axes as the pictures that they belong to."""
    return values.view(*values.shape, *[1] * (pictures.ndim - values.ndim))


def gradient(inputs: Tensor, objective: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Return the objective of each example and its gradient with respect to the inputs."""
    given = inputs.detach().requires_grad_()
    with repeatable():
        values = objective(given)
        (slope,) = torch.autograd.grad(values.sum(), given)
    return values.detach(), slope
