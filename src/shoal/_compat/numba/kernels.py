"""numba's compilation of kernels, its typing of calls between them, and its compilation events.

numba documents none of these attributes and event names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import llvmlite
import numba
from numba import config, types
from numba.core import event
from numba.extending import intrinsic as generate_code

from shoal._compat.numba.kernel_parts import PartCompiler

if TYPE_CHECKING:
    from shoal._compat.numba.kernel_cache import KernelCache
    from shoal._compat.numba.kernel_store import CollectingCache, LayeredCache

__all__ = [
    "VERSIONS",
    "compile_lazily",
    "config",
    "generate_code",
    "listen_to_compilation",
    "store_in",
    "time_compilation",
]
VERSIONS = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}"
_COMPILE = "numba:compile"  # the event of one compilation


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
    kernel = numba.njit(**options)(function)
    part = numba.njit(no_cpython_wrapper=True, pipeline_class=PartCompiler, **options)(function)
    kernel.get_call_template = _for_any_number(part.get_call_template)
    kernel.get_overload = part.get_overload
    return kernel


def store_in(kernel: Any, cache: KernelCache | LayeredCache | CollectingCache) -> None:
    """Let a kernel load its code from a cache, and store it there."""
    kernel._cache = cache


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


def _for_any_number(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the typing of calls by other kernels, with every signed integer as int64."""

    def plain(kind: Any) -> Any:
        kind = types.unliteral(kind)
        return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind

    def typed(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        named = {name: plain(kind) for name, kind in named.items()}
        return call(tuple(plain(kind) for kind in arguments), named)

    return typed
