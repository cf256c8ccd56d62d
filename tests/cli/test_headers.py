"""Files without column names on the command line: no command shows their first record."""

import pytest

SECRET = "QXZW"
ROWS = "".join(f"{20 + i % 4},{SECRET},{'fm'[i % 2]},{SECRET}\n" for i in range(12))
COMMANDS = {
    "inspect": ("inspect", "bare.csv"),
    "inspect with roles": ("inspect", "bare.csv", "--quasi", "sex"),
    "anonymize": ("anonymize", "bare.csv", "--quasi", "sex", "-k", 2, "-o", "out.csv"),
    "verify": ("verify", "bare.csv", "--quasi", "sex", "-k", 2),
    "risk records": ("risk", "records", "bare.csv", "--quasi", "sex"),
    "risk columns": ("risk", "columns", "bare.csv"),
    "risk link": ("risk", "link", "bare.csv", "bare.csv", "--known", "sex"),
    "hierarchy make": ("hierarchy", "make", "bare.csv", "--column", "sex", "-o", "tree.csv"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_a_file_without_names(shoal, folder, command):
    (folder / "bare.csv").write_text(ROWS)
    found = shoal(*COMMANDS[command])
    assert found.status == 2
    assert "bare.csv: the first row looks like data, not column names" in found.err
    assert "--no-header" in found.err
    assert SECRET not in found.out + found.err


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "inspect with roles"])
def test_every_command_reads_it_as_stated(shoal, folder, command):
    (folder / "bare.csv").write_text(ROWS)
    arguments = ["column_1" if a == "sex" else a for a in COMMANDS[command]]
    found = shoal(*arguments, "--no-header")
    assert found.status == 0
    assert SECRET not in found.out + found.err


def test_the_suggested_schema_remembers_that_there_are_no_names(shoal, folder):
    (folder / "bare.csv").write_text(ROWS)
    assert shoal("inspect", "bare.csv", "--no-header", "-o", "bare.yaml").status == 0
    assert "header: false" in (folder / "bare.yaml").read_text()
    found = shoal("anonymize", "bare.csv", "--schema", "bare.yaml", "-k", 3, "-o", "out.csv")
    assert found.status == 0
    assert shoal("verify", "out.csv", "--schema", "bare.yaml", "-k", 3).status == 0
    assert shoal("metrics", "bare.csv", "out.csv", "--schema", "bare.yaml").status == 0


def test_inspect_refuses_dates_that_no_column_has(shoal, folder):
    found = shoal("inspect", "people.csv", "--dates", "DD.MM.YYYY")
    assert found.status == 2
    assert "no column is written as DD.MM.YYYY in all rows (checked name, age, town" in found.err
    assert SECRET not in found.err


def test_inspect_names_codes_that_may_mean_missing(shoal, folder):
    rows = "".join(f"{20 + i % 4},{'?' if i % 3 else SECRET}\n" for i in range(12))
    (folder / "coded.csv").write_text(f"age,town\n{rows}")
    found = shoal("inspect", "coded.csv")
    assert "town: ? was read as a missing value, as the schema states" in found.out
    assert "missing: ['?']" in found.out
    assert SECRET not in found.out
    (folder / "coded.csv").write_text(f"age,town\n{rows.replace('?', 'unknown')}")
    found = shoal("inspect", "coded.csv")
    assert "town: unknown in 8 cells may mean a missing value: add --missing unknown" in found.out
    found = shoal("inspect", "coded.csv", "--missing", "unknown")
    assert "may mean" not in found.out
