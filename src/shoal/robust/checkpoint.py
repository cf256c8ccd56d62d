"""Checkpoints: what training has reached, kept so that it can go on after a break.

Safetensors, which hold numbers and no code. What was kept for other data, members or options is
refused rather than mixed in.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from shoal.errors import InputError
from shoal.robust.ensemble import read_tensors, write_tensors
from shoal.robust.stack import Stack

_FORMAT = "shoal-checkpoint-1"


class Lesson(Protocol):
    """Networks in training."""

    made: Stack
    images: Tensor
    labels: Tensor
    rows: Tensor

    def momenta(self) -> dict[str, Tensor]:
        """Return the momentum of each weight, by the weight's name."""

    def load_momenta(self, momenta: dict[str, Tensor]) -> None:
        """Take over what `momenta` returned."""

    def told(self) -> dict[str, Any]:
        """Return the settings that must be equal for training to resume."""


class Checkpoint:
    """A file beside a lesson."""

    def __init__(self, path: Path, lesson: Lesson) -> None:
        self.path = path
        self.lesson = lesson
        self.told = {"format": _FORMAT, **lesson.told(), "data": _digest(lesson)}

    def keep(self, epochs: int) -> None:
        """Write what was reached after so many epochs, over what was there."""
        tensors = {f"weight/{name}": w for name, w in self.lesson.made.weights().items()}
        tensors |= {f"momentum/{name}": m for name, m in self.lesson.momenta().items()}
        write_tensors(self.path, tensors, {**self.told, "epochs": epochs}, force=True)

    def resume(self) -> int:
        """Take over what the file holds, if there is one, and return the epochs behind it."""
        if not self.path.exists():
            return 0
        tensors, told = read_tensors(self.path, _FORMAT)
        epochs = told.pop("epochs", 0)
        if told != self.told:
            other = [name for name in self.told if told.get(name) != self.told[name]]
            raise InputError(
                f"{self.path}: this checkpoint belongs to another training run "
                f"({', '.join(other)} differ); remove the file, or name another"
            )
        parts: dict[str, dict[str, Tensor]] = {"weight": {}, "momentum": {}}
        for name, value in tensors.items():
            kind, _, of = name.partition("/")
            parts.setdefault(kind, {})[of] = value
        try:
            self.lesson.made.load_weights(parts["weight"])
        except RuntimeError:
            raise InputError(
                f"{self.path}: this checkpoint belongs to networks of another architecture"
            ) from None
        self.lesson.load_momenta(parts["momentum"])
        return int(epochs)


def _digest(lesson: Lesson) -> str:
    found = sha256()
    for values in (lesson.images, lesson.labels, lesson.rows):
        found.update(values.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()
