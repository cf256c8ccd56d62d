"""numba's undocumented parts: its compilation of kernels, its cache, its compilation events."""

from __future__ import annotations

from shoal.errors import InputError

try:
    import numba  # noqa: F401  before the modules of this folder
except ValueError as refusal:  # numba checks its environment variables as it loads
    raise InputError(
        f"numba does not load: {refusal} Check environment variables such as NUMBA_NUM_THREADS"
    ) from None

from shoal._compat.numba.kernel_cache import KernelCache
from shoal._compat.numba.kernel_store import CollectingCache, KernelStore, LayeredCache
from shoal._compat.numba.kernels import (
    VERSIONS,
    compile_lazily,
    config,
    generate_code,
    listen_to_compilation,
    store_in,
    time_compilation,
)

__all__ = [
    "VERSIONS",
    "CollectingCache",
    "KernelCache",
    "KernelStore",
    "LayeredCache",
    "compile_lazily",
    "config",
    "generate_code",
    "listen_to_compilation",
    "store_in",
    "time_compilation",
]
