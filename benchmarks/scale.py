"""Tables larger than memory: `make bench-scale`, or `python benchmarks/scale.py --rows 1e8`.

Generates a table of 8 quasi-identifiers (about 75 ages, 2, 7, 6, 17, 83 and 47 categories and 1,000
postcodes, skewed), one sensitive and two unchanged columns, as Parquet, and prints for each method
the time, the peak memory of the process, the peak of it and its workers together, and the loss.
Each method runs in its own process. The method `given-node` is a single node of the lattice,
without a search.

`--growth 10` repeats the methods on a tenth of the rows and prints the exponent of their CPU time.
`--unpartitioned` compares the loss of a method on partitions with its loss in memory. `--in-memory`
reads a CSV file and writes Parquet and a report, without an engine. `--verify` lets DuckDB alone
generalize the table, and measures `shoal verify` on the result. `--project` measures a project of
six linked tables instead, whose release and check are within the budget.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from meter import memory_together
from scale_projects import measure_project
from scale_spark import compare

QUASI = ("age", "sex", "marital", "race", "education", "occupation", "state", "postcode")
ROLES = {
    **dict.fromkeys(QUASI, "quasi"),
    "disease": "sensitive",
    "ward": "insensitive",
    "admitted": "insensitive",
}
TREES = {
    "age": {"intervals": [5, 10, 20, 40]},
    "education": {"ordering": 4},
    "occupation": {"mask": "right"},
    "state": {"mask": "right"},
    "postcode": {"mask": "right"},
}
TABLE = """
    SELECT CAST(18 + floor(75 * pow(a, 1.5)) AS INT) AS age,
        CASE WHEN b < 0.51 THEN 'f' ELSE 'm' END AS sex,
        'm' || CAST(floor(7 * pow(c, 2)) AS INT) AS marital,
        'r' || CAST(floor(6 * pow(d, 3)) AS INT) AS race,
        'e' || lpad(CAST(CAST(floor(17 * pow(e, 1.3)) AS INT) AS VARCHAR), 2, '0') AS education,
        'o' || lpad(CAST(CAST(floor(83 * pow(f, 1.4)) AS INT) AS VARCHAR), 2, '0') AS occupation,
        's' || lpad(CAST(CAST(floor(47 * pow(g, 1.8)) AS INT) AS VARCHAR), 2, '0') AS state,
        lpad(CAST(CAST(floor(1000 * pow(h, 1.2)) AS INT) AS VARCHAR), 5, '0') AS postcode,
        'd' || CAST(floor(40 * pow(i, 2)) AS INT) AS disease,
        CAST(floor(10 * j) AS INT) AS ward,
        DATE '2015-01-01' + CAST(floor(3000 * k) AS INT) AS admitted
    FROM (SELECT {draws} FROM range({rows}) t(n))
"""
# hashes of row numbers, as numbers from 0 to 1: the same table in every run
DRAWS = ", ".join(
    f"hash(n * 16 + {place}) / 18446744073709551616.0 AS {letter}"
    for place, letter in enumerate("abcdefghijk")
)
GENERALIZED = """
    SELECT age // 10 * 10 AS age, sex, marital, race, substr(education, 1, 2) AS education,
        substr(occupation, 1, 2) AS occupation, substr(state, 1, 2) AS state,
        substr(postcode, 1, 3) AS postcode, disease, ward, admitted
    FROM '{source}'
"""
NODE = {"age": 2, "education": 1, "occupation": 1, "state": 1, "postcode": 3}
HEADER = "method        seconds  CPU seconds  peak GB together    ncp     classes    released"
RUN = Path(__file__).with_name("scale_runs.py")


def generate(rows: int, path: Path) -> float:
    """Write the table as Parquet or CSV, and return the seconds that it took."""
    begun = time.perf_counter()
    write_rows(TABLE.format(draws=DRAWS, rows=rows), path)
    return time.perf_counter() - begun


def write_rows(query: str, path: Path) -> None:
    """Write the rows of a query in another process: children inherit the peak of this one."""
    writer = multiprocessing.get_context("spawn").Process(target=_copy, args=(query, path))
    writer.start()
    writer.join()
    if writer.exitcode:
        raise SystemExit(f"{path} could not be written")


def _copy(query: str, path: Path) -> None:
    import duckdb

    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as database:
        database.execute(f"COPY ({query}) TO '{path}' (FORMAT {path.suffix[1:]})")


def verify(source: Path, memory: str, k: int) -> None:
    """Generalize a table without Shoal, and print what `shoal verify` finds and costs."""
    released = source.with_name("generalized.parquet")
    write_rows(GENERALIZED.format(source=source), released)
    command = [sys.executable, "-m", "shoal", "verify", str(released), "--quasi", ",".join(QUASI)]
    command += ["-k", str(k), "--memory", memory, "--engine", "duckdb", "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    with memory_together() as together:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        print(f"verify        failed: {done.stderr.strip().splitlines()[-1]}")
        return
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"verify       {seconds:8.1f} {cpu:12.1f} {'':8} {together['peak'] / 1e9:8.2f}")
    found = json.loads(done.stdout)
    verdict = "holds" if done.returncode == 0 else "does not hold"
    print(f"             {found['records']:,} rows, {found['classes']:,} classes: k {verdict}")


def measure(asked: dict[str, Any]) -> dict[str, Any] | None:
    """Run in a process of its own and print a line; return the costs, None if it failed."""
    done = subprocess.run(
        [sys.executable, str(RUN), json.dumps(asked)], capture_output=True, text=True, check=False
    )
    method = asked["method"]
    if done.returncode:
        print(f"{method:12}  failed: {done.stderr.strip().splitlines()[-1]}")
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{method:12} {found['seconds']:8.1f} {found['cpu']:12.1f} {found['peak'] / 1e9:8.2f} "
        f"{found['together'] / 1e9:8.2f} {found['ncp']:6.4f} {found['classes']:11,} "
        f"{found['released']:11,}"
    )
    for note in found["notes"]:
        print(f"             {note}")
    return found


def options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description="Measure tables that are larger than memory.")
    parser.add_argument("--rows", type=float, default=1e6, help="rows of the table, such as 1e8")
    parser.add_argument("--memory", default="2GB", help="the memory budget")
    parser.add_argument(
        "--method", action="append", help="a method; by default given-node, ola and mondrian"
    )
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE of the methods")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--partition-rows", type=int)
    parser.add_argument("--growth", type=float, help="also on the rows divided by this number")
    parser.add_argument("--unpartitioned", action="store_true", help="also without partitions")
    parser.add_argument("--in-memory", action="store_true", help="CSV to Parquet with a report")
    parser.add_argument("--folder", type=Path, help="where the table and the releases are written")
    parser.add_argument("--verify", action="store_true", help="a release of another tool")
    parser.add_argument("--project", action="store_true", help="six linked tables")
    parser.add_argument("--spark", action="store_true", help="compare Spark with DuckDB")
    return parser.parse_args()


def main() -> None:
    given = options()
    named = (text.partition("=") for text in given.option)
    asked: dict[str, Any] = {
        "roles": ROLES,
        "trees": TREES,
        "node": NODE,
        "memory": given.memory,
        "partition_rows": given.partition_rows,
        "k": given.k,
        "options": {name: json.loads(value) for name, _, value in named},
        "in_memory": given.in_memory,
        "report": given.in_memory,
    }
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        if given.project:
            memory = None if given.in_memory else given.memory
            for method in given.method or ("mondrian",):
                measure_project(Path(folder), int(given.rows), memory, given.k, method)
            return
        output = "release.parquet" if given.in_memory else "release"
        asked["output"] = str(Path(folder, output))
        costs = {}
        for rows in [int(given.rows), *([int(given.rows / given.growth)] if given.growth else [])]:
            source = Path(folder, f"rows.{'csv' if given.in_memory else 'parquet'}")
            seconds = generate(rows, source)
            size = source.stat().st_size / 1e9
            print(f"{rows:,} rows generated in {seconds:.0f} s, {size:.2f} GB")
            print(f"memory {'not limited' if given.in_memory else given.memory}, k = {given.k}")
            if given.spark:
                compare({**asked, "source": str(source)}, rows, given.method)
                continue
            print(HEADER)
            if given.verify:
                verify(source, given.memory, given.k)
                continue
            for method in given.method or ("given-node", "ola", "mondrian"):
                case = {**asked, "source": str(source), "method": method}
                costs[method, rows] = measure(case)
                if given.unpartitioned:
                    alone = measure({**case, "in_memory": True})
                    if alone and (parts := costs[method, rows]):
                        more = 100 * (parts["ncp"] / alone["ncp"] - 1)
                        print(f"             loss on partitions: {more:+.2f} %")
        print_growth(costs)


def print_growth(costs: dict[tuple[str, int], dict[str, Any] | None]) -> None:
    """Print the exponent of the CPU time of each method that ran on two sizes."""
    for method in dict.fromkeys(method for method, _ in costs):
        runs = sorted(
            (rows, cost["cpu"]) for (m, rows), cost in costs.items() if m == method and cost
        )
        if len(runs) > 1:
            (few, less), (many, more) = runs[0], runs[-1]
            exponent = math.log(more / less) / math.log(many / few)
            print(f"{method:12} CPU seconds grow with rows to the power of {exponent:.2f}")


if __name__ == "__main__":
    main()
