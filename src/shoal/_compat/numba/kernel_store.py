"""A store of compiled kernels that wheels contain, for every CPU of a platform.

numba's cache cannot be shipped: its keys name the CPU, and its files contain paths. A store has one
file for each kernel and signature, with a checksum. What is missing, damaged, or of another stamp
counts as not stored. numba documents none of the attributes used here.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llvmlite import binding
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from shoal._compat.kernel_files import STAMP
from shoal._compat.numba.kernel_cache import KernelCache

__all__ = ["CollectingCache", "KernelStore", "LayeredCache"]
_CHECKSUM_BYTES = 32


@dataclass(frozen=True)
class KernelStore:
    """A folder of compiled kernels.

    Parameters:
        folder: The folder, which need not exist.
        stamp: What compiled code depends on: sources, versions and platform.
    """

    folder: Path
    stamp: str

    @property
    def fits(self) -> bool:
        """Whether the folder has kernels of this stamp."""
        try:
            return (self.folder / STAMP).read_text(encoding="ascii") == self.stamp
        except (OSError, ValueError):
            return False

    def load(self, function: Callable[..., Any], signature: Any, context: Any) -> Any:
        """Return the compiled code of a kernel, or None."""
        name = _name_of(function)
        try:
            content = self._path(name, signature).read_bytes()
        except OSError:
            return None
        body = content[_CHECKSUM_BYTES:]
        if hashlib.sha256(body).digest() != content[:_CHECKSUM_BYTES]:
            return None
        stored_for, code = pickle.loads(body)
        if stored_for != (self.stamp, name, signature):
            return None
        context.refresh()
        return CompileResult._rebuild(context, *code)

    def save(self, function: Callable[..., Any], signature: Any, compiled: Any) -> None:
        """Store the compiled code of a kernel."""
        name = _name_of(function)
        code = _without_extras(compiled)
        body = dumps(((self.stamp, name, signature), code))
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / STAMP).write_text(self.stamp, encoding="ascii")
        self._path(name, signature).write_bytes(hashlib.sha256(body).digest() + body)

    def _path(self, name: str, signature: Any) -> Path:
        digest = hashlib.sha256(f"{name}{signature}".encode()).hexdigest()[:24]
        return self.folder / f"{digest}.kernel"


class LayeredCache:
    """Where a kernel is loaded from and stored, in place of numba's cache.

    Loads code from the user's cache or else from a store, and saves it in the cache.

    Parameters:
        function: The Python function of the kernel.
        cache: The user's cache, None if no folder can be used.
        store: The kernels that were installed with Shoal, if there are any.
        on_failure: Called if code cannot be saved.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        cache: KernelCache | None,
        store: KernelStore | None,
        on_failure: Callable[[], None],
    ) -> None:
        self._function, self._cache, self._store = function, cache, store
        self._on_failure = on_failure

    @property
    def cache_path(self) -> str | None:
        """The folder of the user's cache."""
        return self._cache.cache_path if self._cache else None

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return stored code, or None."""
        code = self._cache.load_overload(signature, context) if self._cache else None
        if code is None and self._store:
            with suppress(Exception):  # a stored pickle may fail in any way
                code = self._store.load(self._function, signature, context)
        return code

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save code in the user's cache."""
        if self._cache:
            self._cache.save_overload(signature, compiled)
        else:
            self._on_failure()

    def flush(self) -> None:
        """Forget the code in the user's cache."""
        if self._cache:
            self._cache.flush()


@dataclass(frozen=True)
class CollectingCache:
    """Saves a kernel in a store, and never loads it."""

    function: Callable[..., Any]
    store: KernelStore
    cache_path: None = None

    def load_overload(self, *_: Any) -> None:
        """Return None."""

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Save code in the store."""
        self.store.save(self.function, signature, compiled)


def _name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _without_extras(compiled: Any) -> tuple[Any, ...]:
    """Return the code as numba reduces it, without bitcode and without an annotated source.

    Other kernels include bitcode of the part of a kernel, never of this one; numba looks only for
    the name of the wrapper there. The annotated source contains paths.
    """
    library, description, *middle, _, reload_init, environments = compiled._reduce()
    name, kind, (code, _) = library
    wrapper = f'define void @"{description.llvm_cpython_wrapper_name}"() {{ ret void }}'
    bitcode = binding.parse_assembly(wrapper).as_bitcode()
    return (name, kind, (code, bitcode)), description, *middle, "", reload_init, environments
