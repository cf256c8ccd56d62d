"""The cost of one call: CPU seconds, wall seconds, peak memory.

Standard library only, since it runs inside the peers' environment too.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
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


def repeated(call: Callable[[], object], times: int) -> list[dict[str, float]]:
    """Return the cost of each of several calls."""
    costs = []
    for _ in range(times):
        with metered() as cost:
            call()
        costs.append(cost)
    return costs


def medians(costs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure."""
    return {name: statistics.median(cost[name] for cost in costs) for name in costs[0]}


def best_in_turn(call: Callable[[int], object], times: int) -> dict[str, float]:
    """Call with one thread and with two in turn; return the best cost with two and its gain."""
    alone, both = [], []
    for _ in range(times):
        alone += repeated(lambda: call(1), 1)
        both += repeated(lambda: call(2), 1)
    best = min(both, key=lambda cost: cost["wall"])
    return {**best, "gain": min(cost["wall"] for cost in alone) / best["wall"]}


def on_one_core() -> None:
    """Keep this process on one core, whatever the number of threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


@contextmanager
def memory_together(seconds: float = 0.5) -> Iterator[dict[str, int]]:
    """Watch the memory of this process and of all below it, and fill the yielded dict.

    peak: most bytes that they held together, looked up every few tenths of a second. Pages that
    they share count once. 0 where the system does not report this.
    """
    found, ended = {"peak": 0}, threading.Event()

    def watch() -> None:
        while not ended.wait(seconds):
            held = sum(_proportional(pid) for pid in _processes())
            found["peak"] = max(found["peak"], held)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield found
    finally:
        ended.set()
        watching.join()


def _processes() -> set[int]:
    """Return the numbers of this process and of all below it."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _proportional(process: int) -> int:
    """Return the bytes that a process holds; each shared page is divided among its users."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def _status(field: str) -> float:
    """Return a field of the process status in MB, 0 if there is no such file."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    return 0.0


def _most_ever() -> float:
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
