"""Compilation: numba's `njit`, with fewer compilations and a kernel cache that never fails.

A kernel is looked for in this order:

    the user's cache      if it has this version of numba and the same kernel files
    the store in a wheel  if it fits the sources, the versions and the platform
    the compiler          the result goes to the user's cache, if that is writable

numba caches kernels per file. After an upgrade it would fail on kernels whose types have moved, and
run stale kernels that include code of another, changed file. Here such a cache, or one that cannot
be read, counts as empty. If it is not writable, a single warning is issued.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import sysconfig
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

from shoal._compat.kernel_files import KernelsNotKept
from shoal._compat.numba import (
    VERSIONS,
    CollectingCache,
    KernelCache,
    KernelStore,
    LayeredCache,
    compile_lazily,
    config,
    generate_code,
    listen_to_compilation,
    store_in,
    time_compilation,
)
from shoal._version import __version__
from shoal.support.progress import leave_out

__all__ = [
    "KernelsNotKept",
    "are_kept",
    "collect_kernels",
    "installed_kernels",
    "intrinsic",
    "is_first_compilation",
    "listen_to_compilation",
    "njit",
    "time_compilation",
]
_SOURCE = Path(__file__).parents[1]
_CODE = ("_*.py", "_compat/**/*.py", "support/compiling.py")  # kernels, and how they are compiled
_INSTALLED = _SOURCE / "_kernels"  # only in wheels
_NOTED = "compilation-noted.txt"  # in the cache: the stamp of kernels that were announced
_read_only: set[str] = set()  # files whose kernels can be loaded but not stored
_collecting: list[Path] = []  # the folder of a new store, if one is being made
time_compilation(leave_out)


def njit(
    *, cache: bool = False, allocates: bool = False, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a kernel when it is first called.

    Parameters:
        cache: Store the compiled kernel for later processes, if possible.
        allocates: The kernel makes arrays, which no kernel may return.
        options: Options of `numba.njit`.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return _interpreted(function)
        if _collecting:  # the code of a wheel must not contain paths of the machine that built it
            file = Path(function.__code__.co_filename).relative_to(_SOURCE.parent).as_posix()
            function.__code__ = function.__code__.replace(co_filename=file)
        kernel = compile_lazily(function, allocates=allocates, **options)
        if cache:
            store_in(kernel, _cache_of(function))
        return kernel

    return decorate


def _cache_of(function: Callable[..., Any]) -> Any:
    """Return where a kernel is loaded from and stored."""
    if _collecting:
        return CollectingCache(function, KernelStore(_collecting[0], _portable_stamp()))
    try:
        own = KernelCache(function, _stamp(), _warn_once)
    except (RuntimeError, OSError):  # no folder can be written to
        own = None
    # a cache that is read-only still serves kernels that someone else has compiled
    if own is None or own.read_only:
        _read_only.add(function.__code__.co_filename)
    return LayeredCache(function, own, installed_kernels(), _warn_once)


def collect_kernels(folder: Path) -> None:
    """Store the kernels that this process compiles in a folder instead of the user's cache.

    Must be called before any kernel is imported. numba must compile for a generic CPU, so that the
    kernels run on every CPU of this platform.

    Raises:
        RuntimeError: numba compiles for this CPU, or with libraries that other machines lack.
    """
    if config.CPU_NAME != "generic" or config.CPU_FEATURES or config.USING_SVML:
        raise RuntimeError(
            "set NUMBA_CPU_NAME=generic and NUMBA_DISABLE_INTEL_SVML=1, without NUMBA_CPU_FEATURES"
        )
    _collecting.append(folder)


@cache
def installed_kernels() -> KernelStore | None:
    """Return the kernels that were installed with Shoal, None if there are none that fit."""
    store = KernelStore(_INSTALLED, _portable_stamp())
    return store if not config.BOUNDSCHECK and store.fits else None


def are_kept() -> bool:
    """Return whether all kernels of this process could be stored so far."""
    return not _read_only and _warn_once.cache_info().currsize == 0


def is_first_compilation() -> bool:
    """Return True when first called with these kernels and this cache, by any process."""
    with suppress(OSError, RuntimeError, UnicodeDecodeError):
        cache = KernelCache(is_first_compilation, _stamp(), _warn_once)
        noted = Path(cache.cache_path) / _NOTED
        if noted.exists() and noted.read_text(encoding="ascii") == _stamp():
            return False
        noted.write_text(_stamp(), encoding="ascii")
    return True


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
def _portable_stamp() -> str:
    """Return what the code of a kernel depends on, if it does not depend on the CPU."""
    numpy = ".".join(np.__version__.split(".")[:2])  # numba compiles by the minor version
    parts = (
        f"kernels {_kernels()}",
        VERSIONS,
        f"numpy {numpy}",
        f"{sys.implementation.cache_tag} {sysconfig.get_config_var('SOABI')}",
        f"{sys.platform} {platform.machine()}",
    )
    return ", ".join(parts)


@cache
def _kernels() -> str:
    """Return a digest of all kernel files, as any kernel may include code of others."""
    digest = hashlib.sha256()
    for file in sorted({file for pattern in _CODE for file in _SOURCE.rglob(pattern)}):
        name, content = file.relative_to(_SOURCE).as_posix(), file.read_bytes()
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:32]
