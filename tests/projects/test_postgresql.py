"""Projects of a PostgreSQL database, on a server of the test's own."""

import pytest
from tests.files.test_databases import server  # noqa: F401  a fixture
from tests.projects.naive import joins, rows_of

from shoal.errors import InputError
from shoal.identifiers import Key
from shoal.projects import Project, release_project

driver = pytest.importorskip(
    "adbc_driver_postgresql.dbapi",
    reason="NO POSTGRESQL: the driver is missing; pip install 'shoal-privacy[sql]'",
)


@pytest.fixture(scope="module")
def address(server):  # noqa: F811
    with driver.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA study")
        cursor.execute("CREATE TABLE study.people (id integer PRIMARY KEY, age integer)")
        cursor.execute("CREATE TABLE study.stays (id integer, ill text)")
        cursor.execute("CREATE TABLE study.samples (person uuid, fee numeric(6, 2), at timestamp)")
        cursor.execute('CREATE TABLE study."odd ""name""; --" (who uuid PRIMARY KEY, age numeric)')
        cursor.execute(
            'WITH people AS (INSERT INTO study."odd ""name""; --" '
            "SELECT gen_random_uuid(), n FROM generate_series(20, 25) AS n RETURNING who) "
            "INSERT INTO study.samples SELECT who, 12.5, '2024-01-02' FROM people"
        )
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


def test_keys_numbers_and_times_of_a_database_are_released(address, tmp_path):
    tables = {
        "people": {"from": 'study.odd "name"; --', "key": "who", "columns": {"age": "quasi"}},
        "samples": {
            "from": "study.samples",
            "foreign": {"person": "people"},
            "columns": {"fee": "sensitive", "at": "quasi"},
        },
    }
    project = Project.of({"person": "people", "source": address, "tables": tables})
    assert release_project(project, tmp_path / "out", k=3, key=Key.new(), domain="a")
    people, samples = (rows_of(tmp_path / "out" / f"{name}.parquet") for name in tables)
    assert joins(samples, "person", people, "who") == (6, 0)
    assert {str(row["fee"]) for row in samples} == {"12.50"}
    assert {str(row["at"])[:10] for row in samples} == {"2024-01-02"}
    assert {row["age"] for row in people} <= {"[20, 22]", "[23, 25]", "[20, 25]"}


@pytest.mark.parametrize(
    "name", ['people"; DROP TABLE study.people; --', "people; COMMIT", "a.b.c"]
)
def test_the_name_of_a_table_is_a_name_and_nothing_else(address, name, tmp_path):
    tables = {"people": {"from": name, "key": "id", "columns": {"age": "quasi"}}}
    project = Project.of({"person": "people", "source": address, "tables": tables})
    with pytest.raises(InputError, match="refuses the query"):
        release_project(project, tmp_path / "out", k=2, key=Key.new(), domain="a")
    with driver.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM study.people")
        assert cursor.fetchone() == (8,)
