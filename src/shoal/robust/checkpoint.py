"""Checkpoints: the state of training in a file, from which an interrupted run resumes.

Safetensors files, which contain numbers and no code. A checkpoint of other data, members or options
is rejected.
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


class Trained(Protocol):
    """Networks in training."""

    networks: Stack
    images: Tensor
    labels: Tensor
    rows: Tensor

    def momenta(self) -> dict[str, Tensor]:
        """Return the momentum of each weight, by the weight's name."""

    def load_momenta(self, momenta: dict[str, Tensor]) -> None:
        """Restore what `momenta` returned."""

    def settings(self) -> dict[str, Any]:
        """Return the settings that must be equal for training to resume."""


class Checkpoint:
    """The file with the state of one training run."""

    def __init__(self, path: Path, training: Trained) -> None:
        self.path = path
        self.training = training
        self.settings = {"format": _FORMAT, **training.settings(), "data": _digest(training)}

    def save(self, epochs: int) -> None:
        """Write the state after this number of epochs; replaces the last one."""
        tensors = {f"weight/{name}": w for name, w in self.training.networks.weights().items()}
        tensors |= {f"momentum/{name}": m for name, m in self.training.momenta().items()}
        write_tensors(self.path, tensors, {**self.settings, "epochs": epochs}, force=True)

    def resume(self) -> int:
        """Restore the state in the file, and return its epochs; 0 if there is no file.

        Raises:
            InputError: The file belongs to another training run.
        """
        if not self.path.exists():
            return 0
        tensors, settings = read_tensors(self.path, _FORMAT)
        epochs = settings.pop("epochs", 0)
        if settings != self.settings:
            other = [name for name in self.settings if settings.get(name) != self.settings[name]]
            raise InputError(
                f"{self.path}: this checkpoint belongs to another training run "
                f"({', '.join(other)} differ); remove the file, or name another"
            )
        parts: dict[str, dict[str, Tensor]] = {"weight": {}, "momentum": {}}
        for name, value in tensors.items():
            kind, _, weight = name.partition("/")
            parts.setdefault(kind, {})[weight] = value
        try:
            self.training.networks.load_weights(parts["weight"])
        except RuntimeError:
            raise InputError(
                f"{self.path}: this checkpoint belongs to networks of another architecture"
            ) from None
        self.training.load_momenta(parts["momentum"])
        return int(epochs)


def _digest(training: Trained) -> str:
    digest = sha256()
    for values in (training.images, training.labels, training.rows):
        digest.update(values.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
