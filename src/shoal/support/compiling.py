"""Compilation: numba's `njit`, with fewer compilations and a kernel cache that never fails.

numba caches kernels per file. After an upgrade it would fail on kernels whose types have moved, and
run stale kernels that include code of another, changed file. Here a cache of another version, of
changed kernel files, or one that cannot be read counts as empty, and the kernel is compiled again.
If the cache is not writable, cached kernels are used, other kernels are compiled for this process
only, and a single warning is issued.
"""

from __future__ import annotations

import hashlib
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, wraps
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np

from shoal._version import __version__
from shoal.errors import InputError

try:
    import numba
    from numba import types
    from numba.core import event
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
    from numba.extending import intrinsic as _intrinsic
except ValueError as refusal:  # numba checks its environment variables as it loads
    raise InputError(
        f"numba does not load: {refusal} Check environment variables such as NUMBA_NUM_THREADS"
    ) from None

__all__ = ["KernelsNotKept", "are_kept", "event", "intrinsic", "njit"]
_read_only: set[str] = set()  # folders from which kernels are loaded but not stored


class KernelsNotKept(UserWarning):
    """Compiled kernels cannot be stored on this machine."""


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a kernel when it is first called.

    Two things reduce compilation. No C wrapper is generated, as nothing here calls it. And integers
    that one kernel passes to another, constants or elements of int32 arrays, are typed as int64;
    numba would compile the callee again for every constant and every width.

    Parameters:
        cache: Store the compiled kernel for later processes, if possible.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if numba.config.DISABLE_JIT:
            return _interpreted(function)
        kernel = numba.njit(no_cfunc_wrapper=True, **options)(function)
        kernel.get_call_template = _for_any_number(kernel.get_call_template)
        if cache:
            try:
                kernel._cache = _Store(function)
            except (RuntimeError, OSError):  # no folder can be written to
                _warn_once()
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


class _CompiledCode(CompileResultCacheImpl):  # type: ignore[misc]
    """Chooses the folder of a kernel: NUMBA_CACHE_DIR, beside its source, or in the home folder.

    The first writable one, or else the first readable one: a package may be installed with its
    kernels.
    """

    @property
    def _locator_classes(self) -> list[Any]:
        found = list(CompileResultCacheImpl._locator_classes)
        try:
            Path.home()
        except RuntimeError:  # numba would create a folder named ~ in the current one
            found = [each for each in found if "UserWide" not in each.__name__]
        stated = ["UserProvided"] if numba.config.CACHE_DIR else []
        return [*found, *(_ReadOnly(name) for name in [*stated, "InTree"])]


@dataclass(frozen=True)
class _ReadOnly:
    """Locates a read-only folder, by the name of the class that locates writable ones."""

    name: str

    def from_function(self, function: Callable[..., Any], file: str) -> Any:
        """Return where the kernel may be stored, None if this folder does not exist."""
        kinds = CompileResultCacheImpl._locator_classes
        place = next(each for each in kinds if self.name in each.__name__)(function, file)
        if not Path(file).exists() or not Path(place.get_cache_path()).is_dir():
            return None
        _read_only.add(place.get_cache_path())
        return place


class _Store(FunctionCache):  # type: ignore[misc]
    """The stored code of one kernel; on any failure the kernel is compiled instead."""

    _impl_class = _CompiledCode

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, *asked: Any) -> Any:
        """Return stored code, or None."""
        with suppress(Exception):  # a stored pickle may fail in any way
            return super().load_overload(*asked)

    def save_overload(self, *code: Any) -> None:
        """Store code, unless the folder has become full, missing or read-only."""
        try:
            super().save_overload(*code)
        except OSError:
            self.disable()
            _warn_once()


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """An index file, and a file of code for each signature that it lists.

    Code is stored before the index that refers to it, under a name that is never reused. So neither
    an interrupted process nor a concurrent one can make the index refer to the code of another
    signature or of an older source.
    """

    def __init__(self, folder: str, base: str, stamp: Any) -> None:
        super().__init__(folder, base, stamp)
        self._base = base
        self._version = f"{numba.__version__}, shoal {__version__}, kernels {_kernels()}"

    def save(self, key: Any, data: Any) -> None:
        """Store code, and remove the files that the index no longer refers to."""
        overloads = self._load_index()
        overloads[key] = f"{self._base}.{uuid.uuid4().hex[:16]}.nbc"
        self._save_data(overloads[key], data)
        self._save_index(overloads)
        for path in Path(self._cache_path).glob(f"{escape(self._base)}.*.nbc"):
            if path.name not in overloads.values():
                with suppress(OSError):
                    path.unlink()

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # a stored pickle may fail in any way
            return {}


def intrinsic(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for machine code; `plain` does the same if numba does not compile."""

    def decorate(generate: Callable[..., Any]) -> Any:
        return plain if numba.config.DISABLE_JIT else _intrinsic(generate)

    return decorate


def _interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel for Python to run, with silent integer overflow as in compiled code."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


def _for_any_number(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the typing of calls by other kernels, with every signed integer as int64."""

    def plain(kind: Any) -> Any:
        kind = types.unliteral(kind)
        return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind

    def typed(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        named = {name: plain(kind) for name, kind in named.items()}
        return call(tuple(plain(kind) for kind in arguments), named)

    return typed


@cache
def _kernels() -> str:
    """Return a digest of all kernel files, as any kernel may include code of others."""
    files = sorted(Path(__file__).parents[1].rglob("_*.py"))
    stats = [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files]
    return hashlib.sha256(repr(stats).encode()).hexdigest()[:12]
