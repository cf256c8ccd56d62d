"""The files in which numba stores compiled kernels, found without loading numba."""

from __future__ import annotations

from pathlib import Path

STAMP = "stamp.txt"  # what the kernels of a store depend on
_INDEX = "*.nbi"  # one index per kernel; it lists files of code, *.nbc


class KernelsNotKept(UserWarning):
    """Compiled kernels cannot be stored on this machine."""


def has_kernels_beside(folder: Path) -> bool:
    """Return whether kernels of the source files in a folder are stored next to them."""
    return any((folder / "__pycache__").glob(_INDEX))


def has_kernels_in(cache: Path, folder: Path) -> bool:
    """Return whether NUMBA_CACHE_DIR, the cache, holds kernels of source files in a folder."""
    return any(cache.glob(f"{folder.name}_*/{_INDEX}"))  # numba adds a digest of the path
