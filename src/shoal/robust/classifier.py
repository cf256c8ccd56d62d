"""The common interface of models that are queried, defended and attacked, and checks of input.

    Classifier       (networks, rows, classes) logits of pictures, and what follows from them
    as_classifier    a torch network, a sequence of them, or a model of another library as one
    as_pictures, as_classes, check_…
                     pictures, classes, bounds and devices, checked once before any work

Everything behind this interface trusts its arrays.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from shoal.errors import InputError, unknown

_MAX_PICTURES = 2_000  # processed together


class Classifier(ABC):
    """Networks that classify pictures.

    `logits` gives every network its own rows; a call gives all networks the same rows.

    Attributes:
        networks: Number of networks.
        alone: Whether a call omits the axis of networks, because the model is a single network.
        temperatures: (networks,) divisor of the logits in the softmax of each network.
        bounds: Lowest and highest value of a pixel.

    >>> import torch
    >>> from torch import nn
    >>> model = as_classifier(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)))
    >>> model(torch.rand(3, 1, 2, 2)).shape, model.labels(torch.rand(3, 1, 2, 2)).shape
    (torch.Size([3, 2]), torch.Size([1, 3]))
    """

    networks: int
    alone: bool = False
    temperatures: Tensor
    bounds: tuple[float, float]

    @abstractmethod
    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) the answer of each network to its own rows.

        Parameters:
            inputs: (networks, rows, *shape) pictures; the answer has gradients with respect to
                them.
            layer: Name of an earlier layer, to return its output instead.
        """

    @property
    def intake(self) -> Intake:
        """Device, type and shape of the pictures that the networks accept."""
        return Intake(torch.device(self.temperatures.device))

    @property
    def device(self) -> torch.device:
        """The device of the networks."""
        return self.intake.device

    def classes(self, inputs: Tensor) -> int:
        """Return the number of classes, from the answers to a few of (rows, *shape) inputs."""
        with torch.no_grad():
            return int(self.logits(self.spread(inputs[:2])).shape[-1])

    def __call__(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) all networks' logits for the same (rows, *shape)."""
        answer = self.logits(self.spread(self.taken(inputs)), layer)
        return answer[0] if self.alone else answer

    def taken(self, inputs: Any) -> Tensor:
        """Check (rows, *shape) pictures and convert them for the networks."""
        return as_pictures(inputs, self.bounds, self.intake, exact=False)

    def spread(self, inputs: Tensor) -> Tensor:
        """Return (rows, *shape) as (networks, rows, *shape), the same for every network."""
        device, dtype, _ = self.intake
        given = inputs.to(device, dtype)
        return given.unsqueeze(0).expand(self.networks, *given.shape)

    @property
    def width(self) -> int:
        """Number of pictures that are processed for each row."""
        return self.networks

    def parts(self, inputs: Tensor) -> Sequence[Tensor]:
        """Split (rows, *shape) into parts that are small enough for all networks at once."""
        split: Sequence[Tensor] = inputs.split(max(1, _MAX_PICTURES // self.width))
        return split

    def probabilities(self, inputs: Tensor) -> Tensor:
        """Return (networks, rows, classes) probabilities, each network at its temperature."""
        answer = self.logits(self.spread(self.taken(inputs)))
        return tempered(answer, self.temperatures).softmax(dim=-1)

    def labels(self, inputs: Tensor) -> Tensor:
        """Return (networks, rows) the class that each network predicts for the same rows."""
        with torch.no_grad():
            parts = self.parts(self.taken(inputs))
            return torch.cat([self.logits(self.spread(part)).argmax(-1) for part in parts], dim=1)

    def accuracy(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """Return (networks,) the share of rows that each network classifies correctly.

        Raises:
            InputError: There are no pictures, or the labels do not match them.
        """
        pictures = self.taken(inputs)
        if not len(pictures):
            raise InputError("pictures is empty; give at least one picture")
        truth = as_classes("labels", labels, rows=len(pictures), classes=self.classes(pictures))
        predicted = self.labels(pictures)
        return (predicted == truth.to(predicted.device)).double().mean(dim=1)


def tempered(logits: Tensor, temperatures: Tensor) -> Tensor:
    """Return (networks, rows, classes) logits, divided by the temperature of each network."""
    return logits / temperatures.to(logits.device).view(-1, 1, 1)


class Single(Classifier):
    """One torch module as a classifier.

    Parameters:
        network: The module; takes (rows, *shape), returns (rows, classes) logits.
        bounds: Lowest and highest value of a pixel.
        temperature: Divisor of the logits in the softmax.

    Raises:
        InputError: The bounds or the temperature are invalid.

    >>> from torch import nn
    >>> Single(nn.Linear(4, 2))
    <Single network (Linear) on cpu>
    """

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
        """Device and type of the weights; a network without weights accepts any type."""
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
    """Convert a network, or a sequence of networks, to a classifier.

    Parameters:
        model: A torch module, several in a sequence, a model of foolbox or ART for torch, or a
            classifier, which is returned unchanged.
        bounds: Lowest and highest value of a pixel, by default 0 and 1. Classifiers and models of
            foolbox or ART have their own.

    Returns:
        The classifier.

    Raises:
        InputError: The model is none of these, or has other bounds.

    >>> from torch import nn
    >>> as_classifier([nn.Linear(4, 2), nn.Linear(4, 2)])
    <Ensemble of 2 networks (MappedStack) on cpu>
    """
    given = (0.0, 1.0) if bounds is None else check_bounds(bounds)
    if isinstance(model, nn.Module):
        return Single(model.eval(), bounds=given)
    if isinstance(model, Sequence) and model and all(isinstance(m, nn.Module) for m in model):
        from shoal.robust.ensemble import Ensemble

        return Ensemble.of(model, bounds=given)
    classifier = model if isinstance(model, Classifier) else _from_others(model)
    if bounds is not None and classifier.bounds != given:
        low, high = classifier.bounds
        raise InputError(f"the model already has bounds, {low:g} and {high:g}; omit bounds")
    return classifier


def _from_others(model: Any) -> Classifier:
    from shoal.robust.interop import from_others

    classifier = from_others(model)
    if classifier is None:
        raise InputError(
            f"a network must be a torch module, a sequence of modules, a foolbox or ART model for "
            f"torch, or a Shoal classifier, not {type(model).__name__}"
        )
    return classifier


def repeatable(wanted: bool = True) -> AbstractContextManager[Any]:
    """Make CUDA choose deterministic kernels in this block, or else the fastest ones."""
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


_ROUNDING = 1e-5  # share of the range by which pixels to classify may exceed the bounds


class Intake(NamedTuple):
    """Device, type and shape of the pictures that networks accept; None stands for any."""

    device: torch.device
    dtype: torch.dtype | None = None
    shape: tuple[int, ...] | None = None


def as_pictures(
    given: Any, bounds: tuple[float, float], intake: Intake, *, exact: bool = True
) -> Tensor:
    """Check (rows, *shape) pictures and convert them for networks.

    exact: whether pixels must be inside the bounds without a tolerance for rounding.
    """
    pictures = _as_tensor("pictures", given)
    low, high = bounds
    rule = f"pixels must be numbers from {low:g} to {high:g}, the bounds of the model"
    if not pictures.is_floating_point():
        remedy = "images.float() / 255" if (low, high) == (0, 1) else "images.float(), then scale"
        raise InputError(f"{rule}, not {_name(pictures.dtype)}; convert bytes with {remedy}")
    if not pictures.ndim:
        raise InputError("pictures must be (rows, channels, height, width), not a single number")
    check_shape(pictures, intake.shape)
    slack = 0.0 if exact else _ROUNDING * (high - low)
    pixels = pictures.detach()
    if not ((pixels >= low - slack) & (pixels <= high + slack)).all():  # false for NaN
        raise InputError(f"{rule}; scale them, or give the model's bounds (bounds=)")
    return pictures.to(intake.device, intake.dtype)


def check_shape(pictures: Tensor, shape: tuple[int, ...] | None) -> None:
    """Raise an error if pictures do not have the shape that the networks expect."""
    given = tuple(pictures.shape[1:])
    if shape is None or given == tuple(shape):
        return
    remedy = ""
    if tuple(pictures.shape) == tuple(shape):
        remedy = "; for a single picture use images.unsqueeze(0)"
    elif given == tuple(shape[1:]) and shape[0] == 1:
        remedy = "; add the channel with images.unsqueeze(1)"
    elif given == (*shape[1:], shape[0]):
        remedy = "; move the channels first with images.movedim(-1, 1)"
    raise InputError(f"the networks take pictures of shape {tuple(shape)}, not {given}{remedy}")


def as_classes(name: str, given: Any, *, rows: int, classes: int | None = None) -> Tensor:
    """Check (rows,) classes, one per picture, and convert them to integers.

    classes: number of classes, if it is known.
    """
    classes_given = _as_tensor(name, given)
    if classes_given.ndim != 1:
        raise InputError(
            f"{name} must be one number per picture, not of shape {tuple(classes_given.shape)}"
        )
    if len(classes_given) != rows:
        count = len(classes_given)
        raise InputError(f"{name} must be one per picture: {rows} pictures, {count} {name}")
    kind = classes_given.dtype
    if kind.is_floating_point or kind.is_complex or kind == torch.bool:
        raise InputError(f"{name} must be whole numbers, not {_name(kind)}")
    integers = classes_given.long()
    check_classes(name, integers, classes)
    return integers


def check_classes(name: str, given: Tensor, classes: int | None) -> None:
    """Raise an error if a number is not a class."""
    wrong = given < 0 if classes is None else (given < 0) | (given >= classes)
    if wrong.any():
        allowed = (
            "0 or more" if classes is None else f"from 0 to {classes - 1}, the classes of the model"
        )
        raise InputError(f"{name} must be {allowed}; {int(wrong.sum())} are not")


def check_bounds(bounds: Sequence[float]) -> tuple[float, float]:
    """Check the lowest and the highest value of a pixel and convert them to numbers."""
    try:
        low, high = (float(value) for value in bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            f"bounds must be the lowest and the highest value of a pixel, such as (0, 1), "
            f"not {bounds!r}"
        )
    return low, high


def usable_device(name: str | torch.device) -> torch.device:
    """Return a device that torch can use here."""
    try:
        return torch.device(torch.empty(0, device=name).device)
    except (RuntimeError, AssertionError, NotImplementedError):
        others = ["cuda"] if torch.cuda.is_available() else []
        usable = " and ".join(["cpu", *others])
        raise InputError(f"torch has no device {str(name)!r} here; available: {usable}") from None


@contextmanager
def answering(inputs: Tensor) -> Iterator[None]:
    """Raise an error that names the shape of pictures which the networks cannot process."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"the networks cannot process pictures of shape {tuple(inputs.shape[2:])}: {reason}"
        ) from error


def _as_tensor(name: str, given: Any) -> Tensor:
    try:
        return torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(
            f"{name} must be a tensor or an array of numbers, not {type(given).__name__}"
        ) from None


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
