"""Our models for other libraries' attacks, and theirs for ours.

Foolbox and ART take torch modules: `foolbox.PyTorchModel(as_module(model), bounds=model.bounds)`,
`art.estimators.classification.PyTorchClassifier(as_module(model), ...)`. A torch module of theirs
is a network to us as it is; a function that gives probabilities comes in by `from_probabilities`.
"""

from __future__ import annotations

from collections.abc import Callable

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
            f"{model.networks} networks answer; put them to a vote (EnsembleVote) first"
        )
    return _Asked(lambda inputs: model.logits(inputs.unsqueeze(0))[0]).eval()


def from_probabilities(
    ask: Callable[[Tensor], Tensor], *, bounds: tuple[float, float] = (0.0, 1.0)
) -> Classifier:
    """Return a function of (rows, *shape) that gives probabilities as a model of their logs."""
    return Single(_Asked(lambda inputs: torch.log(ask(inputs).clamp(min=1e-30))), bounds=bounds)
