"""Our models for other libraries' attacks, and theirs for ours.

Foolbox and ART take torch modules: `foolbox.PyTorchModel(as_module(model), bounds=model.bounds)`,
`art.estimators.classification.PyTorchClassifier(as_module(model), ...)`. Our wrappers take
foolbox's `PyTorchModel` and ART's `PyTorchClassifier` as they are, as does `as_classifier`, for our
attacks; a function that gives probabilities comes in by `from_probabilities`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from shoal.errors import InputError
from shoal.robust.classifier import Classifier, Single


class _Asked(nn.Module):  # type: ignore[misc]
    """A torch module that asks a function."""

    def __init__(self, ask: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._ask = ask

    def forward(self, inputs: Tensor) -> Tensor:
        """Return (rows, classes) the answer."""
        return self._ask(inputs)


def as_module(model: Classifier) -> nn.Module:
    """Return a model that answers as one, such as a vote, as a torch module that gives logits."""
    if model.networks != 1:
        raise InputError(
            f"the model has {model.networks} networks; combine them with EnsembleVote first"
        )
    return _Asked(lambda inputs: model.logits(inputs.unsqueeze(0))[0]).eval()


def from_probabilities(
    ask: Callable[[Tensor], Tensor], *, bounds: tuple[float, float] = (0.0, 1.0)
) -> Classifier:
    """Return a function of (rows, *shape) that gives probabilities as a model of their logs."""
    return Single(_Asked(lambda inputs: torch.log(ask(inputs).clamp(min=1e-30))), bounds=bounds)


def from_others(model: Any) -> Classifier | None:
    """Return a model of foolbox's or ART's as ours, None where it is neither.

    Both are known by their attributes: neither library is needed.
    """
    if callable(model) and hasattr(model, "bounds") and hasattr(model, "data_format"):  # foolbox
        low, high = model.bounds
        made = Single(_Asked(model), bounds=(float(low), float(high)))
        made.temperatures = made.temperatures.to(model.device)
        return made
    if hasattr(model, "clip_values") and isinstance(getattr(model, "model", None), nn.Module):
        return _from_art(model)
    return None


def _from_art(model: Any) -> Classifier:
    if model.clip_values is None:
        raise InputError("the classifier has no bounds; set its clip_values")
    if not all(hasattr(part, "forward") for part in model.preprocessing_operations):
        raise InputError(
            "the classifier preprocesses its inputs outside torch; use one that does not"
        )
    parts = [part for part in model.preprocessing_operations if part.apply_predict]
    network = model.model.eval()

    def ask(inputs: Tensor) -> Tensor:
        for part in parts:
            inputs, _ = part.forward(inputs)
        answer: Tensor = network(inputs)
        return answer

    low, high = (float(value) for value in model.clip_values)
    made = Single(_Asked(ask), bounds=(low, high))
    made.temperatures = made.temperatures.to(model.device)
    return made
