"""`shoal.inspect` in Python and in notebooks."""

from __future__ import annotations

import pandas as pd
import pytest

import shoal

PEOPLE = pd.DataFrame(
    {
        "patient_id": [f"P{i}" for i in range(40)],
        "age": [20 + i % 30 for i in range(40)],
        "disease": ["flu", "<b>rare</b>"] * 20,
    }
)


def test_suggested_roles_are_those_that_reading_takes():
    found = shoal.inspect(PEOPLE)
    assert found.roles == {"patient_id": "identifier", "age": "quasi", "disease": "sensitive"}
    assert shoal.read(PEOPLE, roles=found.roles).quasi == ("age",)


def test_the_schema_is_a_start_for_reading():
    found = shoal.inspect(PEOPLE)
    assert "  age: {role: quasi" in found.schema


def test_stated_columns_win():
    found = shoal.inspect(PEOPLE, quasi="age", sensitive="disease", rows_are_people=True)
    assert [each["columns"] for each in found.data["combinations"]] == [["age"]]
    with pytest.raises(shoal.InputError, match="no column 'town'"):
        shoal.inspect(PEOPLE, quasi="town")


def test_a_file_is_inspected_like_a_frame(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    assert shoal.inspect(path).roles == shoal.inspect(PEOPLE).roles


def test_no_cell_is_shown():
    found = shoal.inspect(PEOPLE)
    assert repr(found).startswith("Inspection(40 rows, patient_id=identifier")
    page = found._repr_html_()
    assert "<td>age</td>" in page
    assert "rare" not in page + repr(found)


def test_notes_are_a_list():
    found = shoal.inspect(pd.concat([PEOPLE, PEOPLE]))
    assert len(found.hints) >= 2
    assert found._repr_html_().count("<li>") == len(found.hints)
