"""Memory of the machine: how much may be used, and how freed memory is returned."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

BYTES_PER_TEXT_BYTE = 8  # memory of a table with its release, for each byte of its CSV file
_SHARE = 0.7  # of the machine's memory, if no budget is stated
_UNKNOWN_BYTES = 8 * 10**9  # assumed of a machine that does not report its memory
_MIN_ROWS = 100_000  # smaller steps free too little to be worth the call


def machine_memory() -> int:
    """Return the memory of the machine, or of its container, in bytes."""
    try:
        sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError):  # a system that does not report it
        return _UNKNOWN_BYTES
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            sizes.append(int(Path(name).read_text()))
        except (OSError, ValueError):  # no limit
            continue
    return min(sizes)


def usable_memory() -> int:
    """Return the bytes that may be used if no budget is stated."""
    return int(_SHARE * machine_memory())


def return_memory(rows: int) -> None:
    """Return free memory to the operating system, after a step over this many rows.

    Freed arrays stay with the allocators of C and of Arrow; after some large steps they add up.
    """
    if rows < _MIN_ROWS:
        return
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    _trim()(0)


@cache
def _trim() -> Callable[[int], int]:
    """Return the function of glibc that returns free memory; other libraries have none."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    trim: Callable[[int], int] = getattr(library, "malloc_trim", int)
    return trim
