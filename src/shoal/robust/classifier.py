"""What can be asked, defended and attacked: one network or several, behind one door."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from shoal.errors import InputError, unknown

_AT_ONCE = 2_000  # rows × networks that are asked in one go


class Classifier(ABC):
    """Networks that answer pictures; `logits` gives each its own rows, a call gives all the same.

    networks: how many answer.
    alone: whether a call leaves the axis of networks out: there is one, and no ensemble is meant.
    temperatures: (networks,) what the softmax of each divides its logits by.
    bounds: the least and the greatest value of a pixel.
    """

    networks: int
    alone: bool = False
    temperatures: Tensor
    bounds: tuple[float, float]

    @abstractmethod
    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) the answer of each network to its own rows.

        inputs: (networks, rows, *shape); the answer has gradients with respect to them.
        layer: the name of an earlier layer, to be given its output instead.
        """

    @property
    def device(self) -> torch.device:
        """Where the work is done."""
        return torch.device(self.temperatures.device)

    def __call__(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) what all networks answer to the same (rows, *shape)."""
        answer = self.logits(self.spread(inputs), layer)
        return answer[0] if self.alone else answer

    def spread(self, inputs: Tensor) -> Tensor:
        """Return (rows, *shape) as (networks, rows, *shape), the same for every network."""
        given = inputs.to(self.device)
        return given.unsqueeze(0).expand(self.networks, *given.shape)

    def parts(self, inputs: Tensor) -> Sequence[Tensor]:
        """Return (rows, *shape) in parts, each small enough to be put to all networks at once."""
        split: Sequence[Tensor] = inputs.split(max(1, _AT_ONCE // self.networks))
        return split

    def probabilities(self, inputs: Tensor) -> Tensor:
        """Return (networks, rows, classes) the softmax of a call, each at its temperature."""
        answer = self.logits(self.spread(inputs))
        return (answer / self.temperatures.view(-1, 1, 1)).softmax(dim=-1)

    def labels(self, inputs: Tensor) -> Tensor:
        """Return (networks, rows) the class that each network gives to the same rows."""
        with torch.no_grad():
            answers = [self.logits(self.spread(part)).argmax(-1) for part in self.parts(inputs)]
            return torch.cat(answers, dim=1)

    def accuracy(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """Return (networks,) the share of rows that each network gets right."""
        return (self.labels(inputs) == labels.to(self.device)).double().mean(dim=1)


class Single(Classifier):
    """One network of any make, as it is."""

    networks = 1
    alone = True

    def __init__(
        self,
        network: nn.Module,
        *,
        bounds: tuple[float, float] = (0.0, 1.0),
        temperature: float = 1,
    ) -> None:
        self.network = network
        self.bounds = bounds
        place = next((value.device for value in network.parameters()), torch.device("cpu"))
        self.temperatures = torch.tensor([float(temperature)], device=place)

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (1, rows, classes) the network's answer."""
        if layer is None:
            answer: Tensor = self.network(inputs[0])
            return answer.unsqueeze(0)
        seen: list[Tensor] = []
        part = _part(self.network, layer)
        hook = part.register_forward_hook(lambda _m, _i, output: seen.append(output))
        try:
            self.network(inputs[0])
        finally:
            hook.remove()
        return seen[-1].unsqueeze(0)


def as_classifier(model: Any, *, bounds: tuple[float, float] = (0.0, 1.0)) -> Classifier:
    """Return a network, or several in a sequence, as a classifier; one that is, as it is.

    A model that was made for foolbox or ART brings its own bounds.
    """
    if isinstance(model, Classifier):
        return model
    if isinstance(model, nn.Module):
        return Single(model.eval(), bounds=bounds)
    if isinstance(model, Sequence) and model and all(isinstance(m, nn.Module) for m in model):
        from shoal.robust.ensemble import Ensemble

        return Ensemble.of(model, bounds=bounds)
    from shoal.robust.interop import from_others

    theirs = from_others(model)
    if theirs is None:
        raise InputError(
            f"a network must be a torch module, modules in a sequence, a model of foolbox's or "
            f"ART's for torch, or a classifier of Shoal's, not {type(model).__name__}"
        )
    return theirs


def repeatable(wanted: bool = True) -> AbstractContextManager[Any]:
    """Have CUDA take kernels that give the same each time, or else the quickest, in this block."""
    if not torch.cuda.is_available():
        return nullcontext()
    chosen = {"benchmark": not wanted, "deterministic": wanted}
    flags: AbstractContextManager[Any] = torch.backends.cudnn.flags(enabled=True, **chosen)
    return flags


def _part(network: nn.Module, layer: str) -> nn.Module:
    parts = dict(network.named_modules())
    if layer not in parts:
        raise unknown("no layer", layer, [name for name in parts if name])
    return parts[layer]
