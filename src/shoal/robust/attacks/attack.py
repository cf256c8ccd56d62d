"""What an attack is: options with one verb, and the examples that it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.classifier import Classifier, as_classifier, repeatable, tempered
from shoal.robust.inputs import as_classes, as_pictures
from shoal.support.options import check_whole
from shoal.support.progress import part_of

_AT_ONCE = 10_000  # pictures that are climbed together: a few GB; a GPU takes few as long as many


@dataclass(frozen=True)
class Examples:
    """Adversarial examples, one for each network and row.

    originals: (rows, *shape) the pictures attacked.
    goals: (rows,) the class wanted, or, of an attack without target, the class to be left.
    adversarial: (networks, rows, *shape) what was found, the original where nothing was.
    success: (networks, rows) whether the attacked model took it for what was wanted.
    bounds: the least and the greatest value of a pixel, of the attacked model.
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
            found = tuple(getattr(self, name).shape)
            if found != shape:
                raise InputError(f"{name} must have shape {shape} like the others, not {found}")

    @property
    def distances(self) -> Tensor:
        """(networks, rows) the Euclidean length of each perturbation."""
        return (self.adversarial - self.originals).flatten(2).double().norm(dim=2)

    @property
    def perturbations(self) -> Tensor:
        """(networks, rows) ‖a − s‖ / ‖s‖, equation 4.3.1 of the thesis.

        For an original that is all 0, infinite, or 0 if nothing was changed.
        """
        sizes = self.originals.flatten(1).double().norm(dim=1)
        return torch.where(self.distances > 0, self.distances / sizes, 0.0)


Search = Callable[[Classifier, Tensor, Tensor], Examples]


class Attack(Protocol):
    """Finds pictures near the originals that a model takes for something else."""

    name: ClassVar[str]

    def run(
        self, model: Any, originals: Tensor, goals: Tensor, *, targeted: bool = True
    ) -> Examples:
        """Attack every network of the model with every row."""


def every_target(
    images: Tensor, labels: Tensor, classes: int = 10
) -> tuple[Tensor, Tensor, Tensor]:
    """Pair each picture with each class but its own.

    Returns, row by row, the position of the picture, the goal, and the true class.
    """
    check_whole("classes", classes, 2)
    truth = as_classes("labels", labels, rows=len(images), classes=classes).cpu()
    pictures = torch.arange(len(images)).repeat_interleave(classes)
    goals = torch.arange(classes).repeat(len(images))
    other = goals != truth[pictures]
    return pictures[other], goals[other], truth[pictures][other]


def in_parts(find: Search, model: Any, originals: Any, goals: Any) -> Examples:
    """Search examples of all rows, of as many at a time as there is memory for."""
    attacked, pictures, wanted = prepared(model, originals, goals)
    count = max(1, -(-len(pictures) * attacked.width // _AT_ONCE))
    found = []
    for place, rows in enumerate(torch.arange(len(pictures)).tensor_split(count)):
        with part_of(count, place):
            found.append(find(attacked, pictures[rows], wanted[rows]))
    if count == 1:
        return found[0]
    adversarial = torch.cat([part.adversarial for part in found], dim=1)
    success = torch.cat([part.success for part in found], dim=1)
    return replace(
        found[0], originals=pictures, goals=wanted, adversarial=adversarial, success=success
    )


def prepared(model: Any, originals: Any, goals: Any) -> tuple[Classifier, Tensor, Tensor]:
    """Return the model, the originals and the goals as an attack takes them, or refuse them."""
    attacked = as_classifier(model)
    pictures = as_pictures(originals, attacked.bounds, attacked.intake)
    classes = attacked.classes(pictures)
    wanted = as_classes("goals", goals, rows=len(pictures), classes=classes)
    return attacked, pictures, wanted.to(attacked.device)


def excess(logits: Tensor, goals: Tensor, targeted: bool) -> Tensor:
    """How far the answer is from what is wanted: below 0 where it is reached.

    With a target, the greatest other logit less the target's; without, the reverse for the label.
    """
    wanted = goals.expand(logits.shape[:-1]).unsqueeze(-1)
    named = logits.gather(-1, wanted).squeeze(-1)
    other = logits.scatter(-1, wanted, -torch.inf).amax(dim=-1)
    return other - named if targeted else named - other


def reached(logits: Tensor, goals: Tensor, targeted: bool) -> Tensor:
    """Return where the predicted class is the target, or no longer the label."""
    return (logits.argmax(dim=-1) == goals) == targeted


def cross_entropy(model: Classifier, logits: Tensor, goals: Tensor) -> Tensor:
    """(networks, rows) the loss that the networks learned by, each at its temperature."""
    told = tempered(logits, model.temperatures).log_softmax(dim=-1)
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
