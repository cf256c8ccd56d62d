"""Projects of a PostgreSQL database, on a server of the test's own."""

import pytest
from tests.projects.naive import joins, rows_of
from tests.reading.test_databases import server  # noqa: F401  a fixture

from shoal.identifiers import Key
from shoal.projects import Project, release_project

driver = pytest.importorskip("adbc_driver_postgresql.dbapi")


@pytest.fixture
def address(server):  # noqa: F811
    with driver.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA study")
        cursor.execute("CREATE TABLE study.people (id integer PRIMARY KEY, age integer)")
        cursor.execute("CREATE TABLE study.stays (id integer, ill text)")
        cursor.execute("INSERT INTO study.people SELECT n, 30 + n FROM generate_series(1, 8) AS n")
        cursor.execute("INSERT INTO study.stays VALUES (1, 'flu'), (1, 'cold'), (5, 'flu')")
        connection.commit()
    return server


def test_tables_of_a_database_are_released_together(address, tmp_path):
    tables = {
        "people": {"from": "study.people", "key": "id", "columns": {"age": "quasi"}},
        "stays": {"from": "study.stays", "foreign": {"id": "people"},
                  "columns": {"ill": "sensitive"}},
    }  # fmt: skip
    project = Project.of({"person": "people", "source": address, "tables": tables})
    checked = release_project(project, tmp_path / "out", k=2, key=Key.new(), domain="a")
    assert checked
    people, stays = (rows_of(tmp_path / "out" / f"{name}.parquet") for name in tables)
    assert joins(stays, "id", people, "id") == (3, 0)
    assert sorted(row["ill"] for row in stays) == ["cold", "flu", "flu"]
