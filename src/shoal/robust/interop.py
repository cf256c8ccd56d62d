"""Shoal's models for the attacks of other libraries, and other libraries' models for Shoal's.

Foolbox and ART accept torch modules: `foolbox.PyTorchModel(as_module(model), bounds=model.bounds)`,
`art.estimators.classification.PyTorchClassifier(as_module(model), ...)`. In the other direction,
Shoal's wrappers, attacks and `as_classifier` accept foolbox's `PyTorchModel` and ART's
`PyTorchClassifier` unchanged; `from_probabilities` converts a function that returns probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from shoal.errors import InputError
from shoal.robust.classifier import Classifier, Single


class _FunctionModule(nn.Module):  # type: ignore[misc]
    """A torch module that calls a function."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, inputs: Tensor) -> Tensor:
        """Return (rows, classes) the function's result."""
        return self._function(inputs)


def as_module(model: Classifier) -> nn.Module:
    """Convert a classifier with one answer, such as a vote, to a torch module.

    Parameters:
        model: A classifier whose `networks` is 1.

    Returns:
        A module in evaluation mode that returns (rows, classes) logits.

    Raises:
        InputError: The model has several networks.

    >>> import torch
    >>> from torch import nn
    >>> model = Single(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)))
    >>> as_module(model)(torch.rand(3, 1, 2, 2)).shape
    torch.Size([3, 2])
    """
    if model.networks != 1:
        raise InputError(
            f"the model has {model.networks} networks; combine them with EnsembleVote first"
        )
    return _FunctionModule(lambda inputs: model.logits(inputs.unsqueeze(0))[0]).eval()


def from_probabilities(
    function: Callable[[Tensor], Tensor], *, bounds: tuple[float, float] = (0.0, 1.0)
) -> Classifier:
    """Convert a function that returns probabilities to a classifier.

    Parameters:
        function: Takes (rows, *shape) pictures and returns (rows, classes) probabilities.
        bounds: Lowest and highest value of a pixel.

    Returns:
        A classifier whose logits are the logarithms of the probabilities.

    >>> import torch
    >>> model = from_probabilities(lambda rows: torch.full((len(rows), 2), 0.5))
    >>> model.probabilities(torch.rand(1, 1, 2, 2))
    tensor([[[0.5000, 0.5000]]])
    """
    return Single(
        _FunctionModule(lambda inputs: torch.log(function(inputs).clamp(min=1e-30))), bounds=bounds
    )


def from_others(model: Any) -> Classifier | None:
    """Convert a model of foolbox or ART to a classifier; return None for any other model.

    Both are recognized by their attributes, so that neither library is needed.
    """
    if callable(model) and hasattr(model, "bounds") and hasattr(model, "data_format"):  # foolbox
        low, high = model.bounds
        classifier = Single(_FunctionModule(model), bounds=(float(low), float(high)))
        classifier.temperatures = classifier.temperatures.to(model.device)
        return classifier
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

    def answer(inputs: Tensor) -> Tensor:
        for part in parts:
            inputs, _ = part.forward(inputs)
        logits: Tensor = network(inputs)
        return logits

    low, high = (float(value) for value in model.clip_values)
    classifier = Single(_FunctionModule(answer), bounds=(low, high))
    classifier.temperatures = classifier.temperatures.to(model.device)
    return classifier
