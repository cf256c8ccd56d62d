"""Columns may have any name: engines call them c0, c1, …, so no name means anything in a query.

Every column of every table has the name of an alias of a query, of a keyword, or of a function.
"""

from __future__ import annotations

import json
import random
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.nasty import ALIASES
from tests.projects.test_on_disk import assert_same
from tests.rows import spark_sessions
from typer.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.files.writing import write_table
from shoal.identifiers import Key
from shoal.projects import Project

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
KINDS = ("age", "sex", "zip", "illness", "cost", "note", "flat", "mail", "patient", "born")
ROLES = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20]}},
    "sex": {"role": "quasi"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "illness": {"role": "sensitive"},
    "cost": {"role": "insensitive"},
    "note": {"role": "insensitive"},
    "flat": {"role": "insensitive"},
    "mail": {"role": "identifier", "replace": "pseudonym"},
    "patient": {"role": "identifier"},
    "born": {"role": "sensitive"},
}
SETS = [ALIASES[start : start + len(KINDS)] for start in range(0, len(ALIASES), len(KINDS))]


def table(names, rows=60, seed=3):
    """Return a table whose columns have these names, and how its columns are described."""
    draw = random.Random(seed)
    cells = {
        "age": [draw.choice([None, *range(20, 60, 3)]) for _ in range(rows)],
        "sex": [draw.choice(["f", "m", ""]) for _ in range(rows)],
        "zip": [f"0{draw.randrange(10, 16)}{draw.randrange(3)}" for _ in range(rows)],
        "illness": [draw.choice(["flu", "gout", "cold"]) for _ in range(rows)],
        "cost": [draw.choice([1.5, 2.0, None]) for _ in range(rows)],
        "note": [f"note {n}" for n in range(rows)],
        "flat": ["all the same"] * rows,
        "mail": [f"{n // 2}@x" for n in range(rows)],
        "patient": [f"p{n // 2}" for n in range(rows)],
        "born": [date(1950 + draw.randrange(50), 1, 1) for _ in range(rows)],
    }
    short = [*names, *(name for name in ALIASES if name not in names)][: len(KINDS)]
    named = dict(zip(KINDS, short, strict=True))
    data = pa.table({named[kind]: values for kind, values in cells.items()})
    return data, {named[kind]: spec for kind, spec in ROLES.items()}, named["patient"]


def without_replacements(specs):
    return {n: {k: v for k, v in spec.items() if k != "replace"} for n, spec in specs.items()}


@pytest.fixture(params=["csv", "parquet"])
def write(request, tmp_path):
    def written(data):
        path = tmp_path / f"rows.{request.param}"
        write_table(data, path) if request.param == "csv" else pq.write_table(data, path)
        return path

    return written


def assert_same_release(path, specs, person, folder, **options):
    """Release a file in memory and on disk, and compare the bytes and the outcomes."""
    schema = {"columns": specs, "person": person}
    asked = {"key": Key(bytes(range(32))), "domain": "study", **options}
    one = shoal.anonymize(shoal.read(path, schema), **asked)
    with shoal.open(path, schema) as opened:
        other = shoal.anonymize(opened, **asked)
        for ending in ("csv", "parquet"):
            first, second = folder / f"one.{ending}", folder / f"other.{ending}"
            assert one.write(first, force=True) == other.write(second, force=True)
            assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("names", SETS, ids=lambda names: names[0])
def test_a_release_from_disk_is_that_from_memory(names, write, tmp_path):
    data, specs, person = table(names)
    illness = list(specs)[KINDS.index("illness")]
    model = shoal.LDiversity(2, illness)
    assert_same_release(
        write(data), specs, person, tmp_path, model=model, k=2, method="flash", max_suppression=0.2
    )


@pytest.mark.parametrize("names", SETS[::4], ids=lambda names: names[0])
def test_partitions_are_those_of_memory(names, write, tmp_path):
    data, specs, person = table(names)
    specs = {
        name: {k: v for k, v in spec.items() if k != "replace"} for name, spec in specs.items()
    }
    assert_same_release(write(data), specs, person, tmp_path, k=3, method="mondrian")


@pytest.mark.parametrize("name", ["n", "N", "person", "rowid", "file_row_number", "count", "c0"])
def test_a_quasi_identifier_of_one_name(name, write, tmp_path):
    """Columns named `n` and `person` were counted in the place of counts of rows and people."""
    data = pa.table({name: [30, 30, 40, 40] * 5, "illness": ["flu", "cold"] * 10})
    specs = {name: {"role": "quasi"}, "illness": {"role": "sensitive"}}
    path = write(data)
    for method in ("mondrian", "flash"):
        one = shoal.anonymize(
            shoal.read(path, roles=specs, rows_are_people=True), k=3, method=method
        )
        with shoal.open(path, roles=specs, rows_are_people=True) as opened:
            other = shoal.anonymize(opened, k=3, method=method)
            assert one.write(tmp_path / "one.csv", force=True) == other.write(
                tmp_path / "other.csv", force=True
            )
        assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


@pytest.mark.parametrize("names", SETS, ids=lambda names: names[0])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_project_on_disk_is_that_in_memory(names, kind, tmp_path):
    """Tables, keys and columns have such names."""
    names = [*names, *(name for name in ALIASES if name not in names)]
    people, stays = [name for name in names if name.isalnum()][:2]
    key, visit, age, sex, ill, mail = names[:6]
    draw = random.Random(len(names))
    sexes = [draw.choice("fm") for _ in range(20)]
    owners = [draw.randrange(22) for _ in range(40)]
    tables = {
        people: {
            key: [f"p{n}" for n in range(20)],
            age: [draw.randrange(20, 50) for _ in range(20)],
            sex: sexes,
            mail: [f"{n}@x" for n in range(20)],
        },
        stays: {
            visit: list(range(40)),
            key: [f"p{n}" for n in owners],
            sex: [sexes[n] if n < 20 else "f" for n in owners],
            age: [draw.randrange(1, 13) for _ in range(40)],
            ill: [draw.choice(["flu", "gout"]) for _ in range(40)],
            mail: ["flat"] * 40,
        },
    }
    for name, columns in tables.items():
        path = tmp_path / f"{name}.{kind}"
        write_table(pa.table(columns), path) if kind == "csv" else pq.write_table(
            pa.table(columns), path
        )
    quasi = {age: {"role": "quasi", "type": "integer"}, sex: "quasi"}
    replaced = {mail: {"role": "identifier", "replace": "pseudonym"}}
    schema = {
        people: {"key": key, "columns": {**quasi, **replaced}},
        stays: {
            "key": visit,
            "foreign": {key: people},
            "columns": {**quasi, ill: "sensitive", mail: "insensitive"},
        },
    }
    project = Project.of({"person": people, "tables": schema}, tmp_path)
    assert_same(project, tmp_path, k=2, key=Key(bytes(range(32))), domain="study")


@pytest.mark.parametrize("names", SETS[::2], ids=lambda names: names[0])
@pytest.mark.parametrize("order", ["original", "canonical"])
def test_metrics_and_verdicts_of_two_files_are_those_of_memory(names, order, write, tmp_path):
    data, specs, _ = table(names)
    path, note = write(data), list(specs)[KINDS.index("note")]
    specs = without_replacements(specs)
    (tmp_path / "schema.yaml").write_text(json.dumps({"columns": specs}))
    release = shoal.anonymize(
        shoal.read(path, {"columns": specs}, rows_are_people=True), k=4, method="flash"
    )
    release.write(tmp_path / "out.csv", order=order)
    files = path, tmp_path / "out.csv", "--schema", tmp_path / "schema.yaml", "--rows-are-people"
    for more in ((), (f"--key={note}",)):
        one, other = (
            printed("metrics", *files, *more, *engine) for engine in ((), ("--engine", "duckdb"))
        )
        figures, found = one.pop("metrics"), other.pop("metrics")
        assert found == pytest.approx({name: figures[name] for name in found}, rel=1e-9)
        assert one["smallest_class"] == other["smallest_class"]
    asked = tmp_path / "out.csv", "--schema", tmp_path / "schema.yaml", "--rows-are-people", "-k", 4
    assert printed("verify", *asked) == printed("verify", *asked, "--engine", "duckdb")


def printed(*arguments):
    """Return what a command prints as JSON."""
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.skipif(bool(spark_sessions.missing()), reason=spark_sessions.missing())
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("names", SETS, ids=lambda names: names[0])
def test_a_release_in_spark_is_that_in_memory(names, spark, write, tmp_path):
    data, specs, person = table(names)
    path = write(data)
    specs = {
        name: {k: v for k, v in spec.items() if k != "replace"} for name, spec in specs.items()
    }
    schema = {"columns": specs, "person": person}
    one = shoal.anonymize(shoal.read(path, schema), k=2, method="flash")
    with shoal.open(path, schema, engine="spark") as opened:
        other = shoal.anonymize(opened, k=2, method="flash")
        for ending in (".csv", ".parquet", ""):
            first, second = tmp_path / f"one{ending}", tmp_path / f"other{ending}"
            assert one.write(first) == other.write(second)
            if ending:
                assert first.read_bytes() == second.read_bytes()
