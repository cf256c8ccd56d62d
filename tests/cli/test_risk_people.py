"""`shoal risk` on files whose people have several rows."""

import json

import pytest

VISITS = "id,home,age,sex,disease\n" + "".join(
    f"{who},{home},{age},{sex},QX{place}\n"
    for place, (who, home, age, sex) in enumerate(
        [(1, "h", 20, "f")] * 9 + [(2, "h", 20, "f"), (3, "i", 30, "m"), (4, "j", 30, "m")]
    )
)
NAMES = "id,age,sex\n1,20,f\n2,20,f\n3,30,m\n5,30,f\n"
PEOPLE = ("--person", "id")


@pytest.fixture(autouse=True)
def files(folder):
    (folder / "visits.csv").write_text(VISITS)
    (folder / "names.csv").write_text(NAMES)
    (folder / "released.csv").write_text("age,sex\n" + "*,f\n" * 10 + "*,m\n" * 2)


def parsed(outcome):
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_records_are_those_of_people(shoal):
    asked = ("risk", "records", "visits.csv", "--quasi", "age,sex", *PEOPLE, "--household", "home")
    found = parsed(shoal(*asked, "--json"))
    assert (found["records"], found["people"], found["k"]) == (12, 4, 1)
    (prosecutor,) = found["attackers"]
    assert prosecutor["highest"] == 0.9
    assert prosecutor["average"] == pytest.approx((0.9 + 3 * 0.5) / 4)
    assert found["household"]["households"] == 3
    assert found["household"]["highest"] == pytest.approx(1 - 0.1 * 0.5)
    assert found["uniqueness"]["sample_uniques"] == 0
    shown = " ".join(shoal(*asked).out.split())
    for part in ("4 people in 12 records", "households released 3", "fewest in a class 1"):
        assert part in shown
    assert "QX" not in shown


def test_a_population_counts_each_person_once(shoal, folder):
    (folder / "all.csv").write_text(NAMES + "5,30,m\n6,20,f\n6,20,f\n")
    asked = ("risk", "records", "visits.csv", "--quasi", "age,sex", *PEOPLE)
    found = parsed(shoal(*asked, "--population", "all.csv", "--json"))
    assert (found["k_map"]["k"], found["k_map"]["people"]) == (2, 4)
    assert found["attackers"][1]["highest"] == 1 / 2
    assert found["attackers"][1]["average"] == pytest.approx((2 / 3 + 2 / 2) / 4)


def test_a_schema_may_name_people_that_a_release_does_not(shoal, folder):
    (folder / "s.yaml").write_text("person: id\ncolumns:\n  age: {role: quasi}\n")
    asked = ("risk", "records", "--schema", "s.yaml", "--json")
    assert parsed(shoal(*asked, "visits.csv"))["people"] == 4
    assert parsed(shoal(*asked, "visits.csv", "--rows-are-people"))["people"] == 12
    assert parsed(shoal(*asked, "released.csv"))["people"] == 12


def test_people_that_the_file_does_not_name_are_refused(shoal):
    found = shoal("risk", "records", "released.csv", "--quasi", "age", *PEOPLE)
    assert (found.status, "has no column 'id' that identifies a person" in found.err) == (2, True)
    found = shoal("risk", "intersect", "released.csv", "released.csv", "--quasi", "age", *PEOPLE)
    assert (found.status, "with --original" in found.err) == (2, True)
    asked = ("risk", "link", "names.csv", "released.csv", "--known", "age", "--person", "home")
    assert "no column 'home' that identifies a person" in shoal(*asked).err


def test_columns_single_out_people(shoal):
    asked = ("risk", "columns", "visits.csv", "--among", "age", *PEOPLE)
    found = parsed(shoal(*asked, "--json"))
    assert (found["rows"], found["people"]) == (12, 4)
    assert found["sets"][0]["distinction"] == 0.5
    assert "4 people in 12 rows" in shoal(*asked).out
    every = parsed(shoal("risk", "columns", "visits.csv", *PEOPLE, "--json"))
    assert all("id" not in each["columns"] for each in every["sets"])


def test_people_of_a_name_list_are_found_by_any_record(shoal):
    asked = ("risk", "link", "names.csv", "visits.csv", "--known", "age,sex", *PEOPLE)
    found = parsed(shoal(*asked, "--json"))
    assert (found["people"], found["records"], found["lost"]) == (4, 12, 1)
    won = found["success"]
    assert won["present"] == 3
    assert won["guess"]["value"] == pytest.approx(0.9 + 0.1 + 0.5)
    assert "people found" in shoal(*asked).out


def test_a_rehearsal_splits_people(shoal):
    asked = ("risk", "rehearse", "visits.csv", "--quasi", "age,sex", "-k", "2", *PEOPLE)
    found = parsed(shoal(*asked, "--both", "1", "--json"))
    assert (found["raw"]["people"], found["raw"]["success"]["present"]) == (4, 4)
