"""Every method writes the same bytes with one thread as with two.

The releases are made in processes of their own: `python -m tests.methods.test_threads 1` prints a
digest of the files of each, written by that many threads of Shoal, Arrow, DuckDB, the algebra
libraries and the solver, on as many cores.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

OPTIONS = {  # so that each is done in seconds, and neither a clock nor a secure draw decides
    "auto": {"time_limit": 1e-6},
    "anneal": {"steps": 20},
    "safe-la": {"allow_large_delta": True, "n0": 400, "seed": 3},
    **{name: {"seed": 3} for name in ("doka-greedy", "doka-sort-greedy", "doka-hungarian")},
}
ROWS = 400
FEW = {"optimal": 14}  # rows that a method takes instead of all
ON_DISK = ("flash", "mondrian", "safe-la")
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def printed(threads):
    """Return what the program below prints with so many threads."""
    found = subprocess.run(
        [sys.executable, "-m", "tests.methods.test_threads", str(threads)],
        env={**os.environ, **dict.fromkeys(VARIABLES, str(threads))},
        cwd=Path(__file__).parents[2],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(found.stdout)


@pytest.mark.slow
def test_two_threads_write_the_bytes_of_one():
    import shoal

    one, two = printed(1), printed(2)
    expected = {*shoal.METHODS, "km-anonymity", *(f"{name} on disk" for name in ON_DISK)}
    assert set(one) == set(two) == expected
    assert [name for name in one if one[name] != two[name]] == []


def limit(threads):
    """Let this process use so many threads, and run on so many cores."""
    os.cpu_count = lambda: threads
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    import pyarrow as pa

    from shoal.methods.partition import annealing, nearest

    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)
    annealing._BLOCK, annealing._TRIED, annealing._TRIAL = 40, 80, 90  # work for every thread
    nearest._BLOCK = 16


def data():
    import numpy as np
    import pyarrow as pa

    draw = np.random.default_rng(1)
    return pa.table(
        {
            "who": [f"p{n}" for n in draw.integers(0, ROWS // 3, ROWS)],
            "age": draw.integers(20, 80, ROWS),
            "income": draw.normal(40, 12, ROWS).round(1),
            "town": draw.choice(list("abcdefgh"), ROWS),
            "illness": draw.choice(["flu", "gout", "cold"], ROWS),
        }
    )


HIERARCHIES = {
    "age": {"intervals": [5, 10, 20]},
    "income": {"intervals": [5, 20]},
    "town": {"tree": {"west": list("abcd"), "east": list("efgh")}},
}
ROLES = {"age": "quasi", "income": "quasi", "town": "quasi", "illness": "sensitive"}
DECLARED = {  # for a method whose claim rests on what is declared
    "age": {"type": "integer", "bounds": [0, 99]},
    "income": {"type": "decimal(1)", "bounds": [-50, 150]},
    "town": {"type": "text", "values": list("abcdefgh")},
    "illness": {"type": "text", "values": ["flu", "gout", "cold"]},
}


def releases(folder):
    """Yield the name and the release of every method, of a table on disk, and of visits."""
    import pyarrow.csv

    import shoal

    rows = data()
    declared = {
        name: {"role": role, "hierarchy": HIERARCHIES.get(name), **DECLARED[name]}
        for name, role in ROLES.items()
    }
    declared["illness"].pop("hierarchy")

    def asked(name):
        ask = {"k": 3, "method": name, **OPTIONS.get(name, {})}
        return {**ask, "model": "freeform-anonymity(3)", "k": None} if "doka" in name else ask

    for name in shoal.METHODS:
        part = rows.slice(0, FEW.get(name, ROWS)).drop_columns("who")
        described = {"roles": ROLES, "hierarchies": HIERARCHIES}
        described = {"roles": declared} if name == "safe-la" else described
        table = shoal.read(part, **described, rows_are_people=True)
        yield name, shoal.anonymize(table, **asked(name))
    path = Path(folder, "rows.csv")
    pyarrow.csv.write_csv(rows.drop_columns("who"), path)
    for name in ON_DISK:
        table = shoal.open(path, roles=declared, engine="duckdb", rows_are_people=True)
        yield f"{name} on disk", shoal.anonymize(table, **asked(name))
    yield (
        "km-anonymity",
        shoal.anonymize(
            rows.slice(0, 150),
            "km-anonymity(3, 2)",
            quasi=["age", "income", "town"],
            sensitive="illness",
            person="who",
            replace={"who": "pseudonym"},
            key=shoal.identifiers.Key(bytes(range(32))),
            domain="test",
            max_left_out=0.5,
        ),
    )


def main():
    """Print a digest of the files of every release, made by the number of threads that is given."""
    limit(int(sys.argv[1]))
    found = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, release in releases(folder):
            parts = []
            for ending in ("csv", "parquet"):
                path = Path(folder, f"out.{ending}")
                release.write(path, force=True)
                parts.append(path.read_bytes())
            assert len(parts[0]) > 100, name
            found[name] = hashlib.sha256(b"".join(parts)).hexdigest()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
