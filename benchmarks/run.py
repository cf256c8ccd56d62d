"""The benchmark: `make bench`, or `python benchmarks/run.py --section scaling`.

Prints a table per section and stores the figures in benchmarks/results/latest.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from typing import Any

from rich.console import Console

import attacks
import dp
import growth
import identifiers
import lattice
import matchings
import methods
import mutation
import partition
import peers
import redaction
import release
import risk
import robust
import scaling
import several
import shifts
import start
import suggestions
import utility
import web
from jobs import HERE
from meter import cpu_seconds
from shoal.methods import versions

SECTIONS: dict[str, Any] = {
    "peers": peers,
    "scaling": scaling,
    "growth": growth,
    "lattice": lattice,
    "partition": partition,
    "methods": methods,
    "matchings": matchings,
    "risk": risk,
    "several": several,
    "attacks": attacks,
    "release": release,
    "identifiers": identifiers,
    "shifts": shifts,
    "redaction": redaction,
    "utility": utility,
    "dp": dp,
    "robust": robust,
    "start": start,
    "suggestions": suggestions,
    "web": web,
    "mutation": mutation,
}
LATEST = HERE / "results" / "latest.json"


def main() -> None:
    """Measure the selected sections, by default all."""
    parser = argparse.ArgumentParser(description="Measure Shoal and compare it with other tools.")
    parser.add_argument(
        "--section", choices=SECTIONS, action="append", help="measure only this section"
    )
    parser.add_argument("--full", action="store_true", help="include slow tools and sizes")
    parser.add_argument(
        "--json", action="store_true", help="print the figures as JSON instead of tables"
    )
    asked = parser.parse_args()
    out, err = Console(highlight=False, width=_width()), Console(stderr=True, highlight=False)
    figures: dict[str, Any] = {}
    for name in asked.section or SECTIONS:
        err.print(f"measuring {name} …")
        cpu, wall = cpu_seconds(), time.perf_counter()
        found = {**SECTIONS[name].measure(full=asked.full), "load": os.getloadavg()[0]}
        took = {"wall": time.perf_counter() - wall, "cpu": cpu_seconds() - cpu}
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        figures[name] = {"at": stamp, "machine": _machine(), "took": took, **found}
        if not asked.json:
            for grid in SECTIONS[name].show(found):
                out.print(grid, "")
    _keep(figures)
    if asked.json:
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    err.print(f"figures: {LATEST.relative_to(HERE.parent)}")


def _machine() -> dict[str, Any]:
    return {"cores": os.cpu_count(), "processor": platform.machine(), "versions": versions()}


def _keep(figures: dict[str, Any]) -> None:
    """Write the figures; sections that were not measured keep their previous figures."""
    before = json.loads(LATEST.read_text()) if LATEST.is_file() else {}
    LATEST.parent.mkdir(exist_ok=True)
    LATEST.write_text(json.dumps({**before, **figures}, indent=2) + "\n")


def _width() -> int | None:
    return None if sys.stdout.isatty() else 150


if __name__ == "__main__":
    main()
