"""`shoal anonymize` with rows that stay on disk, and folders of parts."""

import json

import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import SECRET

ROLES = ("--quasi", "age,town", "--sensitive", "disease", "--identifier", "name", "-k", 2)
FLASH = ("--method", "flash")


def test_the_release_is_the_same_in_memory_and_on_disk(shoal, folder):
    for ending in ("csv", "parquet"):
        one = shoal("anonymize", "people.csv", *ROLES, *FLASH, "-o", f"one.{ending}")
        more = (*FLASH, "--engine", "duckdb", "--memory", "400MB")
        other = shoal("anonymize", "people.csv", *ROLES, *more, "-o", f"other.{ending}")
        assert (one.status, other.status) == (0, 0), one.err + other.err
        assert (folder / f"one.{ending}").read_bytes() == (folder / f"other.{ending}").read_bytes()
        assert "note: the rows stay on disk: duckdb works within 400 MB" in other.err
        assert SECRET not in one.err + other.err


@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb")])
@pytest.mark.parametrize("name", ["release", "release.v2/"])
def test_a_name_without_an_ending_is_a_folder_of_parts(shoal, folder, engine, name):
    done = shoal("anonymize", "people.csv", *ROLES, *FLASH, *engine, "-o", name)
    assert done.status == 0, done.err
    manifest = json.loads((folder / name / "_manifest.json").read_text())
    assert manifest["rows"] == pq.read_table(folder / name / "part-00000.parquet").num_rows
    again = shoal("anonymize", "people.csv", *ROLES, *FLASH, *engine, "-o", name)
    assert again.status == 2
    assert "exists already" in again.err
    forced = shoal("anonymize", "people.csv", *ROLES, *FLASH, *engine, "-o", name, "--force")
    assert forced.status == 0, forced.err


def test_the_summary_has_the_same_figures(shoal):
    one = shoal("anonymize", "people.csv", *ROLES, *FLASH, "--json")
    other = shoal("anonymize", "people.csv", *ROLES, *FLASH, "--engine", "duckdb", "--json")
    assert (one.status, other.status) == (0, 0), one.err + other.err
    first, second = json.loads(one.out), json.loads(other.out)
    for name in ("records", "released", "classes", "levels", "loss", "cells", "node", "sensitive"):
        assert first[name] == second[name], name
    assert first["unprotected"] == second["unprotected"]
    assert first["singling_out"] == second["singling_out"]
    assert first["dropped_identifiers"] == second["dropped_identifiers"] == ["name"]


def test_a_folder_and_a_pattern_are_one_table(shoal, folder):
    for source in (".", "peop*.csv"):
        done = shoal("anonymize", source, *ROLES, *FLASH, "--json")
        assert done.status == 0, done.err
        assert json.loads(done.out)["records"] == 12
        assert "several files stay on disk" in done.err


@pytest.mark.parametrize("more", [("--keep-order",), ("--control", "20%")])
def test_options_that_need_the_rows_in_memory_are_refused(shoal, more):
    done = shoal("anonymize", "people.csv", *ROLES, *FLASH, "--engine", "duckdb", *more)
    assert done.status == 2
    assert f"{more[0]} needs the table in memory" in done.err


def test_evidence_is_written_about_a_release_on_disk(shoal, folder):
    asked = (*ROLES, *FLASH, "--engine", "duckdb", "-o", "release", "--evidence", "pack", "--json")
    done = shoal("anonymize", "people.csv", *asked)
    assert done.status == 0, done.err
    assert json.loads(done.out)["evidence"]["folder"] == "pack"
    found = json.loads((folder / "pack" / "evidence.json").read_text())
    assert set(found["release"]["parts"]) == {"_manifest.json", "part-00000.parquet"}
    assert found["measured"]["classes"]["smallest"] >= 2


def test_a_wrong_size_is_an_error(shoal):
    done = shoal("anonymize", "people.csv", *ROLES, "--memory", "lots")
    assert done.status == 2
    assert "memory must be a size such as 4GB" in done.err


VISITS = "patient,town,ill,note\n" + "".join(
    f"{who},{town},{ill},{note}\n"
    for who, town, ill, note in [
        ("a", "x", "flu", 1),
        ("a", "x", "gout", 2),
        ("b", "x", "", 3),
        ("c", "x", "", 3),
        ("d", "?", "flu", 4),
        ("e", "?", "gout", 5),
        ("e", "?", "gout", 5),
    ]
)
CHECKED = ("--quasi", "town", "--sensitive", "ill", "--missing", "?", "--json")


@pytest.mark.parametrize("person", [(), ("--person", "patient", "--unlinked")])
@pytest.mark.parametrize(
    "model", ["l-diversity(2, ill)", "t-closeness(0.4, ill)", "k-anonymity(2)"]
)
def test_a_file_is_verified_on_disk_as_in_memory(shoal, folder, person, model):
    (folder / "visits.csv").write_text(VISITS)
    asked = ("verify", "visits.csv", *CHECKED, *person, "--model", model)
    one, other = shoal(*asked), shoal(*asked, "--engine", "duckdb")
    assert one.status == other.status, one.err + other.err
    first, second = json.loads(one.out), json.loads(other.out)
    for name in ("records", "people", "classes", "reached", "check"):
        assert first[name] == second[name], name
    if not person:
        assert first["same_value"] == second["same_value"]


@pytest.mark.parametrize("person", [(), ("--person", "patient", "--unlinked")])
def test_an_original_is_the_baseline_on_disk_as_in_memory(shoal, folder, person):
    (folder / "visits.csv").write_text(VISITS)
    rows = VISITS.splitlines()
    (folder / "released.csv").write_text("\n".join([rows[0], *rows[1:6]]) + "\n")
    asked = ("verify", "released.csv", *CHECKED, *person, "--model", "t-closeness(0.1, ill)")
    one = shoal(*asked, "--original", "visits.csv")
    other = shoal(*asked, "--original", "visits.csv", "--engine", "duckdb")
    assert one.status == other.status == 1, one.err + other.err
    first, second = json.loads(one.out), json.loads(other.out)
    for name in ("records", "people", "classes", "reached", "check"):
        assert first[name] == second[name], name
    alone = json.loads(shoal(*asked, "--engine", "duckdb").out)
    assert alone["reached"]["t(ill)"] != second["reached"]["t(ill)"]


def test_people_with_a_value_are_counted_once_on_disk(shoal, folder):
    """In town x one person has two values, and two have none."""
    (folder / "visits.csv").write_text(VISITS)
    asked = ("verify", "visits.csv", *CHECKED, "--person", "patient", "--engine", "duckdb")
    asked = (*asked, "--model", "l-diversity(2, ill)")
    done = shoal(*asked, "--unlinked")
    assert done.status == 1
    assert json.loads(done.out)["reached"]["l(ill)"] == 1


def test_a_folder_of_parts_verifies(shoal, folder):
    done = shoal("anonymize", "people.csv", *ROLES, *FLASH, "-o", "release")
    assert done.status == 0, done.err
    checked = shoal("verify", "release", *ROLES[:4], "-k", 2)
    assert checked.status == 0, checked.err
    assert "k-anonymity(k=2)  holds" in checked.out
    broken = shoal("verify", "release", *ROLES[:4], "-k", 12)
    assert broken.status == 1
