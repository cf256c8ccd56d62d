"""Who the people are, found in the identifiers of a table and written into the schema."""

import numpy as np
import pyarrow as pa
import pytest
import yaml

import shoal
from shoal.inspection import describe, suggest_schema

# four people with 3, 1, 2 and 2 rows, in two homes
WHO = ["a", "a", "a", "b", "c", "c", "d", "d"]
AGE = [30, 30, 31, 30, 50, 51, 50, 51]
HOME = [1, 1, 1, 1, 2, 2, 2, 2]


def described(**columns):
    return describe(pa.table(columns))


def schema(found):
    return yaml.safe_load(suggest_schema(found))


def test_an_identifier_that_repeats_is_suggested_as_the_person():
    found = described(patient_id=WHO, age=AGE)
    assert (found["records"], found["people"], found["person"]) == (8, 4, ["patient_id"])
    assert found["about"] == "8 rows about 4 people (patient_id)"
    assert schema(found)["person"] == "patient_id"
    hint = found["hints"][-1]
    assert hint["columns"] == ["patient_id"]
    told = "8 rows about 4 people; k counts people, so check that this column identifies them"
    assert hint["hint"] == told


@pytest.mark.parametrize("visits", [1, 2, 5, 50])
def test_more_rows_a_person_give_no_less_warning(visits):
    found = described(patient_id=["z", *np.repeat(["a", "b", "c"], visits + 1)])
    assert found["person"] == ["patient_id"]
    assert found["people"] == 4


def test_one_row_a_person_needs_no_person_column():
    found = described(patient_id=list("abcd"), age=[1, 2, 3, 4])
    assert (found["person"], found["people"], found["about"]) == ([], 4, "4 records")
    assert "person" not in schema(found)


def test_the_identifier_with_the_most_distinct_values_decides():
    """Two people are called ann; the number tells them apart."""
    found = described(name=["ann", "ann", "bob"], patient_id=[1, 2, 3])
    assert found["person"] == []
    found = described(name=["ann", "ann", "bob", "bob"], patient_id=[1, 2, 3, 3])
    assert found["person"] == ["patient_id"]


def test_a_persons_number_decides_beside_the_number_of_a_visit():
    found = described(visit_id=range(8), patient_id=WHO, age=AGE)
    assert found["person"] == ["patient_id"]
    assert described(visit_id=range(8), age=AGE)["person"] == []


def test_free_text_is_no_person():
    found = described(comment=["fine", "fine", "ill", "ill"], age=[1, 2, 3, 4])
    assert (found["person"], found["hints"]) == ([], [])


@pytest.mark.parametrize("name", ["household_id", "family_id", "hh_id", "Haushalts-Nr"])
def test_a_household_that_groups_people_is_suggested(name):
    found = described(patient_id=WHO, **{name: HOME}, age=AGE)
    assert (found["household"], found["households"]) == ([name], 2)
    assert found["about"] == f"8 rows about 4 people (patient_id), 2 households ({name})"
    assert schema(found)["household"] == name
    assert schema(found)["columns"][name]["role"] == "identifier"


def test_a_household_without_a_person_is_no_person():
    found = described(household_id=[1, 1, 2, 2], age=[1, 2, 3, 4])
    assert (found["person"], found["household"], found["people"]) == ([], ["household_id"], 4)


@pytest.mark.parametrize(
    "columns",
    [
        {"household": HOME},  # two values: a size, or a kind
        {"hh_id": [1, 2, 2, 1, 1, 2, 2, 1]},  # a person of two households
        {"hh_id": [1, 1, 1, 2, 3, 3, 4, 4]},  # one for each person
    ],
)
def test_what_does_not_group_people_is_no_household(columns):
    assert described(patient_id=WHO, **columns)["household"] == []


def test_a_column_named_household_with_many_values_is_one():
    homes = [f"h{i // 2}" for i in range(40)]
    found = described(patient_id=range(40), household=homes)
    assert found["household"] == ["household"]
    assert schema(found)["columns"]["household"]["role"] == "identifier"


def test_people_are_counted_who_stand_out():
    """Age 31 is a's alone, 30 a's and b's, 50 and 51 c's and d's."""
    found = describe(pa.table({"patient_id": WHO, "age": AGE}), ["age"])
    assert found["combinations"] == [
        {"columns": ["age"], "unique": 1, "share": 0.25, "smallest": 1}
    ]
    rows = describe(pa.table({"patient_id": WHO, "age": AGE}), ["age"], rows_are_people=True)
    assert (rows["people"], rows["combinations"][0]["share"]) == (8, 1 / 8)


def test_a_row_without_a_person_is_one_of_its_own():
    data = pa.table({"patient_id": ["a", "a", None, None], "age": [1, 1, 2, 2]})
    found = describe(data, ["age"], person=["patient_id"])
    assert found["people"] == 3
    assert found["combinations"][0]["smallest"] == 1


def test_a_person_column_with_missing_cells_is_not_declared():
    found = described(patient_id=["a", "a", None, None], age=[1, 1, 2, 2])
    assert (found["person"], found["rows_are_people"]) == ([], True)
    (hint,) = (hint for hint in found["hints"] if hint["columns"] == ["patient_id"])
    assert "2 rows have no value" in hint["hint"]
    assert "person='patient_id'" in hint["hint"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("job_title", ["nurse", "nurse", "head cook", "head cook"]),
        ("first_name", ["ann", "ann", "bob", "bob"]),
        ("station_id", [1, 1, 2, 2]),
        ("town", ["New York", "New York", "Los Angeles", "Los Angeles"]),
    ],
)
def test_titles_first_names_and_places_are_no_people(name, values):
    found = described(**{name: values}, age=[1, 2, 3, 4])
    assert (found["person"], found["people"]) == ([], 4)


def test_full_names_that_repeat_are_the_people():
    names = ["Ann Lee", "Bob Ray"] * 20
    assert described(player_name=names, age=[30, 41] * 20)["person"] == ["player_name"]
    homonyms = [f"Ann Lee {i}" for i in range(39)] + ["Ann Lee 0"]
    found = described(player_name=homonyms, age=[30, 41] * 20)
    assert (found["person"], found["rows_are_people"]) == ([], True)


def test_what_is_stated_counts_before_what_is_found():
    data = pa.table({"patient_id": WHO, "home": HOME, "age": AGE})
    found = describe(data, person=["home"], household=["patient_id"])
    assert (found["person"], found["household"]) == (["home"], ["patient_id"])
    assert (found["people"], found["households"]) == (2, 4)
    with pytest.raises(shoal.InputError, match="no column 'hom'"):
        describe(data, person=["hom"])


def test_the_suggested_schema_leads_to_a_release_that_counts_people():
    data = pa.table({"patient_id": [i // 3 for i in range(30)], "age": [i // 6 for i in range(30)]})
    table = shoal.read(data, schema(describe(data)))
    assert (table.people, table.records) == (10, 30)
    assert shoal.anonymize(table, shoal.KAnonymity(5)).verify().smallest >= 5
