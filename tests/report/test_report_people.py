"""A report counts people, says who they are, and shows no value that few people have."""

import json

import numpy as np
import pyarrow as pa
import pytest

from shoal import KAnonymity, Release, Table
from shoal.report import contents
from shoal.report.masking import people_weights
from shoal.report.page import page

SECRET = "QXZW"


def visits(people=12, rows=3, *, town=None, **units):
    """Each person has three visits; ages of neighbours are alike."""
    who = np.repeat(np.arange(people), rows)
    data = {
        "id": [f"{SECRET}-{i}" for i in who],
        "home": who // 2,
        "age": 20 + who,
        "town": ["Ulm"] * len(who) if town is None else town,
        "ill": ["flu" if i % 2 else "cold" for i in who],
    }
    roles = {"id": "identifier", "age": "quasi", "town": "quasi", "ill": "sensitive"}
    return Table.from_arrow(pa.table(data), roles, **(units or {"person": "id"}))


def grouped(table, size=18, hidden=()):
    """Classes of so many rows, some rows left out."""
    ids = np.arange(len(table), dtype=np.int32) // size
    ids[list(hidden)] = -1
    return Release.of_groups(table, ids, int(ids.max()) + 1, KAnonymity(2))


def text(release, **options):
    return " ".join(page(contents(release, **options)).split())


def test_people_and_rows_are_told():
    told = contents(grouped(visits()))
    assert told["records"] == {
        "released": 36,
        "suppressed": 0,
        "suppressed_share": 0.0,
        "total": 36,
        "released_people": 12,
        "suppressed_people": 0,
        "total_people": 12,
    }
    assert told["guarantee"]["smallest_class"] == 6
    assert told["guarantee"]["smallest_class_rows"] == 18
    assert told["verdict"].startswith(
        "12 people in 36 rows are released, under k-anonymity (k = 2)"
    )
    assert told["unit"]["statement"] == "The release is about 12 people in 36 rows (person: id)."
    shown = text(grouped(visits()))
    assert '<dt>People released</dt><dd>12</dd> <dd class="note">36 rows</dd>' in shown
    assert "2 groups, the smallest with 6 people. Every group meets it." in shown
    assert "every group has at least 18 rows" in shown
    assert "No row was suppressed." in shown


@pytest.mark.parametrize(
    ("units", "statement", "limit"),
    [
        (
            {"rows_are_people": True},
            "The data owner stated that every row is a different person.",
            "Rows stated to be people",
        ),
        (
            {"person": "id", "household": "home"},
            "The release is about 12 people in 36 rows (person: id). "
            "They belong to 6 households (household: home).",
            "Several rows of one person",
        ),
    ],
)
def test_the_report_says_who_the_people_are(units, statement, limit):
    told = contents(grouped(visits(**units)))
    assert told["unit"]["statement"] == statement
    assert limit in [each["title"] for each in told["limits"]]
    assert statement in text(grouped(visits(**units)))


def test_without_a_person_column_each_row_counts_as_one_person():
    table = Table.from_arrow(pa.table({"age": [1] * 6}), {"age": "quasi"})
    told = contents(grouped(table, 6))
    assert told["unit"]["statement"].startswith("No person column was declared")
    assert "Rows counted as people" in [each["title"] for each in told["limits"]]
    assert told["verdict"].startswith("6 records are released, under")


def test_one_row_a_person_leaves_no_limit_about_people():
    told = contents(grouped(visits(12, 1), 6))
    titles = [each["title"] for each in told["limits"]]
    assert not [title for title in titles if title.startswith(("Rows", "Several rows"))]


def test_rows_of_few_people_that_are_left_out_are_not_counted():
    """Six rows, but of two people; then one row each of six people, who all keep others."""
    few = contents(grouped(visits(), hidden=range(6)))["records"]
    assert few["suppressed"] == "rows of fewer than 5 people"
    assert few["suppressed_people"] == "fewer than 5"
    assert (few["total"], few["total_people"], few["suppressed_share"]) == (None, None, None)
    many = contents(grouped(visits(), hidden=range(0, 18, 3)))["records"]
    assert (many["suppressed"], many["total"]) == (6, 36)
    assert (many["suppressed_people"], many["total_people"]) == (0, 12)
    shown = text(grouped(visits(), hidden=range(6)))
    assert "Rows of fewer than 5 people were suppressed (left out of the release)" in shown
    assert "fewer than 5 people lost all rows" in shown
    shown = text(grouped(visits(), hidden=range(0, 18, 3)))
    assert "6 rows of 36 were suppressed (left out of the release)" in shown
    assert "no person lost all rows" in shown


def test_a_value_of_one_person_with_many_rows_is_not_shown():
    town = ["Ulm"] * 18 + ["Kiel"] * 12 + [SECRET] * 6  # six rows of two people
    told = contents(grouped(visits(town=town)), least=5)
    shown = {each["column"]: each["groups"] for each in told["distributions"]}["town"]
    assert [group["label"] for group in shown] == ["Ulm", "all others"]
    rows = contents(grouped(visits(town=town, rows_are_people=True)), least=5)
    shown = {each["column"]: each["groups"] for each in rows["distributions"]}["town"]
    assert SECRET in [group["label"] for group in shown]  # so the test would notice


def test_missing_values_of_few_people_are_not_counted():
    town = [*["Ulm"] * 30, *[None] * 6]
    found = {c["name"]: c for c in contents(grouped(visits(town=town)))["columns"]}
    assert found["town"]["missing"] == "rows of fewer than 5 people"
    assert found["id"]["treatment"] == "left out: it identifies the person"


def test_no_value_that_identifies_people_is_in_the_report():
    told = contents(grouped(visits(person="id", household="home"), hidden=range(6)))
    assert SECRET not in json.dumps(told) + page(told)


def test_weights_of_rows_add_up_to_no_more_than_their_people():
    table = Table.from_arrow(
        pa.table({"id": list("aaab"), "age": [1, 1, 2, 2]}), {"age": "quasi"}, person="id"
    )
    assert people_weights(table).tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1])
    weighted = Table(table.columns, np.array([2, 1, 1, 5]), person=table.person)
    assert people_weights(weighted).tolist() == [0.5, 0.25, 0.25, 1.0]
