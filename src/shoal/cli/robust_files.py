"""Files of `shoal robust`: pictures with labels to start from, and adversarial examples found."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, OutputError

if TYPE_CHECKING:
    from torch import Tensor

    from shoal.robust import Examples

_FORMAT = "shoal-examples-1"


@dataclass(frozen=True)
class Kept:
    """Examples with the labels of their originals, the rows they are of, and how they were made."""

    examples: Examples
    labels: Tensor
    samples: Tensor
    told: dict[str, Any]


def read_pictures(data: str) -> tuple[Tensor, Tensor]:
    """Return (rows, channels, height, width) pixels from 0 to 1, and (rows,) labels."""
    import torch

    images, labels = _digits() if data == "digits" else _arrays(Path(data))
    if images.ndim == 3:
        images = images[:, np.newaxis]
    if images.ndim != 4 or labels.shape != (len(images),) or not len(images):
        raise InputError(
            f"{data}: images must be (rows, height, width) or (rows, channels, height, width), "
            "with one label a row"
        )
    told = f"{data}: pixels must be bytes, or numbers from 0 to 1"
    if images.dtype.kind not in "buif" or not images.size:
        raise InputError(told)
    pixels = images / np.float32(255) if images.dtype == np.uint8 else images.astype(np.float32)
    if not (pixels.min() >= 0 and pixels.max() <= 1):
        raise InputError(told)
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() > np.iinfo(np.int64).max:
        raise InputError(f"{data}: labels must be whole numbers from 0 up")
    return torch.from_numpy(pixels.astype(np.float32)), torch.from_numpy(labels.astype(np.int64))


def held_back(rows: int, share: float) -> int:
    """Return how many rows are learned from; those after them are for tests and attacks."""
    if not 0 <= share < 1:
        raise InputError(f"held must be from 0 up to but without 1, not {share:g}")
    return rows - int(rows * share)


def save_examples(path: Path, kept: Kept, *, force: bool) -> None:
    """Write examples as safetensors."""
    from shoal.robust.ensemble import write_tensors

    found = kept.examples
    tensors = {
        "originals": found.originals,
        "goals": found.goals,
        "adversarial": found.adversarial,
        "success": found.success,
        "labels": kept.labels,
        "samples": kept.samples,
    }
    write_tensors(path, tensors, {"format": _FORMAT, **kept.told}, force=force)


def load_examples(path: Path) -> Kept:
    """Read what `save_examples` wrote."""
    from shoal.robust import Examples
    from shoal.robust.ensemble import read_tensors

    tensors, told = read_tensors(path)
    if told.pop("format", None) != _FORMAT:
        raise InputError(f"{path}: not adversarial examples that Shoal saved")
    labels, samples = tensors.pop("labels"), tensors.pop("samples")
    return Kept(Examples(**tensors), labels, samples, told)


def check_safetensors(path: Path, *, force: bool) -> None:
    """Refuse early a name that would mislead, or cannot be written."""
    from shoal.core.files import check_writable

    if path.suffix != ".safetensors":
        raise OutputError(f"{path}: end the name in .safetensors")
    check_writable(path, force=force)


def _digits() -> tuple[Any, Any]:
    from sklearn.datasets import load_digits

    found = load_digits()
    return found.images.astype(np.float32) / 16, found.target


def _arrays(path: Path) -> tuple[Any, Any]:
    """Read an .npz without letting it run code."""
    from zipfile import BadZipFile

    from shoal.core.files import check_readable

    if path.suffix != ".npz":
        raise InputError(f"{path}: pictures come as digits, or from an .npz file")
    check_readable(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as opened:
            return opened["images"], opened["labels"]
    except KeyError:
        raise InputError(f"{path}: must hold two arrays, images and labels") from None
    except (ValueError, OSError, EOFError, BadZipFile, zlib.error):
        raise InputError(f"{path}: not an .npz file of plain arrays, or a damaged one") from None
