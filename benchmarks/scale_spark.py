"""Spark against DuckDB on one table: `make bench-scale ARGS=--spark`.

Prints the CPU seconds of both engines for one full-domain method and one method by partitions, and
their ratio. Every run has its own process; the start of the session is apart, and the CPU seconds
are those of the process with Java and all Python workers.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

METHODS = {"ola": 8.0, "sorted": 3.0}  # and the ratio that Spark may cost at most
RUN = """
import json, os, sys, time, warnings
from pathlib import Path
import shoal
from shoal.rows.memory import Budget

warnings.simplefilter("ignore")
given = json.loads(sys.argv[1])

def cpu():
    \"\"\"Return the CPU seconds of this process and all below it.\"\"\"
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            cells = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        stats[int(path.parent.name)] = int(cells[1]), sum(map(int, cells[11:15]))
    mine, total = {os.getpid()}, 0
    while True:
        more = {pid for pid, (parent, _) in stats.items() if parent in mine} - mine
        if not more:
            break
        mine |= more
    return sum(stats[pid][1] for pid in mine) / os.sysconf("SC_CLK_TCK")

begun = time.perf_counter()
if given["engine"] == "spark":
    from shoal.rows.spark.sessions import find_session

    find_session("local[2]", Budget.parse(given["memory"])).range(1000).count()
start, start_cpu = time.perf_counter() - begun, cpu()
begun = time.perf_counter()
table = shoal.open(given["source"], roles=given["roles"], hierarchies=given["trees"],
    memory=given["memory"], partition_rows=given["partition_rows"], engine=given["engine"])
release = shoal.anonymize(table, k=given["k"], method=given["method"], **given["options"])
checked = release.write(given["output"], force=True)
assert checked.holds
print(json.dumps({"seconds": time.perf_counter() - begun, "cpu": cpu() - start_cpu,
    "start": start, "start_cpu": start_cpu, "released": checked.records,
    "classes": checked.classes, "ncp": release.losses["ncp"]}))
"""


def compare(asked: dict[str, Any], rows: int, methods: list[str] | None) -> None:
    """Print the CPU seconds of both engines."""
    print("method   engine  seconds  CPU s  CPU µs/row  start s    ncp     classes    released")
    for method in methods or METHODS:
        found = {}
        for engine in ("duckdb", "spark"):
            output = Path(asked["output"]).with_name(f"release-{engine}")
            given = {**asked, "method": method, "engine": engine, "output": str(output)}
            arguments = [sys.executable, "-c", RUN, json.dumps(given)]
            done = subprocess.run(arguments, capture_output=True, text=True, check=False)
            if done.returncode:
                last = done.stderr.strip().splitlines()[-1]
                print(f"{method:8} {engine:7} failed: {last}")
                continue
            each = found[engine] = json.loads(done.stdout.splitlines()[-1])
            print(
                f"{method:8} {engine:7} {each['seconds']:7.0f} {each['cpu']:6.0f} "
                f"{1e6 * each['cpu'] / rows:11.1f} {each['start']:8.1f} {each['ncp']:6.4f} "
                f"{each['classes']:11,} {each['released']:11,}",
                flush=True,
            )
        if len(found) == 2:
            ratio = found["spark"]["cpu"] / found["duckdb"]["cpu"]
            least = METHODS.get(method)
            target = "" if least is None else f", at most {least:.0f} wanted"
            print(f"{method:8} ratio of CPU seconds: {ratio:.1f}{target}", flush=True)
