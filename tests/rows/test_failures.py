"""Whatever fails, the old output stays, nothing looks complete, and no message quotes a cell."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.rows.conftest import ROLES

import shoal
from shoal import InputError, NotAnonymous, OutputError
from shoal.files import writing
from shoal.rows.duckdb_session import Session
from shoal.rows.layout import Layout
from shoal.rows.memory import Budget
from shoal.support.progress import listening

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
OUTPUTS = ["release", "release.csv", "release.parquet"]


@pytest.fixture
def release(people):
    table = shoal.open(people, roles=ROLES, missing=["NA"], rows_are_people=True)
    return shoal.anonymize(table, k=3, method="flash")


def content(path):
    """Return the bytes of a file, or of all files of a folder."""
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.iterdir()}
    return path.read_bytes()


@pytest.fixture(params=OUTPUTS)
def output(request, release, tmp_path):
    """An output that exists, in a folder of its own."""
    folder = tmp_path / "out"
    folder.mkdir()
    release.write(folder / request.param)
    return folder / request.param


def assert_untouched(output, before):
    assert content(output) == before
    assert [path.name for path in output.parent.iterdir()] == [output.name]


@pytest.mark.parametrize(
    ("error", "raised"),
    [(OSError(28, "No space left"), OutputError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_trouble_while_writing_leaves_the_old_output(error, raised, release, output, monkeypatch):
    before = content(output)

    class Full:
        def write_table(self, batch):
            raise error

        def close(self):
            pass

    monkeypatch.setattr(writing, "open_writer", lambda *_: Full())
    with pytest.raises(raised):
        release.write(output, force=True)
    assert_untouched(output, before)


def test_a_run_can_be_cancelled_at_every_report(people, tmp_path):
    class CancelledError(Exception):
        pass

    seen = set()

    def cancel(progress):
        if progress.stage not in seen:
            seen.add(progress.stage)
            raise CancelledError

    for _ in range(12):
        table = shoal.open(people, roles=ROLES, missing=["NA"], rows_are_people=True)
        try:
            with listening(cancel):
                shoal.anonymize(table, k=3, method="flash").write(tmp_path / "release")
            break
        except CancelledError:
            assert not (tmp_path / "release").exists()
    assert {"read", "encode", "group", "search", "write", "verify"} <= seen
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "release"]


def test_rows_that_are_written_wrongly_are_noticed(release, output, monkeypatch):
    before, decode = content(output), Layout.decode

    def swapped(self, rows):
        table = decode(self, rows)
        sexes = table.column("sex").to_pylist()
        place = table.column_names.index("sex")
        wrong = pa.array([*sexes[1:], "x"], table.schema.field("sex").type)
        return table.set_column(place, "sex", wrong)

    monkeypatch.setattr(Layout, "decode", swapped)
    with pytest.raises(NotAnonymous, match="the written rows are not the released ones"):
        release.write(output, force=True)
    assert_untouched(output, before)


def test_rows_that_are_not_in_canonical_order_are_noticed(release, output, monkeypatch):
    from shoal.rows.queries import Released

    before, batches = content(output), Released.batches

    def backwards(self, order, size):
        rows = pa.Table.from_batches(list(batches(self, order, size)))
        yield from rows.take(list(range(rows.num_rows))[::-1]).to_batches()

    monkeypatch.setattr(Released, "batches", backwards)
    with pytest.raises(NotAnonymous, match="not in canonical order"):
        release.write(output, force=True)
    assert_untouched(output, before)


def test_a_model_that_the_written_rows_break_is_noticed(release, output):
    from dataclasses import replace

    before = content(output)
    claimed = replace(release, model=shoal.KAnonymity(301))
    with pytest.raises(NotAnonymous, match=r"k-anonymity\(k=301\) does not hold"):
        claimed.write(output, force=True)
    assert_untouched(output, before)


def test_a_part_that_is_damaged_after_it_was_opened_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"age": ["secret"] * 50, "sex": ["f", "m"] * 25}), path)
    table = shoal.open(path, roles={"age": "quasi", "sex": "quasi"})
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(InputError, match=r"a.parquet: is damaged or not Parquet") as error:
        shoal.anonymize(table, k=2, method="flash")
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    ("raised", "expected", "message"),
    [
        (duckdb.OutOfMemoryException("secret"), InputError, "400 MB of memory are not enough"),
        (
            duckdb.OutOfMemoryException("secret: max_temp_directory_size"),
            OutputError,
            "no space left for temporary files",
        ),
        (duckdb.IOException("secret: No space left on device"), OutputError, "TMPDIR"),
        (duckdb.ConversionException("secret"), InputError, "a value has another type"),
    ],
)
def test_messages_of_duckdb_are_replaced(raised, expected, message, tmp_path, monkeypatch):
    session = Session(tmp_path, Budget.parse("400MB"), tmp_path / "people.csv")

    class Failing:
        def execute(self, *_):
            raise raised

        def close(self):
            pass

    session.close()
    monkeypatch.setattr(session, "_connection", Failing())
    with pytest.raises(expected, match=message) as error:
        session.run("SELECT 1")
    assert "secret" not in str(error.value)
    assert error.value.__suppress_context__


KILLED = """
import os, signal, sys, warnings
import shoal
from shoal.support.progress import listening

warnings.simplefilter("ignore")

def kill(progress):
    if progress.stage == "write":
        os.kill(os.getpid(), signal.SIGKILL)

table = shoal.open(sys.argv[1], roles={"sex": "quasi", "age": "quasi"}, rows_are_people=True)
with listening(kill):
    shoal.anonymize(table, k=3, method="flash").write(sys.argv[2])
"""


@pytest.mark.slow
def test_the_leftovers_of_a_killed_run_are_removed_by_the_next(people, release, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    arguments = [sys.executable, "-c", textwrap.dedent(KILLED), people, folder / "release"]
    assert subprocess.run(list(map(str, arguments)), check=False).returncode == -9
    left = list(folder.iterdir())
    assert left
    assert not (folder / "release").exists()
    assert all(path.name.startswith(".shoal.") for path in left)
    release.write(folder / "release")
    assert [path.name for path in folder.iterdir()] == ["release"]


LARGE = """
import re, sys, warnings
from pathlib import Path
import duckdb
import shoal

warnings.simplefilter("ignore")
source, output = sys.argv[1:]
database = duckdb.connect()
database.execute("SET enable_progress_bar = false")
database.execute(
    "COPY (SELECT i % 71 AS age, 'z' || i % 997 AS zip, i % 2 AS sex, i % 1500000 AS visit, "
    "'d' || i % 3 AS ill FROM range(3000000) t(i)) TO '" + source + "' (FORMAT parquet)"
)
database.close()
roles = {"age": "quasi", "zip": "quasi", "sex": "quasi", "visit": "insensitive", "ill": "sensitive"}
table = shoal.open(source, roles=roles, memory="300MB")
release = shoal.anonymize(table, k=10, method="ola")
checked = release.write(output)
assert checked.holds
assert shoal.report.contents(release)["records"]["released"] == checked.records
print(re.search("VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
def test_the_memory_budget_is_held(tmp_path):
    """3 million rows with 300 MB and a report; libraries and their code take a part."""
    arguments = [sys.executable, "-c", LARGE, tmp_path / "rows.parquet", tmp_path / "release"]
    done = subprocess.run(list(map(str, arguments)), check=True, capture_output=True, text=True)
    assert int(done.stdout) < 800_000  # kilobytes
