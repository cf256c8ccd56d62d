"""The pictures that robust predictions are studied on.

MNIST and CIFAR-10 as their authors ship them, and the 8 × 8 digits that come with scikit-learn.
LeCun, Bottou, Bengio & Haffner, "Gradient-based learning applied to document recognition", 1998;
Krizhevsky, "Learning multiple layers of features from tiny images", 2009.
"""

from __future__ import annotations

import gzip
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

_MNIST = {
    "train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
}
_CIFAR10 = {"train": [f"data_batch_{n}.bin" for n in range(1, 6)], "test": ["test_batch.bin"]}
_ROW = 1 + 3 * 32 * 32  # bytes: a label, then the reds, greens and blues of a picture
_DIGITS = 1_600  # rows to learn from, of 1,797
_LABELS_HEAD, _PICTURES_HEAD = 8, 16  # bytes before the values in MNIST's files


@dataclass(frozen=True)
class Images:
    """Pictures with labels: the training set and the test set.

    pictures, tests: (rows, channels, height, width), pixels from 0 to 1.
    """

    pictures: Tensor
    labels: Tensor
    tests: Tensor
    test_labels: Tensor


def read_images(data: str) -> Images:
    """Read `mnist` or `cifar10` from the folder of that name that SHOAL_DATA holds, or `digits`."""
    import torch

    read = {"mnist": _read_mnist, "cifar10": _read_cifar10, "digits": _read_digits}[data]
    found: list[Tensor] = []
    for part in ("train", "test"):
        pixels, labels, most = read(part)
        found.append(torch.from_numpy(pixels.astype(np.float32) / np.float32(most)))
        found.append(torch.from_numpy(labels.astype(np.int64)))
    return Images(*found)


def _read_mnist(part: str) -> tuple[Any, Any, int]:
    pictures, labels = (_folder("mnist") / name for name in _MNIST[part])
    pixels = _rows(_bytes(pictures)[_PICTURES_HEAD:], 28 * 28, pictures).reshape(-1, 1, 28, 28)
    named = _bytes(labels)[_LABELS_HEAD:]
    if len(named) != len(pixels):
        raise InputError(f"{labels}: {len(named)} labels for {len(pixels)} pictures")
    return pixels, named, 255


def _read_cifar10(part: str) -> tuple[Any, Any, int]:
    folder = _folder("cifar10")
    paths = [folder / name for name in _CIFAR10[part]]
    rows = np.concatenate([_rows(_bytes(path), _ROW, path) for path in paths])
    return rows[:, 1:].reshape(-1, 3, 32, 32), rows[:, 0], 255


def _read_digits(part: str) -> tuple[Any, Any, int]:
    from sklearn.datasets import load_digits

    found = load_digits()
    rows = slice(_DIGITS) if part == "train" else slice(_DIGITS, None)
    return found.images[rows, np.newaxis], found.target[rows], 16


def _rows(values: Any, size: int, path: Path) -> Any:
    """Return bytes as rows of one size, of which there is at least one."""
    if not len(values) or len(values) % size:
        raise InputError(f"{path}: its length is not that of whole pictures; fetch the file again")
    return values.reshape(-1, size)


def _folder(data: str) -> Path:
    """Return where these pictures are, or say where to put them."""
    named = os.environ.get("SHOAL_DATA")
    if not named:
        raise InputError(
            f"the pictures are not part of Shoal: put their files into a folder {data!r} of "
            "another one, and let SHOAL_DATA name that; `robust-mnist --data digits` needs none"
        )
    return Path(named) / data


def _bytes(path: Path) -> Any:
    if not path.is_file():
        raise InputError(
            f"{path}: not there; put the file, as its authors ship it, into this folder"
        )
    try:
        content = path.read_bytes()
        return np.frombuffer(
            gzip.decompress(content) if path.suffix == ".gz" else content, np.uint8
        )
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path}: cannot be read as a gzip file") from None
