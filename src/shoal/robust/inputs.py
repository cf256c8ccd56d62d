"""Checks of input: pictures, classes, bounds and devices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from shoal.errors import InputError

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
    found = tuple(pictures.shape[1:])
    if shape is None or found == tuple(shape):
        return
    remedy = ""
    if tuple(pictures.shape) == tuple(shape):
        remedy = "; for a single picture use images.unsqueeze(0)"
    elif found == tuple(shape[1:]) and shape[0] == 1:
        remedy = "; add the channel with images.unsqueeze(1)"
    elif found == (*shape[1:], shape[0]):
        remedy = "; move the channels first with images.movedim(-1, 1)"
    raise InputError(f"the networks take pictures of shape {tuple(shape)}, not {found}{remedy}")


def as_classes(name: str, given: Any, *, rows: int, classes: int | None = None) -> Tensor:
    """Check (rows,) classes, one per picture, and convert them to integers.

    classes: number of classes, if it is known.
    """
    found = _as_tensor(name, given)
    if found.ndim != 1:
        raise InputError(
            f"{name} must be one number per picture, not of shape {tuple(found.shape)}"
        )
    if len(found) != rows:
        raise InputError(f"{name} must be one per picture: {rows} pictures, {len(found)} {name}")
    if found.is_floating_point() or found.is_complex() or found.dtype == torch.bool:
        raise InputError(f"{name} must be whole numbers, not {_name(found.dtype)}")
    integers = found.long()
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
