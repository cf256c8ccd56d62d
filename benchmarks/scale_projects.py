"""Linked tables larger than memory: `python benchmarks/scale.py --project --rows 2e7`.

Six tables, with 20 rows for each person: people, visits, labs of visits, drugs, bills and a list of
wards. Visits have a quasi-identifier of their own, and bills repeat one of the person.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROWS_PER_PERSON = 20
_SHOAL = [sys.executable, "-m", "shoal"]
TABLES = {
    "wards": "SELECT n AS ward, 'ward ' || n AS name FROM range(40) t(n)",
    "patients": """
        SELECT 'p' || n AS patient, hash(4 * n) % 100 AS age, {sex} AS sex,
            CAST(10000 + hash(4 * n + 2) % 500 AS VARCHAR) AS zip FROM range({people}) t(n)""",
    "visits": """
        SELECT 'v' || n AS visit, 'p' || hash(n + 1e9) % {people} AS patient,
            hash(n + 2e9) % 40 AS ward, 1 + hash(n + 3e9) % 12 AS month,
            (hash(n + 4e9) % 100) / 100 AS amount FROM range(5 * {people}) t(n)""",
    "labs": """
        SELECT 'l' || n AS lab, 'v' || hash(n + 5e9) % (5 * {people}) AS visit,
            (hash(n + 6e9) % 100) / 100 AS amount FROM range(9 * {people}) t(n)""",
    "drugs": """
        SELECT 'd' || n AS drug, 'p' || hash(n + 7e9) % {people} AS patient,
            (hash(n + 8e9) % 100) / 100 AS amount FROM range(4 * {people}) t(n)""",
    "bills": """
        SELECT 'b' || n AS bill, 'p' || n AS patient, {sex} AS sex,
            (hash(n + 9e9) % 100) / 100 AS amount FROM range({people}) t(n)""",
}
SEX = "CASE WHEN hash(4 * n + 1) % 2 = 0 THEN 'f' ELSE 'm' END"
AMOUNT = {"amount": "insensitive"}
PROJECT: dict[str, Any] = {
    "person": "patients",
    "tables": {
        "patients": {"key": "patient", "columns": dict.fromkeys(("age", "sex", "zip"), "quasi")},
        "wards": {"key": "ward", "columns": dict.fromkeys(("ward", "name"), "insensitive")},
        "visits": {
            "key": "visit",
            "foreign": {"patient": "patients", "ward": "wards"},
            "columns": {"month": "quasi", **AMOUNT},
        },
        "labs": {"key": "lab", "foreign": {"visit": "visits"}, "columns": AMOUNT},
        "drugs": {"key": "drug", "foreign": {"patient": "patients"}, "columns": AMOUNT},
        "bills": {
            "key": "bill",
            "foreign": {"patient": "patients"},
            "columns": {"sex": "quasi", **AMOUNT},
        },
    },
}


def measure_project(folder: Path, rows: int, memory: str | None, k: int, method: str) -> None:
    """Generate linked tables, and print what their release and its check cost.

    memory: the budget, None to read all tables into memory.
    """
    generate(folder, rows // ROWS_PER_PERSON)
    size = sum(path.stat().st_size for path in folder.glob("*.parquet")) / 1e9
    print(f"6 linked tables, {rows:,} rows, {size:.2f} GB; memory {memory or 'not limited'}")
    print("step         seconds  CPU seconds  peak GB")
    output, key = str(folder / "released"), str(folder / "key.bin")
    within = [] if memory is None else ["--memory", memory]
    on_disk = [] if memory is None else ["--engine", "duckdb"]
    run([*_SHOAL, "keys", "new", "-o", key])
    asked = [*_SHOAL, "anonymize", str(folder / "project.yaml"), "-k", str(k), "--method", method]
    asked += ["--key-file", key, "--domain", "benchmark", "-o", output, *within, *on_disk]
    for step, command in (("release", asked), ("verify", [*_SHOAL, "verify", output, *within])):
        cost = run(command)
        print(f"{step:10} {cost['seconds']:9.1f} {cost['cpu']:12.1f} {cost['peak'] / 1e9:8.2f}")


def generate(folder: Path, people: int) -> None:
    """Write the tables as Parquet, and the project file."""
    import duckdb

    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as database:
        for name, query in TABLES.items():
            rows = query.format(people=people, sex=SEX)
            database.execute(f"COPY ({rows}) TO '{folder / name}.parquet' (FORMAT parquet)")
    (folder / "project.yaml").write_text(json.dumps(PROJECT))


def run(command: list[str]) -> dict[str, float]:
    """Run a command in a process of its own, and return its seconds, CPU seconds and peak."""
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as started:
        assert started.stderr is not None
        said = started.stderr.read().decode()
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise SystemExit(said.strip().splitlines()[-1])
    cpu = used.ru_utime + used.ru_stime
    return {"seconds": time.perf_counter() - begun, "cpu": cpu, "peak": used.ru_maxrss * 1024}
