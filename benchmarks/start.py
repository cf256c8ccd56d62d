"""Section start: how long the first commands take, with and without cached kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from grids import load_note
from jobs import scratch
from meter import cpu_seconds
from targets import verdict

BEST_OF = 3


def measure(*, full: bool) -> dict[str, Any]:
    """Time the first commands; with `full`, more often."""
    shoal = str(Path(sys.executable).parent / "shoal")
    times = 10 if full else BEST_OF
    with scratch() as named:
        demo = [shoal, "demo", "--out", f"{named}/demo"]
        cache = {**os.environ, "NUMBA_CACHE_DIR": f"{named}/kernels"}
        rows = {
            "demo, cold": _best(demo, cache, 1),  # its kernels serve the next line
            "demo, warm": _best(demo, cache, times),
            "help, warm": _best([shoal, "--help"], cache, times),
            "import, warm": _best([sys.executable, "-c", "import shoal"], cache, times),
        }
    return {"commands": rows, "best_of": times}


def _best(command: list[str], environment: dict[str, str], times: int) -> dict[str, float]:
    """Return the smallest wall seconds, and the CPU seconds of that run."""
    runs = []
    for _ in range(times):
        cpu, wall = cpu_seconds(), time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        runs.append((time.perf_counter() - wall, cpu_seconds() - cpu))
    wall, cpu = min(runs)
    return {"wall": wall, "cpu": cpu}


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    grid = Grid(
        title="first minutes",
        caption=(
            f"Cold: no cached kernels, one run. Warm: best of {result['best_of']}. Targets "
            f"are wall seconds. {load_note(result)}"
        ),
    )
    for head in ("command", "wall s", "CPU s", "target"):
        grid.add_column(head, justify="right" if head.endswith(" s") else "left")
    for name, row in result["commands"].items():
        grid.add_row(name, f"{row['wall']:.2f}", f"{row['cpu']:.2f}", verdict(name, row))
    return [grid]
