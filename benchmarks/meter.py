"""What one call costs: CPU seconds, wall seconds, peak memory.

Standard library only, since it runs inside the peers' environment too.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def metered() -> Iterator[dict[str, float]]:
    """Fill the yielded dict when the block ends.

    cpu: user and system seconds, of finished child processes too. wall: seconds.
    peak_mb: most memory that the process held inside the block, all libraries included; where the
    kernel cannot restart its count, since the process began. added_mb: peak_mb above what it held
    as the block began.
    """
    cost: dict[str, float] = {}
    before = _status("VmRSS")
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # restarts VmHWM
    cpu, wall = cpu_seconds(), time.perf_counter()
    yield cost
    cost["cpu"] = cpu_seconds() - cpu
    cost["wall"] = time.perf_counter() - wall
    cost["peak_mb"] = _status("VmHWM") or _most_ever()
    cost["added_mb"] = max(cost["peak_mb"] - before, 0.0)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _status(field: str) -> float:
    """Return a field of the process status in MB, 0 where there is no such file."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    return 0.0


def _most_ever() -> float:
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
