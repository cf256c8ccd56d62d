"""Names of tables and columns reach a database as names, whatever they contain."""

import sqlite3

import duckdb
import pytest
from tests.projects.naive import rows_of

from shoal.errors import InputError
from shoal.identifiers import Key
from shoal.projects import Project, release_project

HOSTILE = [
    'people"; DROP TABLE people; --',
    "people'; DROP TABLE people; --",
    "people; ATTACH 'x.db'",
    'a "b" c',
    "SELECT",
    "x; COPY people TO 'copy.csv'; --",
]
OPEN = {"duckdb": duckdb.connect, "sqlite": sqlite3.connect}


def made(kind, folder, table, column):
    """A database with a table and a column of these names, and a table of people."""
    path = folder / f"all.{kind}"
    database = OPEN[kind](str(path))
    table, column = (name.replace('"', '""') for name in (table, column))
    database.execute("CREATE TABLE people (id INTEGER)")
    database.execute(f'CREATE TABLE "{table}" (id INTEGER, "{column}" INTEGER)')
    for number in range(8):
        database.execute(f'INSERT INTO "{table}" VALUES (?, ?)', [number, 30 + number // 4])
    database.commit()
    database.close()
    return path


def project(path, table, column):
    described = {"from": table, "key": "id", "columns": {column: "quasi"}}
    return Project.of({"person": "all", "source": str(path), "tables": {"all": described}})


@pytest.mark.parametrize("kind", OPEN)
@pytest.mark.parametrize("name", [name for name in HOSTILE if "." not in name])
def test_an_odd_name_is_read_and_released(kind, name, tmp_path):
    path = made(kind, tmp_path, name, name)
    options = {"k": 2, "key": Key.new(), "domain": "a"}
    assert release_project(project(path, name, name), tmp_path / "out", **options)
    assert (
        sorted(row[name] for row in rows_of(tmp_path / "out" / "all.parquet"))
        == [30] * 4 + [31] * 4
    )


@pytest.mark.parametrize("kind", OPEN)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_no_table_has_is_refused_and_runs_nothing(kind, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = made(kind, tmp_path, "other", "age")
    with pytest.raises(InputError, match="no readable table"):
        release_project(project(path, name, "age"), tmp_path / "out", k=2, key=Key.new())
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    database = OPEN[kind](str(path))
    assert database.execute("SELECT count(*) FROM people").fetchone() == (0,)
    database.close()
