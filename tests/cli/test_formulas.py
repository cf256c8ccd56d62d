"""`shoal anonymize --escape-formulas`: cells that a spreadsheet would run."""

import json

import pytest

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
