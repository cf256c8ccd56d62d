"""Projects on disk: the same bytes as in memory, the same refusals, nothing left behind."""

import json
import signal
import subprocess
import sys
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.projects.naive import fewest_alike, joins, rows_per_person
from tests.projects.test_projects import (
    LABS,
    OPTIONS,
    PATIENTS,
    SCHEMA,
    TABLES,
    VISITS,
    released,
    written,
)

from shoal.errors import InputError
from shoal.projects import Project, check_set, release_project, releasing

ON_DISK = {"engine": "duckdb", "memory": "400MB"}


def assert_same(project, folder, **options):
    """Release a project in memory and on disk, compare all files, and return the tables."""
    one = release_project(project, folder / "in_memory", **options)
    other = release_project(project, folder / "on_disk", **ON_DISK, **options)
    assert one == other
    names = sorted(path.name for path in (folder / "in_memory").iterdir())
    assert names == sorted(path.name for path in (folder / "on_disk").iterdir())
    for name in names:
        first, second = ((folder / place / name).read_bytes() for place in ("in_memory", "on_disk"))
        assert first == second, name
    return released(folder / "on_disk")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("method", ["mondrian", "flash"])
def test_linked_tables_are_released_with_the_same_bytes(tmp_path, kind, method):
    """Foreign keys of two steps and of two people's tables, missing keys, keys of nobody."""
    found = assert_same(written(tmp_path, kind), tmp_path, method=method, **OPTIONS)
    assert joins(found["visits"], "patient_id", found["patients"], "patient_id") == (18, 0)
    assert joins(found["labs"], "visit_id", found["visits"], "visit_id") == (4, 1)
    assert joins(found["visits"], "ward_id", found["wards"], "ward_id") == (12, 6)
    linked = {"visits": ("patient_id", ["sex", "month"])}
    assert fewest_alike(found, "patients", "patient_id", ["age", "sex"], linked) >= 2


def drawn_tables(seed):
    """Tables of people, stays and tests with all kinds of columns, drawn at random."""
    draw = np.random.default_rng(seed)
    people, stays, tests = draw.integers(8, 40), draw.integers(0, 60), draw.integers(0, 80)
    owners, visits = draw.integers(0, people + 3, stays), draw.integers(0, stays + 2, tests)
    sex = draw.choice(["f", "m", None], people, p=[0.5, 0.4, 0.1])
    day = date(2020, 1, 1)

    def some(values):
        return [None if draw.random() < 0.1 else value for value in values]

    ages = draw.integers(20, 60, people).tolist()
    return {
        "people": {
            "id": pa.array([f"p{n}" for n in draw.permutation(people)]),
            "age": pa.array(some(ages), pa.int64()),
            "sex": pa.array(sex.tolist(), pa.string()),
            "zip": pa.array([f"0{n}" for n in draw.integers(100, 130, people)]),
            "ill": pa.array(some(draw.choice(["flu", "gout"], people).tolist()), pa.string()),
            "mail": pa.array([f"{n % 7}@x" for n in range(people)]),
        },
        "stays": {
            "stay": pa.array(draw.permutation(stays), pa.int64()),
            "who": pa.array(some([f"p{n}" for n in owners]), pa.string()),
            "sex": pa.array([sex[n] if n < people else "f" for n in owners], pa.string()),
            "day": pa.array(
                some([day + timedelta(int(n)) for n in draw.integers(0, 90, stays)]), pa.date32()
            ),
            "drug": pa.array(some(draw.choice(list("abcd"), stays).tolist()), pa.string()),
            "cost": pa.array(some(draw.random(stays).round(1).tolist()), pa.float64()),
            "ward": pa.array(some([f"w{n}" for n in draw.integers(0, 4, stays)]), pa.string()),
        },
        "tests": {
            "stay": pa.array(visits, pa.int64()),
            "level": pa.array(draw.integers(0, 9, tests), pa.int64()),
            "note": pa.array([f"=note, \"{n}\"" for n in range(tests)], pa.string()),
        },
        "wards": {"ward": pa.array(["w0", "w1", "w2"]), "name": pa.array(["a", "b", None])},
    }  # fmt: skip


DRAWN = {
    "person": "people",
    "tables": {
        "people": {
            "key": "id",
            "columns": {
                "age": {"role": "quasi", "type": "integer", "hierarchy": {"intervals": [5, 10]}},
                "sex": "quasi",
                "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
                "ill": "sensitive",
                "mail": {"role": "identifier", "replace": "pseudonym"},
            },
        },
        "stays": {
            "key": "stay",
            "foreign": {"who": "people", "ward": "wards"},
            "columns": {
                "sex": "quasi",
                "day": {"role": "quasi", "type": "date"},
                "drug": "quasi",
                "cost": "sensitive",
            },
        },
        "tests": {
            "foreign": {"stay": "stays"},
            "columns": {
                "level": {"role": "quasi", "type": "integer", "hierarchy": {"intervals": [3]}},
                "note": "insensitive",
            },
        },
        "wards": {
            "key": "ward",
            "columns": {"ward": "insensitive", "name": {"role": "insensitive"}},
        },
    },
}


@pytest.mark.parametrize("seed", range(6))
def test_random_tables_have_the_same_bytes_and_hide_their_people(tmp_path, seed):
    """Against a release in memory, and a naive count of the people who look alike."""
    draw = np.random.default_rng(seed)
    ending = draw.choice(["csv", "parquet"])
    for name, columns in drawn_tables(seed).items():
        path = tmp_path / f"{name}.{ending}"
        write = pa.csv.write_csv if ending == "csv" else pq.write_table
        write(pa.table(columns), path)
    options = {**OPTIONS, "method": str(draw.choice(["flash", "mondrian", "ola"]))}
    if options["method"] != "mondrian":
        options["max_suppression"] = 0.3
    if seed % 2:
        options |= {"people": 7, "seed": seed}
    found = assert_same(Project.of(DRAWN, tmp_path), tmp_path, **options)
    linked = {"stays": ("who", ["sex", "day", "drug"])}
    assert fewest_alike(found, "people", "id", ["age", "sex", "zip"], linked) >= 2


def test_suppressed_people_disappear_from_every_table(tmp_path):
    people = {**PATIENTS, "age": [30] * 10 + [70, 99], "sex": ["f"] * 12}
    visits = {**VISITS, "patient_id": [f"p{n % 12}" for n in range(20)], "sex": ["f"] * 20}
    labs = {"visit_id": [11, 12, 1], "patient_id": ["p99", None, None], "value": [1.0, 2.0, 3.0]}
    written(tmp_path, "parquet", {**TABLES, "patients": people, "visits": visits, "labs": labs})
    schema = {name: dict(table) for name, table in SCHEMA["tables"].items()}
    age = {"role": "quasi", "hierarchy": {"intervals": [10]}}
    schema["patients"]["columns"] = {"age": age, "name": "identifier"}
    schema["visits"]["columns"] = {"ill": "sensitive"}
    project = Project.of({"person": "patients", "tables": schema}, tmp_path)
    found = assert_same(project, tmp_path, method="flash", max_suppression=0.2, **OPTIONS)
    assert [len(found[name]) for name in ("patients", "visits", "labs")] == [10, 18, 1]


def test_a_method_on_partitions_hides_people_too(tmp_path):
    project = written(tmp_path, "csv")
    assert release_project(project, tmp_path / "out", method="greedy", **ON_DISK, **OPTIONS)
    found = released(tmp_path / "out")
    linked = {"visits": ("patient_id", ["sex", "month"])}
    assert fewest_alike(found, "patients", "patient_id", ["age", "sex"], linked) >= 2
    assert rows_per_person(found["visits"], "patient_id") == [1, 1, 2, 2, 2, 2, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"patients": {**PATIENTS, "patient_id": ["p0"] * 12}}, "repeats in 11 rows"),
        ({"patients": {**PATIENTS, "patient_id": [None, *PATIENTS["patient_id"][1:]]}}, "no key"),
        ({"labs": {**LABS, "patient_id": ["p5"] * 6}}, "in 4 rows .* different people"),
    ],
)
def test_wrong_tables_are_refused_as_in_memory(tmp_path, changed, said):
    project = written(tmp_path, "parquet", {**TABLES, **changed})
    for place in ({}, ON_DISK):
        with pytest.raises(InputError, match=said):
            release_project(project, tmp_path / "out", **place, **OPTIONS)
    assert not (tmp_path / "out").exists()


def with_key(replace):
    tables = {name: dict(table) for name, table in SCHEMA["tables"].items()}
    key = {"patient_id": {"role": "identifier", "replace": replace}}
    tables["patients"]["columns"] = {**tables["patients"]["columns"], **key}
    return {**SCHEMA, "tables": tables}


@pytest.mark.parametrize(
    ("schema", "options", "said"),
    [
        (SCHEMA, {"model": "km-anonymity(2, 2)", "k": None}, "rows of all tables in memory"),
        (with_key("token"), {}, "token needs the rows in memory; use pseudonym"),
        (with_key("drop"), {}, "cannot be left out"),
        ({**SCHEMA, "source": "all.sqlite"}, {}, "read into memory, whatever their size"),
        (SCHEMA, {"engine": "spark"}, "released by duckdb, not by spark"),
        (SCHEMA, {"method": "doka-greedy"}, "needs the table in memory"),
        (SCHEMA, {"method": "safe-la"}, "draws people"),
        (SCHEMA, {"domain": ""}, "needs a domain"),
    ],
)
def test_what_needs_memory_is_refused_with_a_reason(tmp_path, schema, options, said):
    written(tmp_path, "csv")
    written(tmp_path, "sqlite")
    with pytest.raises(InputError, match=said):
        release_project(
            Project.of(schema, tmp_path), tmp_path / "out", **{**ON_DISK, **OPTIONS, **options}
        )
    assert not (tmp_path / "out").exists()


def test_a_failure_between_tables_leaves_nothing(tmp_path, monkeypatch):
    project = written(tmp_path, "csv")
    before = sorted(path.name for path in tmp_path.iterdir())
    working = tmp_path / "working"
    working.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(working))
    real, calls = releasing.write_published, []

    def second_fails(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(*arguments)

    monkeypatch.setattr(releasing, "write_published", second_fails)
    with pytest.raises(KeyboardInterrupt):
        release_project(project, tmp_path / "out", **ON_DISK, **OPTIONS)
    assert not list(working.iterdir())
    working.rmdir()
    assert sorted(path.name for path in tmp_path.iterdir()) == before


KILLED = """
import os, signal, sys, tempfile
from pathlib import Path
from shoal.identifiers import Key
from shoal.projects import release_project, releasing

folder, key = Path(sys.argv[1]), Key(bytes(range(32)))
tempfile.tempdir = str(folder / "working")
write, written = releasing.write_published, []

def write_or_die(*arguments):
    if len(written) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(write(*arguments))

releasing.write_published = write_or_die
release_project(
    folder / "project.yaml", folder / "out", k=2, key=key, domain="study", engine="duckdb"
)
"""


def test_a_kill_leaves_no_half_set_and_its_files_are_swept(tmp_path, monkeypatch):
    written(tmp_path, "csv")
    (tmp_path / "project.yaml").write_text(json.dumps(SCHEMA))
    (tmp_path / "working").mkdir()
    before = {path.name for path in tmp_path.iterdir()}
    child = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert child.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert list((tmp_path / "working").iterdir())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "working"))
    release_project(tmp_path / "project.yaml", tmp_path / "out", **ON_DISK, **OPTIONS)
    assert check_set(tmp_path / "out", memory="300MB").holds
    assert {path.name for path in tmp_path.iterdir()} == before | {"out"}
    assert not list((tmp_path / "working").iterdir())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_with_many_values_are_the_same_without_a_dictionary(tmp_path, ending, monkeypatch):
    """Unchanged columns of any type, of which the engine keeps no dictionary."""
    monkeypatch.setattr("shoal.rows.large_table.MAX_NATURAL", 2)
    draw, rows = np.random.default_rng(3), 40
    moment = datetime(2024, 5, 1, 8)
    some = [None if n % 9 == 0 else n for n in range(rows)]
    stays = {
        "who": pa.array([f"p{n % 14}" for n in range(rows)]),
        "cost": pa.array([-0.0, float("nan"), *draw.random(rows - 2)], pa.float64()),
        "paid": pa.array([None if n is None else n * 10**12 for n in some], pa.int64()),
        "price": pa.array(
            [None if n is None else Decimal(n) / 4 for n in some], pa.decimal128(9, 2)
        ),
        "begun": pa.array([moment + timedelta(hours=n) for n in range(rows)], pa.timestamp("us")),
        "note": pa.array([None if n is None else "" if n == 5 else f"n,{n}" for n in some]),
        "code": pa.array([f"{n:03}" for n in range(rows)]).dictionary_encode(),
        "size": pa.array(range(rows), pa.int32()),
    }
    people = {"id": pa.array([f"p{n}" for n in range(12)]), "age": pa.array([30, 40] * 6)}
    for name, columns in (("people", people), ("stays", stays)):
        write = pa.csv.write_csv if ending == "csv" else pq.write_table
        write(pa.table(columns), tmp_path / f"{name}.{ending}")
    unchanged = dict.fromkeys([name for name in stays if name != "who"], "insensitive")
    if ending == "parquet":
        unchanged |= {"size": "sensitive", "begun": "sensitive"}
    tables = {
        "people": {"key": "id", "columns": {"age": "quasi"}},
        "stays": {"foreign": {"who": "people"}, "columns": unchanged},
    }
    project = Project.of({"person": "people", "tables": tables}, tmp_path)
    found = assert_same(project, tmp_path, method="flash", **OPTIONS)
    assert len(found["stays"]) == 36


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_without_rows_stays_one(tmp_path, ending):
    empty = {name: pa.array(cells).slice(0, 0) for name, cells in VISITS.items()}
    project = written(tmp_path, ending, {**TABLES, "visits": empty})
    found = assert_same(project, tmp_path, **OPTIONS)
    assert found["visits"] == []
