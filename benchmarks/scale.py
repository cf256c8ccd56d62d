"""Tables larger than memory: `make bench-scale`, or `python benchmarks/scale.py --rows 1e8`.

Generates a table of 8 quasi-identifiers (about 75 ages, 2, 7, 6, 17, 83 and 47 categories and 1,000
postcodes, skewed), one sensitive and two unchanged columns, as Parquet, and prints for each method
the time, the peak memory of the process and the loss. Each method runs in its own process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
RUN = """
import json, resource, sys, time, warnings
import shoal

warnings.simplefilter("ignore")
given = json.loads(sys.argv[1])
begun = time.perf_counter()
table = shoal.open(given["source"], roles=given["roles"], hierarchies=given["trees"],
    memory=given["memory"], partition_rows=given["partition_rows"])
release = shoal.anonymize(table, k=given["k"], method=given["method"], **given["options"])
checked = release.write(given["output"], force=True)
assert checked.holds
children = resource.getrusage(resource.RUSAGE_CHILDREN)
own = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "seconds": time.perf_counter() - begun,
    "cpu": own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
    "peak": own.ru_maxrss * 1024, "ncp": release.losses["ncp"], "classes": checked.classes,
    "released": checked.records, "notes": release.run.notes}))
"""


def generate(rows: int, path: Path) -> float:
    """Write the table, and return the seconds that it took."""
    import duckdb

    begun = time.perf_counter()
    database = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    query = TABLE.format(draws=DRAWS, rows=rows)
    database.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    database.close()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure tables that are larger than memory.")
    parser.add_argument("--rows", type=float, default=1e6, help="rows of the table, such as 1e8")
    parser.add_argument("--memory", default="2GB", help="the memory budget")
    parser.add_argument("--method", action="append", help="a method; by default ola and mondrian")
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE of the methods")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--partition-rows", type=int)
    parser.add_argument("--folder", type=Path, help="where the table and the releases are written")
    given = parser.parse_args()
    options = {n: json.loads(v) for n, _, v in (text.partition("=") for text in given.option)}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        source = Path(folder, "rows.parquet")
        seconds = generate(int(given.rows), source)
        size = source.stat().st_size / 1e9
        print(f"{int(given.rows):,} rows generated in {seconds:.0f} s, {size:.2f} GB")
        print(f"memory {given.memory}, k = {given.k}")
        print("method        seconds  CPU seconds  peak GB    ncp     classes    released")
        for method in given.method or ("ola", "mondrian"):
            asked = {
                "source": str(source),
                "output": str(Path(folder, "release")),
                "roles": ROLES,
                "trees": TREES,
                "memory": given.memory,
                "partition_rows": given.partition_rows,
                "k": given.k,
                "method": method,
                "options": options,
            }
            done = subprocess.run(
                [sys.executable, "-c", RUN, json.dumps(asked)],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                print(f"{method:12}  failed: {done.stderr.strip().splitlines()[-1]}")
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            print(
                f"{method:12} {found['seconds']:8.1f} {found['cpu']:12.1f} "
                f"{found['peak'] / 1e9:8.2f} {found['ncp']:6.4f} {found['classes']:11,} "
                f"{found['released']:11,}"
            )
            for note in found["notes"]:
                print(f"             {note}")


if __name__ == "__main__":
    main()
