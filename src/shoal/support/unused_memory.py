"""Memory that is free, but not yet returned to the operating system.

Freed arrays stay with the allocators of C and of Arrow; after some large steps they add up.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

_FEW = 100_000  # rows whose memory is not worth the effort


def return_memory(rows: int) -> None:
    """Return free memory to the operating system, after a step over this many rows."""
    if rows < _FEW:
        return
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    _trim()(0)


@cache
def _trim() -> Callable[[int], int]:
    """Return the function of glibc that returns free memory; other libraries have none."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    found: Callable[[int], int] = getattr(library, "malloc_trim", int)
    return found
