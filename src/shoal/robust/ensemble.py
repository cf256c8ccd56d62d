"""An ensemble: networks of one make that are asked, trained, kept and loaded as one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from shoal.errors import InputError, ShoalError
from shoal.robust.classifier import Classifier
from shoal.robust.inputs import Intake, answering, check_bounds, usable_device
from shoal.robust.networks import Architecture
from shoal.robust.stack import Stack, stack
from shoal.support.files import check_readable, replace_file

_FORMAT = "shoal-ensemble-1"
_KINDS = {  # what files of a format hold
    _FORMAT: "an ensemble",
    "shoal-examples-1": "adversarial examples",
    "shoal-checkpoint-1": "a checkpoint of training",
}
_TOLD = "shoal"  # under which name a file's description stands in its metadata


class Ensemble(Classifier):
    """Trained networks, side by side.

    stack: the networks, to be asked only: their weights no longer collect gradients.
    """

    def __init__(
        self,
        networks: Stack,
        *,
        temperatures: Sequence[float] | None = None,
        bounds: tuple[float, float] = (0.0, 1.0),
        architecture: Architecture | None = None,
    ) -> None:
        self.stack = networks.eval().requires_grad_(False)
        self.networks = networks.networks
        wanted = [1.0] * self.networks if temperatures is None else list(temperatures)
        check_temperatures(wanted, self.networks)
        self.temperatures = torch.tensor(wanted, dtype=torch.float32, device=networks.device)
        self.bounds = check_bounds(bounds)
        self.architecture = architecture

    @property
    def intake(self) -> Intake:
        """Where the weights are, of their type, and of the shape that the networks are made for."""
        weight = next(self.stack.parameters(), self.temperatures)
        shape = self.architecture.shape if self.architecture else None
        return Intake(weight.device, weight.dtype, shape)

    def classes(self, inputs: Tensor) -> int:
        """Return how many classes there are."""
        return self.architecture.classes if self.architecture else super().classes(inputs)

    def __repr__(self) -> str:
        made = self.architecture.name if self.architecture else type(self.stack).__name__
        return f"<Ensemble of {self.networks} networks ({made}) on {self.device}>"

    @classmethod
    def of(cls, networks: Sequence[nn.Module], **options: Any) -> Ensemble:
        """Return networks of one make as an ensemble; the options are the constructor's."""
        return cls(stack(networks), **options)

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) the answer of each network to its own rows."""
        with answering(inputs):
            answer: Tensor = self.stack(inputs, layer)
        return answer

    def subset(self, members: Sequence[int]) -> Ensemble:
        """Return an ensemble of some of the networks, by their positions."""
        if not self.architecture:
            raise InputError("only networks with a named architecture can be extracted")
        if not all(0 <= member < self.networks for member in members):
            raise InputError(f"members must be positions from 0 to {self.networks - 1}")
        made = _empty(self.architecture.build, len(members))
        chosen = torch.as_tensor(list(members), device=self.device)
        made.load_weights({name: w[chosen] for name, w in self.stack.weights().items()})
        return Ensemble(
            made.to(self.device),
            temperatures=self.temperatures[chosen].tolist(),
            bounds=self.bounds,
            architecture=self.architecture,
        )

    def to(self, device: str | torch.device) -> Ensemble:
        """Return the ensemble with its weights on another device."""
        place = usable_device(device)
        self.stack.to(place)
        self.temperatures = self.temperatures.to(place)
        return self

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the ensemble as safetensors, which hold numbers and no code."""
        write_tensors(Path(path), self.stack.weights(), self._told(), force=force)

    def _told(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "networks": self.networks,
            "temperatures": self.temperatures.tolist(),
            "bounds": list(self.bounds),
            "architecture": self.architecture.to_dict() if self.architecture else None,
        }

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        build: Callable[[int], nn.Module] | None = None,
        device: str | torch.device = "cpu",
    ) -> Ensemble:
        """Read an ensemble that `save` wrote.

        build: makes one network, given a seed; needed for those of no named architecture.
        """
        place = usable_device(device)
        weights, told = read_tensors(Path(path), _FORMAT)
        try:
            known = Architecture.from_dict(told["architecture"]) if told["architecture"] else None
            temperatures = [float(value) for value in told["temperatures"]]
            networks, bounds = told["networks"], check_bounds(told["bounds"])
        except (KeyError, TypeError, ValueError, InputError):
            raise InputError(
                f"{path}: the file is damaged; the description of its networks is missing"
            ) from None
        if known is None and build is None:
            raise InputError(
                f"{path}: its networks have no named architecture; in Python, give build="
            )
        wrong = f"{path}: its weights do not fit this network"
        if not weights or {weight.shape[:1] for weight in weights.values()} != {(networks,)}:
            raise InputError(wrong)
        made = _empty(build or known.build, networks)  # type: ignore[union-attr]
        try:
            made.load_weights(weights)
        except RuntimeError:
            raise InputError(wrong) from None
        made = made.to(place)
        return cls(made, temperatures=temperatures, bounds=bounds, architecture=known)


def check_temperatures(temperatures: Sequence[float], networks: int) -> None:
    """Refuse temperatures that are not one number above 0 for each network."""
    if len(temperatures) != networks or not all(0 < each < math.inf for each in temperatures):
        raise InputError(f"there must be {networks} temperatures, all above 0")


def _empty(build: Callable[[int], nn.Module], networks: int) -> Stack:
    return stack([build(0)] * networks)


def write_tensors(
    path: Path, tensors: dict[str, Tensor], told: dict[str, Any], *, force: bool
) -> None:
    """Write tensors and their description atomically."""
    from safetensors.torch import save_file

    kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    with replace_file(path, force=force) as temporary:
        save_file(kept, str(temporary), metadata={_TOLD: json.dumps(told)})


def _check_form(path: Path, told: Any, form: str) -> None:
    found = told.get("format") if isinstance(told, dict) else None
    if found != form:
        other = f"; it is {_KINDS[found]}" if found in _KINDS else ""
        raise InputError(f"{path}: not {_KINDS[form]} that Shoal saved{other}")


def read_tensors(path: Path, form: str | None = None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_tensors` wrote.

    form: the format that the file must be of; others are refused unread.
    """
    from safetensors import SafetensorError, safe_open

    check_readable(path)
    try:
        with safe_open(str(path), framework="pt") as opened:
            told = json.loads((opened.metadata() or {}).get(_TOLD, "{}"))
            if form is not None:
                _check_form(path, told, form)
            return {name: opened.get_tensor(name) for name in opened.keys()}, told  # noqa: SIM118
    except ShoalError:
        raise
    except (SafetensorError, ValueError, OSError, RecursionError):
        raise InputError(f"{path}: not a safetensors file, or the file is damaged") from None
