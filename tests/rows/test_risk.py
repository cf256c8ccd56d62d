"""The risk of a file on disk is that of the same file in memory."""

from __future__ import annotations

import json

import pytest
from tests.rows.conftest import rows, write_csv
from typer.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.rows.large_table import LargeTable
from shoal.rows.memory import Budget

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
QUASI = ["--quasi", "postcode,age,sex"]


def run(*arguments):
    done = CliRunner().invoke(app, ["risk", *map(str, arguments), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--threshold", "0.4", "--missing", "NA"),
        ("--sampling-fraction", "0.2"),
        ("--person", "patient"),
        ("--person", "cost", "--household", "patient"),
        ("--person", "patient", "--sampling-fraction", "0.5"),
    ],
)
def test_the_three_attackers_have_the_same_risk(more, people):
    one = run("records", people, *QUASI, *more)
    other = run("records", people, *QUASI, *more, "--engine", "duckdb")
    assert other == one


def test_more_classes_than_fit_are_counted(people, monkeypatch):
    one = run("records", people, *QUASI)
    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 5)
    assert run("records", people, *QUASI, "--engine", "duckdb") == one
    with pytest.raises(shoal.InputError, match="pairs of a person and a tuple"):
        run("records", people, *QUASI, "--person", "patient", "--engine", "duckdb")


def test_a_folder_of_parts_stays_on_disk(people, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    records = rows()
    for part in range(2):
        write_csv(parts / f"part-{part}.csv", records[part::2])
    one, other = run("records", people, *QUASI), run("records", parts, *QUASI)
    assert {**other, "file": ""} == {**one, "file": ""}


def test_what_needs_the_rows_is_refused_before_reading(people, monkeypatch):
    with pytest.raises(shoal.InputError, match="--weight needs the table in memory"):
        run("records", people, *QUASI, "--weight", "cost", "--engine", "duckdb")
    monkeypatch.setattr("shoal.rows.choice._SMALL", 0)
    monkeypatch.setattr(Budget, "parse", classmethod(lambda cls, text: cls(1)))
    monkeypatch.setattr("shoal.files.reading.read_arrow", None)
    commands = [
        ["suda", people, *QUASI],
        ["columns", people],
        ["linked", people, "--person", "patient"],
        ["link", people, people, "--known", "age"],
        ["assess", people, people, *QUASI],
        ["intersect", people, people, "--original", people, *QUASI],
    ]
    for command in commands:
        with pytest.raises(shoal.InputError, match="needs the rows in memory"):
            run(*command)
