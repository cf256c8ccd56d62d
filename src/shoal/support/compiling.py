"""Compilation: numba's `njit`, with fewer compilations and a kernel cache that never fails.

numba caches kernels per file. After an upgrade it would fail on kernels whose types have moved, and
run stale kernels that include code of another, changed file. Here a cache of another version, of
changed kernel files, or one that cannot be read counts as empty, and the kernel is compiled again.
If the cache is not writable, cached kernels are used, other kernels are compiled for this process
only, and a single warning is issued.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

from shoal._compat.kernel_files import KernelsNotKept
from shoal._compat.numba import (
    KernelCache,
    compile_lazily,
    config,
    generate_code,
    listen_to_compilation,
    store_in,
)
from shoal._version import __version__

__all__ = ["KernelsNotKept", "are_kept", "intrinsic", "listen_to_compilation", "njit"]
_SOURCE = Path(__file__).parents[1]
_CODE = ("_*.py", "_compat/numba.py", "support/compiling.py")  # kernels, and how they are compiled
_read_only: set[str] = set()  # folders from which kernels are loaded but not stored


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a kernel when it is first called.

    Parameters:
        cache: Store the compiled kernel for later processes, if possible.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return _interpreted(function)
        kernel = compile_lazily(function, **options)
        if cache:
            try:
                store = KernelCache(function, _stamp(), _warn_once)
            except (RuntimeError, OSError):  # no folder can be written to
                _warn_once()
            else:
                store_in(kernel, store)
                if store.read_only:
                    _read_only.add(store.cache_path)
        return kernel

    return decorate


def are_kept() -> bool:
    """Return whether all kernels of this process could be stored so far."""
    return not _read_only and _warn_once.cache_info().currsize == 0


@cache
def _warn_once() -> None:
    warnings.warn(
        "compiled kernels cannot be stored, so every run compiles them again, which takes up to "
        "half a minute; set NUMBA_CACHE_DIR to a writable folder",
        KernelsNotKept,
        stacklevel=2,
    )


def intrinsic(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for machine code; `plain` does the same if numba does not compile."""

    def decorate(generate: Callable[..., Any]) -> Any:
        return plain if config.DISABLE_JIT else generate_code(generate)

    return decorate


def _interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel for Python to run, with silent integer overflow as in compiled code."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


def _stamp() -> str:
    """Return what the code of a kernel depends on besides its own file and numba."""
    return f"shoal {__version__}, kernels {_kernels()}"


@cache
def _kernels() -> str:
    """Return a digest of all kernel files, as any kernel may include code of others."""
    files = sorted(file for pattern in _CODE for file in _SOURCE.rglob(pattern))
    stats = [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files]
    return hashlib.sha256(repr(stats).encode()).hexdigest()[:12]
