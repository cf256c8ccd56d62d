"""Files of `shoal robust`: pictures with labels, and adversarial examples."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from shoal.errors import InputError, OutputError
from shoal.support.extras import requires

if TYPE_CHECKING:
    from torch import Tensor

    from shoal.robust import Examples

_FORMAT = "shoal-examples-1"
_ATTACK_FIELDS = ("method", "threat", "noise", "distribution", "vote")  # of every attack
_UNREADABLE = (  # the errors of damaged, locked or plain .npy files
    ValueError,
    TypeError,
    OSError,
    EOFError,
    RuntimeError,
    BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class Kept:
    """Examples with the labels and rows of their originals, and the attack that made them."""

    examples: Examples
    labels: Tensor
    samples: Tensor
    attack: dict[str, Any]


def read_pictures(data: str) -> tuple[Tensor, Tensor]:
    """Return (rows, channels, height, width) pixels from 0 to 1, and (rows,) labels."""
    import torch

    images, labels = _digits() if data == "digits" else _arrays(Path(data))
    if images.ndim == 3:
        images = images[:, np.newaxis]
    if images.ndim != 4 or labels.shape != (len(images),) or not len(images):
        raise InputError(
            f"{data}: images must be (rows, height, width) or (rows, channels, height, width), "
            f"with one label per row; the shapes are {images.shape} and {labels.shape}"
        )
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() > np.iinfo(np.int64).max:
        raise InputError(f"{data}: labels must be whole numbers of 0 or more, not {labels.dtype}")
    return torch.from_numpy(_pixels(data, images)), torch.from_numpy(labels.astype(np.int64))


def _pixels(data: str, images: Any) -> Any:
    """Return pixels as numbers from 0 to 1; bytes range from 0 to 255."""
    allowed = f"{data}: pixels must be bytes (uint8, 0 to 255) or numbers from 0 to 1"
    if images.dtype.kind not in "buif" or not images.size:
        raise InputError(f"{allowed}, not {images.dtype} of shape {images.shape}")
    if images.dtype == np.uint8:
        if images.max() == 1:  # black and white, which would become black and nearly black
            raise InputError(f"{data}: pixels are bytes of only 0 and 1; save them as floats")
        return images / np.float32(255)
    if not (images.min() >= 0 and images.max() <= 1):
        raise InputError(f"{allowed}; these are {images.dtype} outside that range")
    return images.astype(np.float32)


def held_back(rows: int, share: float) -> int:
    """Return the number of training rows; the rows after them are for tests and attacks."""
    if not 0 <= share < 1:
        raise InputError(f"held must be at least 0 and less than 1, not {share:g}")
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
    metadata = {"format": _FORMAT, "bounds": found.bounds, **kept.attack}
    write_tensors(path, tensors, metadata, force=force)


def load_examples(path: Path) -> Kept:
    """Read the output of `save_examples`."""
    from shoal.robust import Examples
    from shoal.robust.ensemble import read_tensors
    from shoal.robust.inputs import check_bounds

    tensors, attack = read_tensors(path, _FORMAT)
    del attack["format"]
    bounds = attack.pop("bounds", (0.0, 1.0))
    try:
        labels, samples = (tensors.pop(name) for name in ("labels", "samples"))
        found = Examples(**tensors, bounds=check_bounds(bounds))
        complete = set(_ATTACK_FIELDS) <= set(attack)
        if not complete or not len(labels) == len(samples) == len(found.goals) > 0:
            raise InputError("parts are missing")
    except (KeyError, TypeError, InputError):
        raise InputError(
            f"{path}: the adversarial examples are incomplete; run `shoal robust attack` again"
        ) from None
    return Kept(found, labels, samples, attack)


def check_safetensors(path: Path, *, force: bool) -> None:
    """Raise an error before any work if the file could not be written or has another ending."""
    from shoal.support.files import check_writable

    if path.suffix != ".safetensors":
        raise OutputError(f"{path}: the name of the file must end in .safetensors")
    check_writable(path, force=force)


def _digits() -> tuple[Any, Any]:
    with requires("learn"):
        from sklearn.datasets import load_digits

    found = load_digits()
    return found.images.astype(np.float32) / 16, found.target


def _arrays(path: Path) -> tuple[Any, Any]:
    """Read an .npz without letting it run code."""
    from shoal.support.files import check_readable

    if path.suffix != ".npz":
        raise InputError(f"{path}: pictures must be an .npz file, or digits")
    check_readable(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as opened:
            missing = {"images", "labels"} - set(opened.files)
            if missing:
                there = ", ".join(sorted(opened.files)) or "nothing"
                raise InputError(
                    f"{path}: must contain two arrays, images and labels; it contains {there}"
                )
            return np.asarray(opened["images"]), np.asarray(opened["labels"])
    except InputError:  # also a ValueError
        raise
    except MemoryError:
        raise InputError(f"{path}: the pictures do not fit in memory; save fewer") from None
    except _UNREADABLE:
        raise InputError(f"{path}: not an .npz file of plain arrays, or a damaged one") from None
