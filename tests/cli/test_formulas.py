"""`shoal anonymize --escape-formulas`: cells that a spreadsheet would run."""

import json
import re
import subprocess
import sys

import pytest

import shoal as package

NOTES = ["=1+1", "-5", "@x", "'=1+1"]
ROWS = "town,note,age\n" + "".join(f"=t{i % 2},{NOTES[i % 4]},{i % 3}\n" for i in range(24))
ROLES = ("--quasi", "town,age", "--sensitive", "note", "-k", 2)


@pytest.fixture
def notes(folder):
    (folder / "notes.csv").write_text(ROWS)
    return folder


def test_formulas_are_counted_by_column_in_a_note(shoal, notes):
    done = shoal("anonymize", "notes.csv", *ROLES, "-o", "out.csv")
    assert done.status == 0
    assert "by column: town (24), note (12); --escape-formulas" in done.err
    assert "1+1" not in done.err


def test_formulas_on_disk_are_noted_and_escaped_in_the_same_way(shoal, notes):
    disk = ("--method", "flash", "--engine", "duckdb")
    done = shoal("anonymize", "notes.csv", *ROLES, *disk, "-o", "out.csv")
    assert done.status == 0, done.err
    assert "by column: town, note; --escape-formulas" in done.err
    assert "1+1" not in done.err
    for name, more in (("one.csv", disk[:2]), ("other.csv", disk)):
        done = shoal("anonymize", "notes.csv", *ROLES, *more, "--escape-formulas", "-o", name)
        assert done.status == 0, done.err
    assert (notes / "one.csv").read_bytes() == (notes / "other.csv").read_bytes()


def test_escaped_releases_verify_and_measure_as_others(shoal, notes):
    loss = []
    for more in ((), ("--escape-formulas",)):
        done = shoal("anonymize", "notes.csv", *ROLES, *more, "-o", "out.csv", "--force")
        assert done.status == 0, done.err
        checked = shoal("verify", "out.csv", *ROLES)
        assert checked.status == 0, checked.err
        kept = (*ROLES[:4], "--metric", "ncp", "--json")
        measured = shoal("metrics", "notes.csv", "out.csv", *kept)
        assert measured.status == 0, measured.err
        loss.append(json.loads(measured.out)["metrics"])
    assert "formulas" not in done.err
    text = (notes / "out.csv").read_text()
    assert "'=1+1" in text
    assert "''=1+1" in text
    assert not any(cell.startswith(("=", "@")) for line in text.split() for cell in line.split(","))
    assert loss[0] == loss[1]


def test_parquet_is_written_as_it_is(shoal, notes):
    done = shoal("anonymize", "notes.csv", *ROLES, "-o", "out.parquet", "--escape-formulas")
    assert done.status == 0
    assert "formulas" not in done.err


HEADED = "=town,a;=note,age\n" + "".join(f"＝t{i % 2},x;=1+{i % 4},{i % 3}\n" for i in range(24))
HEADED_ROLES = ("--quasi", "=town,age", "--sensitive", "a;=note", "-k", 2)


@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb")])
def test_names_and_split_cells_are_escaped_and_read_back(shoal, folder, engine):
    (folder / "headed.csv").write_text(HEADED, encoding="utf-8")
    made = ("anonymize", "headed.csv", *HEADED_ROLES, "--method", "flash", *engine, "--force")
    plain = shoal(*made, "-o", "out.csv")
    assert plain.status == 0, plain.err
    assert "=town" in plain.err
    assert "a;=note" in plain.err
    done = shoal(*made, "-o", "out.csv", "--escape-formulas", "--evidence", "pack")
    assert (done.status, "formulas" in done.err) == (0, False), done.err
    lines = (folder / "out.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == '"\'=town","a;\'=note",age'
    assert not any(cell[:1] in ("=", "＝") for line in lines for cell in re.split("[,;]", line))
    assert subprocess.run([sys.executable, "pack/verify.py"], check=False).returncode == 0
    roles = HEADED_ROLES[:4]
    for command in (
        ("verify", "out.csv", *HEADED_ROLES),
        ("verify", "out.csv", *HEADED_ROLES, "--memory", "1GB"),
        ("metrics", "headed.csv", "out.csv", *roles),
        ("risk", "attack", "headed.csv", "out.csv", *roles),
        ("evidence", "headed.csv", "out.csv", *HEADED_ROLES, "-o", "again", "--force"),
    ):
        found = shoal(*command)
        assert found.status == 0, (command, found.err)
    assert package.check(folder / "out.csv", k=2, quasi=["=town", "age"])
