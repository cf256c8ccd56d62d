"""PostgreSQL: a server of the test's own, reached over loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

import shoal
from shoal.reading import Format, read_arrow
from shoal.support.files import is_database

pytest.importorskip("adbc_driver_postgresql")


def tool(name):
    places = [shutil.which(name), *map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))]
    return next((place for place in places if place), None)


@pytest.fixture(scope="module")
def server():
    """The address of a new PostgreSQL server with one table."""
    if tool("initdb") is None or tool("pg_ctl") is None:
        pytest.skip("NOT TESTED: reading PostgreSQL; install the distribution's postgresql package")
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
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE visits (patient int, age int, seen date, disease text)")
        cursor.execute(
            "INSERT INTO visits VALUES (1, 31, '2024-01-02', 'flu'), "
            "(2, 33, '2024-01-03', 'gout'), "
            "(3, 47, '2024-02-02', 'flu'), (4, 48, '2024-02-03', 'secret')"
        )
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
