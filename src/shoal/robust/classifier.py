"""The common interface of models that can be queried, defended and attacked."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from shoal.errors import InputError, unknown
from shoal.robust.inputs import Intake, answering, as_classes, as_pictures, check_bounds

_AT_ONCE = 2_000  # pictures that are looked at in one go


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
    def intake(self) -> Intake:
        """How the networks take pictures."""
        return Intake(torch.device(self.temperatures.device))

    @property
    def device(self) -> torch.device:
        """Where the work is done."""
        return self.intake.device

    def classes(self, inputs: Tensor) -> int:
        """Return how many classes there are, by what is answered to a few of (rows, *shape)."""
        with torch.no_grad():
            return int(self.logits(self.spread(inputs[:2])).shape[-1])

    def __call__(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) what all networks answer to the same (rows, *shape)."""
        answer = self.logits(self.spread(self.taken(inputs)), layer)
        return answer[0] if self.alone else answer

    def taken(self, inputs: Any) -> Tensor:
        """Return (rows, *shape) pictures as the networks take them, and refuse what is none."""
        return as_pictures(inputs, self.bounds, self.intake, exact=False)

    def spread(self, inputs: Tensor) -> Tensor:
        """Return (rows, *shape) as (networks, rows, *shape), the same for every network."""
        device, dtype, _ = self.intake
        given = inputs.to(device, dtype)
        return given.unsqueeze(0).expand(self.networks, *given.shape)

    @property
    def width(self) -> int:
        """How many pictures are looked at for each row."""
        return self.networks

    def parts(self, inputs: Tensor) -> Sequence[Tensor]:
        """Return (rows, *shape) in parts, each small enough for all networks at once."""
        split: Sequence[Tensor] = inputs.split(max(1, _AT_ONCE // self.width))
        return split

    def probabilities(self, inputs: Tensor) -> Tensor:
        """Return (networks, rows, classes) the softmax of a call, each at its temperature."""
        answer = self.logits(self.spread(self.taken(inputs)))
        return tempered(answer, self.temperatures).softmax(dim=-1)

    def labels(self, inputs: Tensor) -> Tensor:
        """Return (networks, rows) the class that each network gives to the same rows."""
        with torch.no_grad():
            parts = self.parts(self.taken(inputs))
            return torch.cat([self.logits(self.spread(part)).argmax(-1) for part in parts], dim=1)

    def accuracy(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """Return (networks,) the share of rows that each network gets right."""
        pictures = self.taken(inputs)
        if not len(pictures):
            raise InputError("pictures is empty; give at least one picture")
        known = as_classes("labels", labels, rows=len(pictures), classes=self.classes(pictures))
        named = self.labels(pictures)
        return (named == known.to(named.device)).double().mean(dim=1)


def tempered(logits: Tensor, temperatures: Tensor) -> Tensor:
    """Return (networks, rows, classes) logits over the temperature of each network."""
    return logits / temperatures.to(logits.device).view(-1, 1, 1)


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
        if not 0 < temperature < math.inf:
            raise InputError(f"temperature must be a number above 0, not {temperature!r}")
        self.network = network
        self.bounds = check_bounds(bounds)
        self.temperatures = torch.tensor([float(temperature)])

    def __repr__(self) -> str:
        return f"<Single network ({type(self.network).__name__}) on {self.device}>"

    @property
    def intake(self) -> Intake:
        """Where the weights are, and of their type; a network without any takes what comes."""
        for value in self.network.parameters():
            if value.is_floating_point():
                return Intake(value.device, value.dtype)
        return super().intake

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (1, rows, classes) the network's answer."""
        if layer is None:
            with answering(inputs):
                answer: Tensor = self.network(inputs[0])
            return answer.unsqueeze(0)
        seen: list[Tensor] = []
        part = _part(self.network, layer)
        hook = part.register_forward_hook(lambda _m, _i, output: seen.append(output))
        try:
            with answering(inputs):
                self.network(inputs[0])
        finally:
            hook.remove()
        return seen[-1].unsqueeze(0)


def as_classifier(model: Any, *, bounds: tuple[float, float] | None = None) -> Classifier:
    """Return a network, or several in a sequence, as a classifier; one that is, as it is.

    bounds: of a pixel, by default 0 and 1. Classifiers, and models that were made for foolbox or
    ART, bring their own.
    """
    given = (0.0, 1.0) if bounds is None else check_bounds(bounds)
    if isinstance(model, nn.Module):
        return Single(model.eval(), bounds=given)
    if isinstance(model, Sequence) and model and all(isinstance(m, nn.Module) for m in model):
        from shoal.robust.ensemble import Ensemble

        return Ensemble.of(model, bounds=given)
    known = model if isinstance(model, Classifier) else _from_others(model)
    if bounds is not None and known.bounds != given:
        low, high = known.bounds
        raise InputError(f"the model already has bounds, {low:g} and {high:g}; omit bounds")
    return known


def _from_others(model: Any) -> Classifier:
    from shoal.robust.interop import from_others

    theirs = from_others(model)
    if theirs is None:
        raise InputError(
            f"a network must be a torch module, a sequence of modules, a foolbox or ART model for "
            f"torch, or a Shoal classifier, not {type(model).__name__}"
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
