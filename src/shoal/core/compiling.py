"""Compiling: numba's `njit`, compiling less, and whose store of compiled kernels mends itself.

numba stores kernels file by file. After an upgrade it would fail on those whose types have moved,
and run those that were compiled with what another file has changed since. Here a store of another
version, of changed kernel files, or one that cannot be read counts as empty: the kernel is compiled
again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import types

from shoal._version import __version__


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a kernel when it is first called.

    Two things save time. No wrapper for C is made, as nothing here would call it. And what a kernel
    hands to another, a constant or an index from an array of int32, is taken as int64, where numba
    would compile the other anew for every constant and every width.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(no_cfunc_wrapper=True, **options)(function)
        if hasattr(kernel, "get_call_template"):  # not where numba is told not to compile
            kernel.get_call_template = _for_any_number(kernel.get_call_template)
        stored: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
        if hasattr(stored, "_version"):
            stored._version = f"{stored._version}, shoal {__version__}, kernels {_kernels()}"
            stored._load_index = _or_else(dict, stored._load_index)
            stored.load = _or_else(lambda: None, stored.load)
        return kernel

    return decorate


def _for_any_number(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the typing of calls by other kernels, in which every signed whole number is int64."""

    def plain(kind: Any) -> Any:
        kind = types.unliteral(kind)
        return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind

    def typed(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        named = {name: plain(kind) for name, kind in named.items()}
        return call(tuple(plain(kind) for kind in arguments), named)

    return typed


@cache
def _kernels() -> str:
    """Return a digest of all kernel files, as any kernel may be compiled with parts of others."""
    files = sorted(Path(__file__).parents[1].rglob("_*.py"))
    stats = [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files]
    return hashlib.sha256(repr(stats).encode()).hexdigest()[:12]


def _or_else(nothing: Callable[[], Any], load: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that loads, or returns nothing where what is stored cannot be read."""

    def loaded(*key: Any) -> Any:
        try:
            return load(*key)
        except Exception:  # a stored pickle may fail in any way
            return nothing()

    return loaded
