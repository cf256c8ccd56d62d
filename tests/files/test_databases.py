"""PostgreSQL: a server of the test's own, reached over loopback."""

from __future__ import annotations

import csv
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

import shoal
from shoal.files.formats import Format
from shoal.files.reading import read_arrow
from shoal.support.addresses import is_database

driver = pytest.importorskip(
    "adbc_driver_postgresql.dbapi",
    reason="NO POSTGRESQL: the driver is missing; pip install 'shoal-privacy[sql]'",
)


def tool(name):
    places = [shutil.which(name), *map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))]
    return next((place for place in places if place), None)


@pytest.fixture(scope="module")
def server():
    """The address of a new PostgreSQL server with one table."""
    if tool("initdb") is None or tool("pg_ctl") is None:
        pytest.skip("NO POSTGRESQL: install the distribution's postgresql package")
    user = "nobody" if os.geteuid() == 0 else None  # the server refuses to run as root
    home = Path(tempfile.mkdtemp())  # another user must be able to reach it
    home.chmod(0o755)
    data = home / "data"
    data.mkdir()
    if user:
        os.chown(data, pwd.getpwnam(user).pw_uid, -1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = {"user": user, "cwd": data, "capture_output": True, "env": {
        "PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(data)}}  # fmt: skip
    subprocess.run(
        [tool("initdb"), "-D", data, "-A", "trust", "-U", "clinic", "-N"], check=True, **run
    )
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    log = data / "log"
    start = [tool("pg_ctl"), "-D", data, "-w", "-l", log, "-o", options, "start"]
    subprocess.run(
        start, check=True, **run | {"capture_output": False, "stdout": subprocess.DEVNULL}
    )
    address = f"postgresql://clinic@127.0.0.1:{port}/postgres"
    try:
        fill(address)
        yield address
    finally:
        subprocess.run([tool("pg_ctl"), "-D", data, "-m", "immediate", "stop"], check=True, **run)
        shutil.rmtree(home)


def fill(address):
    with driver.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE visits (patient int, age int, seen date, disease text)")
        cursor.execute(
            "INSERT INTO visits VALUES (1, 31, '2024-01-02', 'flu'), "
            "(2, 33, '2024-01-03', 'gout'), "
            "(3, 47, '2024-02-02', 'flu'), (4, 48, '2024-02-03', 'secret')"
        )
        cursor.execute("CREATE SEQUENCE numbers")
        connection.commit()


ROLES = {"age": "quasi", "seen": "quasi", "disease": "sensitive", "patient": "identifier"}


def test_a_query_is_anonymized(server):
    table = shoal.read(server, roles=ROLES, query="SELECT * FROM visits ORDER BY patient")
    release = shoal.anonymize(table, k=2)
    assert release.to_arrow().column("age").to_pylist() == ["[31, 33]"] * 2 + ["[47, 48]"] * 2


def test_the_command_line_reads_a_query(server, tmp_path):
    from typer.testing import CliRunner

    from shoal.cli import app

    given = ["anonymize", server, "--query", "SELECT age, disease FROM visits", "--quasi", "age",
             "--sensitive", "disease", "-k", "2", "-o", str(tmp_path / "out.csv")]  # fmt: skip
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 0, found.output
    assert (tmp_path / "out.csv").read_text().startswith("age,disease\n")


def test_errors_of_the_server_do_not_pass_on_what_it_says(server):
    for query in ("SELECT nothing FROM visits", "SELECT disease::int FROM visits WHERE age = 48"):
        with pytest.raises(shoal.InputError, match="refuses the query") as caught:
            read_arrow(server, Format(query=query))
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None


def written(table, folder):
    """Return the cells of a table that is released unchanged, as a CSV file shows them."""
    release = shoal.anonymize(table, k=2)
    release.write(folder / "out.csv")
    with (folder / "out.csv").open(newline="", encoding="utf-8") as handle:
        return list(csv.reader(handle))[1]


@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive"])
@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("numeric(9, 2)", "12.5", "12.50"),
        ("numeric", "1e40", "1" + "0" * 40),
        ("numeric", "1234567890.0123456789", "1234567890.0123456789"),
        ("numeric", "NaN", ""),
        ("uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("timestamp", "2024-02-29 23:59:59.123456", "2024-02-29 23:59:59.123456"),
        ("timestamptz", "2024-03-31 03:30:00+02", "2024-03-31 01:30:00+00:00"),
        ("date", "2024-02-29", "2024-02-29"),
        ("time", "03:04", "03:04:00"),
        ("bigint", "-9223372036854775808", "-9223372036854775808"),
        ("boolean", "t", "true"),
        ("varchar(9)", "Zoë", "Zoë"),
        ("text", "", ""),
        ("jsonb", '{"a": 1}', '{"a": 1}'),
        ("inet", "10.0.0.1", "10.0.0.1/32"),  # these come as text from the server
        ("money", "12.5", "$12.50"),
        ("interval", "3 days", "3 days"),
        ("timetz", "03:04+02", "03:04:00+02"),
        ("int4range", "[1,3)", "[1,3)"),
        ("bit(3)", "101", "101"),
        ("numeric[]", "{1.50,2}", "{1.50,2}"),
    ],
)
def test_columns_of_every_type_show_what_they_hold(server, kind, value, shown, role, tmp_path):
    query = f'SELECT 1 AS one, \'{value}\'::{kind} AS "a ""b""" FROM generate_series(1, 4);'
    roles = {"one": "quasi", 'a "b"': role}
    table = shoal.read(server, query=query, roles=roles, rows_are_people=True)
    assert written(table, tmp_path) == ["1", shown]


def test_numbers_of_a_database_are_numbers(server):
    rows = "(1, 1.5), (2, 10), (30, 99.25), (31, 98)"
    query = f"SELECT x::numeric(6, 2) AS x, y::numeric AS y FROM (VALUES {rows}) AS v(x, y)"
    table = shoal.read(server, query=query, roles={"x": "quasi", "y": "quasi"})
    shown = shoal.anonymize(table, k=2).to_arrow().to_pylist()
    assert (
        shown
        == [{"x": "[1.00, 2.00]", "y": "[1.5, 10]"}] * 2
        + [{"x": "[30.00, 31.00]", "y": "[98, 99.25]"}] * 2
    )


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM visits",
        "WITH gone AS (DELETE FROM visits RETURNING *) SELECT * FROM gone",
        "UPDATE visits SET age = 1 RETURNING age",
        "CREATE TABLE copied AS SELECT * FROM visits",
        "SELECT * INTO copied FROM visits",
        "SELECT 1; DELETE FROM visits",
        "COMMIT; DELETE FROM visits",
        "SELECT nextval('numbers')",
        "SELECT set_config('transaction_read_only', 'off', true)",
    ],
)
def test_a_query_cannot_write(server, query):
    with pytest.raises(shoal.InputError, match=r"refuses the query \(SQLSTATE (25|42)"):
        read_arrow(server, Format(query=query), may_be_empty=True)
    with driver.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*), sum(age) FROM visits")
        assert cursor.fetchone() == (4, 159)
        cursor.execute("SELECT count(*) FROM pg_tables WHERE tablename = 'copied'")
        assert cursor.fetchone() == (0,)


def test_two_columns_of_one_name_are_refused(server):
    with pytest.raises(shoal.InputError, match="the query: column 'age' occurs more than once"):
        read_arrow(server, Format(query="SELECT age, age FROM visits"))


def test_a_query_without_rows_or_none_at_all_is_refused(server):
    with pytest.raises(shoal.InputError, match="no rows"):
        read_arrow(server, Format(query="SELECT * FROM visits WHERE false"))
    with pytest.raises(shoal.InputError, match="needs a query"):
        read_arrow(server, Format())


def test_a_server_that_is_not_there_is_said_so():
    with pytest.raises(shoal.InputError, match="cannot be reached"):
        read_arrow("postgresql://127.0.0.1:1/none", Format(query="SELECT 1"))


@pytest.mark.parametrize(
    "address", ["postgresql://clinic:hidden@host/db", "postgres://host/db?password=hidden"]
)
def test_a_password_in_the_address_is_refused_unseen(address):
    with pytest.raises(shoal.InputError, match="PGPASSWORD") as caught:
        is_database(address)
    assert "hidden" not in str(caught.value)
