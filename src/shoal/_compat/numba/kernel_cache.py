"""numba's cache of compiled kernels: never stale, never the reason for a failure.

numba documents none of these classes and attributes.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

import numba
from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

__all__ = ["KernelCache"]


class _CompiledCode(CompileResultCacheImpl):  # type: ignore[misc]
    """Chooses the folder of a kernel: NUMBA_CACHE_DIR, beside its source, or in the home folder.

    The first writable one, or else the first readable one: a package may be installed with its
    kernels.
    """

    @property
    def _locator_classes(self) -> list[Any]:
        locators = list(CompileResultCacheImpl._locator_classes)
        try:
            Path.home()
        except RuntimeError:  # numba would create a folder named ~ in the current one
            locators.remove(_locator("UserWide"))
        stated = [_locator("UserProvided")] if config.CACHE_DIR else []
        return [*locators, *(_ReadOnly(kind) for kind in [*stated, _locator("InTree")])]


def _locator(name: str) -> Any:
    """Return a class of numba by its name, which some versions begin with an underscore."""
    names = (f"{name}CacheLocator", f"_{name}CacheLocator")
    kinds = CompileResultCacheImpl._locator_classes
    return next(kind for kind in kinds if kind.__name__ in names)


@dataclass(frozen=True)
class _ReadOnly:
    """Locates a read-only folder, by the class that locates writable ones."""

    kind: Any

    def from_function(self, function: Callable[..., Any], file: str) -> Any:
        """Return where the kernel may be stored, None if this folder does not exist."""
        locator = self.kind(function, file)
        if not Path(file).exists() or not Path(locator.get_cache_path()).is_dir():
            return None
        locator.read_only = True
        return locator


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The stored code of one kernel; on any failure the kernel is compiled instead.

    Code is loaded only if it was stored under the same version of numba and the same stamp.

    Parameters:
        function: The Python function of the kernel.
        stamp: What else the code depends on.
        on_failure: Called if code cannot be stored.

    Raises:
        RuntimeError: No folder can be used.
        OSError: The folder cannot be read.
    """

    _impl_class = _CompiledCode

    def __init__(
        self, function: Callable[..., Any], stamp: str, on_failure: Callable[[], None]
    ) -> None:
        super().__init__(function)
        locator = self._impl.locator
        source = locator.get_source_stamp()
        self.read_only = getattr(locator, "read_only", False)
        self._on_failure = on_failure
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, source, stamp)

    def load_overload(self, *signature: Any) -> Any:
        """Return stored code, or None."""
        with suppress(Exception):  # a stored pickle may fail in any way
            return super().load_overload(*signature)

    def save_overload(self, *code: Any) -> None:
        """Store code, unless the folder has become full, missing or read-only."""
        try:
            super().save_overload(*code)
        except OSError:
            self.disable()
            self._on_failure()


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """An index file, and a file of code for each signature that it lists.

    Code is stored before the index that refers to it, under a name that is never reused. So neither
    an interrupted process nor a concurrent one can make the index refer to the code of another
    signature or of an older source.
    """

    def __init__(self, folder: str, base: str, source: Any, stamp: str) -> None:
        super().__init__(folder, base, source)
        self._base = base
        self._version = f"{numba.__version__}, {stamp}"

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
