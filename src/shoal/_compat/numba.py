"""numba's undocumented parts: how it compiles kernels, stores their code and reports both.

    `compile_lazily`     a kernel; other kernels call its part, made by `PartCompiler`
    `store_in`           gives the kernel one of two caches
    ├── LayeredCache     loads from a `KernelCache` (of the user) or a `KernelStore` (of a wheel)
    └── CollectingCache  fills a `KernelStore` while a wheel is built
    `listen_to_compilation`, `time_compilation`

numba generates a Python wrapper and machine code for every kernel, and optimizes a callee on its
own and again inside each caller. A part has its types and unoptimized code only: its callers
include this code and optimize it once.

numba's cache cannot be shipped: its keys name the CPU, and its files contain paths. A store has one
file for each kernel and signature, with a checksum. What is missing, damaged, or of another stamp
counts as not stored.
"""

from __future__ import annotations

import hashlib
import pickle
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from shoal.errors import InputError

try:
    import numba
except ValueError as refusal:  # numba checks its environment variables as it loads
    raise InputError(
        f"numba does not load: {refusal} Check environment variables such as NUMBA_NUM_THREADS"
    ) from None

import llvmlite
from llvmlite import binding
from numba import _dynfunc, config, types
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.serialize import dumps
from numba.extending import intrinsic as generate_code

from shoal._compat.kernel_files import STAMP

__all__ = [
    "VERSIONS",
    "CollectingCache",
    "KernelCache",
    "KernelStore",
    "LayeredCache",
    "PartCompiler",
    "compile_lazily",
    "config",
    "generate_code",
    "listen_to_compilation",
    "store_in",
    "time_compilation",
]


VERSIONS = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}"
_COMPILE = "numba:compile"  # the event of one compilation
_CHECKSUM_BYTES = 32


def compile_lazily(function: Callable[..., Any], *, allocates: bool = False, **options: Any) -> Any:
    """Return a kernel that is compiled when it is first called.

    Four things reduce compilation. No C wrapper is generated, as nothing here calls it. A kernel
    that another one calls is compiled as a part of it. References to arrays are not counted, which
    also makes kernels faster. And integers that one kernel passes to another, constants or elements
    of int32 arrays, are typed as int64; numba would compile the callee again for every constant and
    every width.

    Parameters:
        allocates: Whether the kernel makes arrays, so that references must be counted.
    """
    options |= {"no_cfunc_wrapper": True, "_nrt": allocates}
    # two dispatchers of one function: Python calls the kernel, other kernels are given the part
    kernel = numba.njit(**options)(function)
    part = numba.njit(no_cpython_wrapper=True, pipeline_class=PartCompiler, **options)(function)
    kernel.get_call_template = _for_any_number(part.get_call_template)
    kernel.get_overload = part.get_overload
    return kernel


def _for_any_number(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the typing of calls by other kernels, with every signed integer as int64."""

    def plain(kind: Any) -> Any:
        kind = types.unliteral(kind)
        return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind

    def typed(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        named = {name: plain(kind) for name, kind in named.items()}
        return call(tuple(plain(kind) for kind in arguments), named)

    return typed


class PartCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler for a function that only compiled code calls."""

    def define_pipelines(self) -> Any:
        """Return numba's pipelines, after a change of what they generate code with."""
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.targetctx = state.targetctx.subtarget()
        state.targetctx.get_executable = _make_placeholder
        return super().define_pipelines()


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """Code that is neither optimized nor loaded, until a caller includes it."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def _make_placeholder(library: Any, description: Any, environment: Any) -> Any:
    """Return what represents the part in numba's tables; it cannot be called."""
    name = description.qualname.split(".")[-1]
    module = description.lookup_module()
    return _dynfunc.make_function(module, name, "a part", 0, environment, (library,))


def store_in(kernel: Any, cache: KernelCache | LayeredCache | CollectingCache) -> None:
    """Let a kernel load its code from a cache, and store it there."""
    kernel._cache = cache


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
        # read the index again: another process may have added to it
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


@contextmanager
def listen_to_compilation(listener: Callable[[], None]) -> Iterator[None]:
    """Call the listener before each compilation inside the block."""

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            listener()

        def on_end(self, _: Any) -> None:
            pass

    with event.install_listener(_COMPILE, Listener()):
        yield


def time_compilation(listener: Callable[[float], None]) -> None:
    """Call the listener with the seconds of each compilation, parts included, from now on."""

    class Listener(event.Listener):  # type: ignore[misc]
        depth, begun = 0, 0.0  # numba compiles in one thread at a time

        def on_start(self, _: Any) -> None:
            if self.depth == 0:
                self.begun = time.perf_counter()
            self.depth += 1

        def on_end(self, _: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                listener(time.perf_counter() - self.begun)

    event.register(_COMPILE, Listener())
