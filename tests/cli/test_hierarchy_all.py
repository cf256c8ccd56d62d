"""`shoal hierarchy make --all`: a file for every quasi-identifier, and a schema to use at once."""

import json

import pytest

import shoal as library
from shoal.table.hierarchy import Hierarchy

VISITS = "patient,birth_date,city,county,state,postcode,disease\n" + "".join(
    f"p{i},19{50 + i % 40}-0{1 + i % 9}-1{i % 9},{'Salem Bend Boise'.split()[i % 3]},"
    f"{'Marion Deschutes Ada'.split()[i % 3]},{'Oregon Oregon Idaho'.split()[i % 3]},"
    f"{90000 + i * 37},{'flu cold'.split()[i % 2]}\n"
    for i in range(60)
)


@pytest.fixture
def visits(folder):
    (folder / "visits.csv").write_text(VISITS)
    return folder


def test_the_files_are_a_schema_to_anonymize_with_at_once(shoal, visits):
    made = shoal("hierarchy", "make", "visits.csv", "--all", "-o", "trees", "--json")
    assert made.status == 0, made.err
    columns = json.loads(made.out)["columns"]
    assert {path.name for path in (visits / "trees").iterdir()} == {
        "schema.yaml", *(f"{name}.csv" for name in columns),
    }  # fmt: skip
    assert {"birth_date", "postcode"} <= set(columns)
    done = shoal("anonymize", "visits.csv", "--schema", "trees/schema.yaml", "-k", 5, "-o", "o.csv")
    assert done.status == 0, done.err
    assert "no role for county, state: not published" in done.err  # they follow from the city


def test_what_is_made_from_the_data_stays_marked_as_such(shoal, visits):
    shoal("hierarchy", "make", "visits.csv", "--all", "--quasi", "postcode", "-o", "trees")
    schema = library.Schema.read(visits / "trees" / "schema.yaml")
    assert schema.columns["postcode"]["hierarchy"].origin == "data"
    assert [name for name, spec in schema.columns.items() if spec["role"] == "quasi"] == [
        "postcode"
    ]


def test_a_schema_keeps_what_it_says_and_its_own_hierarchies(shoal, visits):
    (visits / "ills.csv").write_text("flu;ill;*\ncold;ill;*\n")
    (visits / "s.yaml").write_text(
        "person: patient\n"
        "columns:\n"
        "  city: {role: quasi, weight: 2, hierarchy: {from: [county, state]}}\n"
        "  birth_date: {role: quasi, type: date, bounds: [1900-01-01, 1999-12-31], "
        "hierarchy: {dates: [year, decade]}}\n"
        "  disease: {role: sensitive, hierarchy: ills.csv}\n"
    )
    made = shoal("hierarchy", "make", "visits.csv", "--all", "--schema", "s.yaml", "-o", "a/b")
    assert made.status == 0, made.err
    found = library.Schema.read(visits / "a" / "b" / "schema.yaml")
    assert found.person == ("patient",)
    assert found.columns["city"]["weight"] == 2
    assert found.columns["city"]["hierarchy"].rows()[0] == ("Bend", "Deschutes", "Oregon", "*")
    assert found.columns["birth_date"]["hierarchy"].origin == "file"  # over declared bounds
    assert found.columns["disease"]["hierarchy"].rows()[0] == ("flu", "ill", "*")
    again = shoal("anonymize", "visits.csv", "--schema", "a/b/schema.yaml", "-k", 5, "-o", "o.csv")
    assert again.status == 0, again.err


def test_nothing_is_replaced_without_force_and_no_input_with_it(shoal, visits):
    make = ("hierarchy", "make", "visits.csv", "--all", "-o", "trees")
    assert shoal(*make).status == 0
    before = {path.name: path.read_bytes() for path in (visits / "trees").iterdir()}
    twice = shoal(*make)
    assert (twice.status, twice.out) == (2, "")
    assert "exists already" in twice.err
    read = shoal(*make, "--schema", "trees/schema.yaml", "--force")
    assert read.status == 2
    assert "is read by this command" in read.err
    assert {path.name: path.read_bytes() for path in (visits / "trees").iterdir()} == before
    assert shoal(*make, "--force").status == 0


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("-o", "x.csv"), "name a column with --column, or give --all"),
        (("-o", "x", "--all", "--column", "city"), "name a column with --column, or give --all"),
        (("-o", "x", "--all", "--recipe", "mask"), "name a column with --column, or give --all"),
        (("-o", "visits.csv", "--all"), "visits.csv: is a file; with --all, -o must name a folder"),
        (("-o", "x", "--all", "--quasi", "ghost"), "no column 'ghost'"),
        (
            ("-o", "x", "-c", "city", "--recipe", "mask", "--levels-from", "state"),
            "--recipe and --levels-from cannot be combined",
        ),
        (("-o", "x", "-c", "city", "--levels-from", "ghost"), "no column 'ghost'"),
        (
            ("-o", "x", "-c", "state", "--levels-from", "county"),
            "1 of 2 values occur with more than one value of 'county'",
        ),
    ],
)
def test_what_is_asked_wrongly_is_said_and_nothing_is_written(shoal, visits, more, told):
    before = sorted(visits.iterdir())
    found = shoal("hierarchy", "make", "visits.csv", *more)
    assert (found.status, found.out) == (2, "")
    assert told in found.err
    assert sorted(visits.iterdir()) == before


def test_levels_may_come_from_other_columns(shoal, visits):
    asked = ("-c", "city", "--levels-from", "county,state", "-o", "c.csv")
    made = shoal("hierarchy", "make", "visits.csv", *asked)
    assert made.status == 0, made.err
    assert Hierarchy.read(visits / "c.csv").rows() == [
        ("Bend", "Deschutes", "Oregon", "*"),
        ("Boise", "Ada", "Idaho", "*"),
        ("Salem", "Marion", "Oregon", "*"),
    ]
    linked = "city=from: [county, state]"
    release = shoal("anonymize", "visits.csv", "--quasi", "city", "--hierarchy", linked, "-k", 2)
    assert release.status == 0, release.err


def test_python_has_the_same(visits):
    table = library.datasets.patients(50)
    trees = library.suggest_hierarchies(table)
    assert list(trees) == list(table.quasi)
    assert trees["birth_date"].height > 1
