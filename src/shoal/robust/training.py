"""Training: all networks of an ensemble at once, each as if it were trained alone.

Cross-entropy of softmax(logits / T) by stochastic gradient descent with momentum, the rate falling
as rate / (1 + decay · step): Table 4.2 of Liang, "Algorithms in privacy & security for data
analytics and machine learning", 2020. Starting weights, shuffles and dropout follow from a member's
own seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from shoal.errors import InputError, NotConverged
from shoal.robust import draws
from shoal.robust.checkpoint import Checkpoint
from shoal.robust.classifier import repeatable
from shoal.robust.ensemble import Ensemble
from shoal.robust.inputs import (
    Intake,
    answering,
    as_classes,
    as_pictures,
    check_bounds,
    check_classes,
    usable_device,
)
from shoal.robust.members import Member, check_members
from shoal.robust.networks import Architecture, seeded
from shoal.robust.stack import Stack, check_trainable, stack
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report

_SHUFFLE, _SHIFT = 1, 2  # the places of shuffles and shifts among a member's draws


@dataclass(frozen=True, kw_only=True)
class Training:
    """How networks learn.

    precision: float32, or bfloat16 for the products, which a GPU does in half the time.
    every: epochs between checkpoints.
    repeatable: whether CUDA must take kernels that give the same each time; if not, the quickest.
    shift: maximum number of pixels by which a picture is moved, in any direction, drawn again each
    time it is seen; 0 is as published.
    """

    epochs: int = 3000
    batch: int = 128
    rate: float = 0.01
    decay: float = 1e-6
    momentum: float = 0.9
    precision: str = "float32"
    every: int = 100
    repeatable: bool = True
    shift: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "every"):
            check_whole(name, getattr(self, name), 1)
        check_whole("shift", self.shift, 0)
        check_range("rate", self.rate, 0, above=True)
        check_range("decay", self.decay, 0)
        check_range("momentum", self.momentum, 0, 1)
        if self.precision not in ("float32", "bfloat16"):
            raise InputError(f"precision must be float32 or bfloat16, not {self.precision!r}")


def train(
    network: Architecture | Callable[[], nn.Module],
    images: Tensor,
    labels: Tensor,
    members: Sequence[Member],
    training: Training | None = None,
    *,
    device: str | torch.device = "cpu",
    checkpoint: str | Path | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Ensemble:
    """Train all members and return them as an ensemble.

    network: an architecture, or what makes a network of any kind.
    checkpoint: a file that keeps what was reached; training goes on from it where it is there.
    """
    if isinstance(network, nn.Module) or not callable(getattr(network, "build", network)):
        raise InputError(
            "network must be an architecture or a function that returns a new network for each "
            f"member, such as lambda: nn.Sequential(...), not {type(network).__name__}"
        )
    training = training or Training()
    bounds, place = check_bounds(bounds), usable_device(device)
    check_members(members, len(images))
    made = stack([_build(network, member.seed) for member in members]).to(place)
    check_trainable(made)
    known = network if isinstance(network, Architecture) else None
    intake = Intake(place, next(made.parameters()).dtype, known.shape if known else None)
    pictures = as_pictures(images, bounds, intake)
    if training.shift and pictures.ndim != 4:
        raise InputError("shift needs pictures of shape (rows, channels, height, width)")
    classes = known.classes if known else None
    truth = as_classes("labels", labels, rows=len(pictures), classes=classes)
    lesson = _Lesson(made, pictures, truth.to(place), members, training)
    kept = Checkpoint(Path(checkpoint), lesson) if checkpoint else None
    done = kept.resume() if kept else 0
    if done > training.epochs:
        raise InputError(
            f"{checkpoint}: already contains {done} epochs, more than epochs = {training.epochs}"
        )
    with repeatable(training.repeatable):
        for epoch in range(done, training.epochs):
            report("training", epoch, training.epochs)
            lesson.learn(epoch)
            if kept and ((epoch + 1) % training.every == 0 or epoch + 1 == training.epochs):
                kept.keep(epoch + 1)
    report("training", training.epochs, training.epochs)
    _check_finite(made)
    return Ensemble(
        made,
        temperatures=[member.temperature for member in members],
        bounds=bounds,
        architecture=known,
    )


def _build(network: Architecture | Callable[[], nn.Module], seed: int) -> nn.Module:
    made: nn.Module = (
        network.build(seed) if isinstance(network, Architecture) else seeded(network, seed)
    )
    return made


def shifted(pictures: Tensor, seeds: Tensor, step: int, most: int) -> Tensor:
    """Move each of (networks, rows, channels, height, width) by up to so many pixels.

    What moves in from outside is the picture's edge.
    """
    networks, rows, _, *size = pictures.shape
    moves = draws.uniforms(seeds, _SHIFT, step, count=2 * rows).view(networks, rows, 2)
    offsets = (moves * (2 * most + 1)).long() - most  # (networks, rows, 2)
    places = [
        (torch.arange(length, device=seeds.device) + offsets[..., axis, None]).clamp(0, length - 1)
        for axis, length in enumerate(size)
    ]
    moved = pictures.movedim(2, -1)  # (networks, rows, height, width, channels)
    net = torch.arange(networks, device=seeds.device).view(-1, 1, 1, 1)
    row = torch.arange(rows, device=seeds.device).view(1, -1, 1, 1)
    chosen = moved[net, row, places[0].unsqueeze(-1), places[1].unsqueeze(-2)]
    return chosen.movedim(-1, 2)


def _check_finite(made: Stack) -> None:
    lost = torch.zeros(made.networks, dtype=torch.bool, device=made.device)
    for values in made.parameters():
        lost |= ~values.detach().isfinite().flatten(1).all(dim=1)
    if lost.any():
        raise NotConverged(f"{int(lost.sum())} of {made.networks} networks diverged; lower `rate`")


class _Lesson:
    """Networks in training: weights, momentum, and the rows that each is to see."""

    def __init__(
        self,
        made: Stack,
        images: Tensor,
        labels: Tensor,
        members: Sequence[Member],
        training: Training,
    ) -> None:
        self.made, self.images, self.labels, self.training = made.train(), images, labels, training
        place = images.device
        self.rows = torch.stack([member.rows for member in members]).to(place)
        self.seeds = torch.tensor([member.seed for member in members], device=place)
        self.temperatures = torch.tensor(
            [float(member.temperature) for member in members], device=place
        )
        self.begun = False  # whether anything was learned here
        made.seed_dropout(self.seeds)
        self.optimizer = torch.optim.SGD(
            made.parameters(), lr=training.rate, momentum=training.momentum
        )

    def learn(self, epoch: int) -> None:
        """Go once through the rows of every member, in an order of its own."""
        size = self.rows.shape[1]
        order = draws.permutations(self.seeds, _SHUFFLE, epoch, count=size)
        batches = self.rows.gather(1, order).split(self.training.batch, dim=1)
        for place, batch in enumerate(batches):
            self._step(epoch * len(batches) + place, batch)

    def _step(self, step: int, batch: Tensor) -> None:
        """Descend once. batch: (networks, rows) positions of pictures."""
        wanted = self.training
        self.optimizer.param_groups[0]["lr"] = wanted.rate / (1 + wanted.decay * step)
        self.made.set_step(step)
        self.optimizer.zero_grad(set_to_none=True)
        half = wanted.precision == "bfloat16"
        pictures = self.images[batch]
        if wanted.shift:
            pictures = shifted(pictures, self.seeds, step, wanted.shift)
        with (
            torch.autocast(batch.device.type, dtype=torch.bfloat16, enabled=half),
            answering(pictures),
        ):
            logits = self.made(pictures)
        if not self.begun:
            check_classes("labels", self.labels, logits.shape[-1])
            self.begun = True
        scaled = logits.float() / self.temperatures.view(-1, 1, 1)
        losses = functional.cross_entropy(
            scaled.flatten(0, 1), self.labels[batch].flatten(), reduction="sum"
        )
        (losses / batch.shape[1]).backward()  # each network's own mean: sums do not mix gradients
        self.optimizer.step()

    def momenta(self) -> dict[str, Tensor]:
        """Return the momentum of each weight, by the weight's name."""
        state = self.optimizer.state
        return {
            name: state[value]["momentum_buffer"]
            for name, value in self.made.layers.named_parameters()
            if value in state and state[value].get("momentum_buffer") is not None
        }

    def load_momenta(self, momenta: dict[str, Tensor]) -> None:
        """Take over what `momenta` returned."""
        for name, value in self.made.layers.named_parameters():
            if name in momenta:
                kept = momenta[name].to(value.device)
                self.optimizer.state[value]["momentum_buffer"] = kept

    def told(self) -> dict[str, Any]:
        """Return the settings that must be equal for training to resume."""
        options = {name: getattr(self.training, name) for name in ("batch", "rate", "decay")}
        return {
            **options,
            "momentum": self.training.momentum,
            "precision": self.training.precision,
            "shift": self.training.shift,
            "seeds": self.seeds.tolist(),
            "temperatures": self.temperatures.tolist(),
        }
