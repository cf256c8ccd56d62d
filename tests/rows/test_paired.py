"""Metrics of two files on disk are those of the same files in memory."""

from __future__ import annotations

import json

import pytest
from tests.rows.conftest import ROLES, TREES, rows, write_csv
from typer.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.release.matching_stored import UNMATCHED
from shoal.rows.large_table import LargeTable

pytestmark = pytest.mark.filterwarnings("ignore::shoal.UnassignedColumns")
TOGETHER = {
    "bivariate-correlation",
    "class",
    "classification",
    "diameter",
    "kl-divergence",
    "squared-distance-error",
}
OPTIONS = ["--quasi", "postcode,age,income,sex", "--sensitive", "illness", "--missing", "NA"]
OPTIONS += [part for n, tree in TREES.items() for part in ("--hierarchy", f"{n}={tree}")]


@pytest.fixture
def files(tmp_path):
    """A table with a key, and a function that releases it."""
    source = tmp_path / "people.csv"
    write_csv(source, [{**row, "id": f"i{n}"} for n, row in enumerate(rows())])
    roles = {n: role for n, role in ROLES.items() if n != "cost"} | {"id": "insensitive"}
    table = shoal.read(source, roles=roles, hierarchies=TREES, missing=["NA"], rows_are_people=True)

    def release(method, name, order="canonical", k=5):
        made = shoal.anonymize(table, k=k, method=method)
        made.write(tmp_path / name, order=order)
        return tmp_path / name

    return source, release


def measure(*arguments, unit=("--rows-are-people",)):
    done = CliRunner().invoke(app, ["metrics", *map(str, arguments), *OPTIONS, *unit, "--json"])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def refused(message, arguments):
    with pytest.raises(shoal.InputError, match=message):
        CliRunner().invoke(
            app, [*map(str, arguments), "--engine", "duckdb"], catch_exceptions=False
        )


def same(one, other, omitted=frozenset()):
    """Compare the figures of two runs; some metrics may be omitted by name."""
    figures, found = one.pop("metrics"), other.pop("metrics")
    reasons = other.pop("undefined")
    one.pop("undefined")
    assert other == one
    assert set(figures) - set(found) <= omitted
    assert set(figures) - set(found) <= set(reasons)
    assert found == pytest.approx({n: figures[n] for n in found}, rel=1e-12)


@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
@pytest.mark.parametrize("method", ["ola", "mondrian"])
@pytest.mark.parametrize("more", [(), ("--key", "id")])
def test_all_metrics_are_the_same(method, name, more, files):
    source, release = files
    pair = source, release(method, name, order="original")
    same(measure(*pair, *more)[0], measure(*pair, *more, "--engine", "duckdb")[0])


@pytest.mark.parametrize("target", [(), ("--target", "note"), ("--raw",)])
def test_sorted_rows_are_matched_by_their_values(target, files):
    source, release = files
    pair = source, release("ola", "r.csv", k=9)
    same(measure(*pair, *target)[0], measure(*pair, *target, "--engine", "duckdb")[0])


def test_weights_need_memory_and_the_command_says_so(files):
    source, release = files
    pair = source, release("ola", "r.csv", order="original"), "--weight", "cost"
    assert "population" in measure(*pair)[0]
    data, notes = measure(*pair, "--engine", "duckdb")
    assert "population" not in data
    assert "sampling weights are used in memory only" in notes


def test_people_are_counted(files):
    source, release = files
    pair = source, release("ola", "r.csv", order="original")
    unit = ("--person", "patient")
    on_disk = measure(*pair, "--engine", "duckdb", unit=unit)[0]
    same(measure(*pair, unit=unit)[0], on_disk)
    assert on_disk["smallest_class"] < on_disk["smallest_class_rows"]


@pytest.mark.parametrize("more", [(), ("--key", "id")])
def test_pairs_that_do_not_fit_are_counted_by_column(more, files, monkeypatch):
    source, release = files
    pair = source, release("ola", "r.csv", order="original", k=9)
    exact = measure(*pair, *more)[0]
    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 100)
    same(exact, measure(*pair, *more, "--engine", "duckdb")[0], TOGETHER)


def test_rows_that_cannot_be_matched_are_counted_without_their_originals(files, monkeypatch):
    source, release = files
    pair = source, release("ola", "r.csv", k=9)
    exact = measure(*pair)[0]
    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 100)
    found, notes = measure(*pair, "--engine", "duckdb")
    same(exact, found, TOGETHER | {"non-uniform-entropy"})
    assert UNMATCHED in " ".join(notes.split())


def test_people_that_do_not_fit_are_refused(files, monkeypatch):
    source, release = files
    monkeypatch.setattr(LargeTable, "most_tuples", lambda self, columns: 100)
    arguments = ["metrics", source, release("ola", "r.csv"), *OPTIONS, "--person", "patient"]
    refused("pairs of a person and a tuple", arguments)


def test_a_file_that_does_not_cover_its_original_is_an_error(files, tmp_path):
    source, _ = files
    other = tmp_path / "other.csv"
    write_csv(other, [{**row, "id": f"i{n}", "sex": "x"} for n, row in enumerate(rows())])
    for more in ((), ("--key", "id")):
        arguments = ["metrics", source, other, *OPTIONS, "--rows-are-people", *more]
        refused("cover|cannot be read", arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda n: f"i{n // 2}", "150 of 300 rows of the release have no key"),
        (lambda n: f"j{n}", "300 of 300 rows have a key that is not in the original"),
    ],
)
def test_keys_must_be_unique_and_known(change, message, files, tmp_path):
    source, _ = files
    other = tmp_path / "other.csv"
    write_csv(other, [{**row, "id": change(n)} for n, row in enumerate(rows())])
    arguments = ["metrics", source, other, *OPTIONS, "--rows-are-people", "--key", "id"]
    refused(message, arguments)


def test_nothing_is_left_behind(files, tmp_path, monkeypatch):
    source, release = files
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    measure(source, release("ola", "r.csv"), "--engine", "duckdb")
    assert not list(folder.iterdir())
