"""Cells that list values of single people: counted by column, against a naive count."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.report import contents
from shoal.risk import attack
from shoal.risk.release_attacks.listed_members import SMALL, listing_columns


def named(count=40):
    """People with a name each, of five ages."""
    return pa.table(
        {
            "name": [f"person {i:03}" for i in range(count)],
            "age": [30 + i % 5 for i in range(count)],
            "ill": ["ab"[i % 2] for i in range(count)],
        }
    )


AGES = {"age": {"intervals": [5]}}


def attacked(original, released, **options):
    stated = {"quasi": ["name", "age"], "hierarchies": AGES, **options}
    return attack(original, released, **stated)


def test_sets_of_names_are_found_although_the_guarantee_holds():
    people = named().drop_columns("ill")
    release = shoal.anonymize(
        people, k=5, quasi=["name", "age"], hierarchies=AGES, list_values=True
    )
    assert release.verify()
    found = attacked(people, release)
    name, age = found.listed_members
    assert (name.alone, name.listed, name.in_small_sets, name.chance) == (40, 40, 40, None)
    assert (age.alone, age.listed, age.discloses) == (0, 0, False)
    assert found.listing == ("name",)
    assert found.sentences()[-1].startswith("listed members: name lists 40 of 40 people (100 %) by")
    assert json.loads(json.dumps(found.to_dict()))["listing"] == ["name"]
    assert listing_columns(release) == ["name"]


@pytest.mark.parametrize(
    ("cell", "listed"),
    [
        ("{person 000, person 001}", 2),
        ("person 000|person 001|person 002", 3),
        ('{"person 000", person 001, somebody}', 2),
        ("person 000", 1),
        ("*", 0),
        ("person 00*", 0),
        ("{group a, group b}", 0),
        ("group a", 0),
        ("somebody", 0),
        (None, 0),
    ],
)
def test_only_values_that_are_written_out_count(cell, listed):
    people = named(20)
    tree = shoal.Hierarchy.from_rows(
        [(f"person {i:03}", "group a" if i < 10 else "group b", "*") for i in range(20)]
    )
    released = pa.table({"name": pa.array([cell, "*"], pa.string()), "age": ["*", "*"]})
    found = attacked(people, released, hierarchies={**AGES, "name": tree})
    assert found.listed_members[0].listed == listed


def test_ends_of_ranges_and_values_that_several_people_have_do_not_count():
    people = pa.table({"income": [10.5, 11.5, 12.5, 13.5, 14.5, 14.5], "age": [1, 2, 3, 4, 5, 6]})
    released = pa.table({"income": ["[10.5, 12.5]", "14.5", "{12.5, 13.5}"], "age": ["*"] * 3})
    found = attack(people, released, quasi=["income", "age"])
    assert [each.listed for each in found.listed_members] == [2, 0]


def test_a_long_list_is_no_small_set():
    people = named(SMALL + 5)
    names = people.column("name").to_pylist()
    released = pa.table({"name": [f"{{{', '.join(names)}}}", f"{{{', '.join(names[:3])}}}"],
                         "age": ["*", "*"]})  # fmt: skip
    found = attacked(people, released).listed_members[0]
    assert (found.listed, found.in_small_sets) == (SMALL + 5, 3)


def test_people_with_several_rows_count_once():
    rows = pa.table({"id": [1, 1, 2, 2, 3], "ward": ["a", "b", "b", "c", "c"], "age": [1] * 5})
    released = pa.table({"ward": ["{a, b}", "{b, c}"], "age": ["1", "1"]})
    found = attack(rows, released, quasi=["ward", "age"], person="id").listed_members
    assert [(each.alone, each.listed) for each in found] == [(1, 1), (0, 0)]


def test_what_a_synthetic_release_lists_by_chance_is_not_held_against_it():
    rng = np.random.default_rng(0)

    def draw():
        incomes = rng.integers(0, 10**4, 1000)
        return pa.table({"income": incomes, "age": rng.integers(20, 30, 1000)})

    original, released, control = draw(), draw(), draw()
    found = attack(original, released, quasi=["income", "age"], control=control)
    income = found.listed_members[0]
    assert income.listed > 20
    assert income.chance == pytest.approx(income.listed, rel=0.4)
    again = attack(original, original, quasi=["income", "age"], control=control)
    assert again.listing == ("income",)
    assert again.listed_members[0].chance < 1


@given(st.data())
def test_the_count_is_that_of_a_naive_count(data):
    values = st.sampled_from("abcdefgh")
    own = data.draw(st.lists(values, min_size=4, max_size=12))
    sets = data.draw(st.lists(st.sets(values, min_size=1, max_size=4), min_size=1, max_size=6))
    cells = [next(iter(each)) if len(each) == 1 else f"{{{', '.join(each)}}}" for each in sets]
    people = pa.table({"x": own, "y": ["1"] * len(own)})
    released = pa.table({"x": cells, "y": ["1"] * len(cells)})
    found = attack(people, released, quasi=["x", "y"]).listed_members[0]
    alone = [value for value in own if own.count(value) == 1]
    assert found.alone == len(alone)
    assert found.listed == sum(any(value in each for each in sets) for value in alone)


@pytest.mark.parametrize("method", ["mondrian", "greedy", "anneal", "flash", "datafly"])
def test_the_report_names_the_columns_that_the_attack_names(method):
    people = named()
    release = shoal.anonymize(
        people, k=5, quasi=["name", "age"], sensitive="ill", method=method, list_values=True
    )
    found = attacked(people, release, hierarchies={})
    assert listing_columns(release) == list(found.listing)
    limits = {limit["title"]: limit["text"] for limit in contents(release)["limits"]}
    text = limits.get("Cells that list values of single people", "")
    assert ("name" in text) is ("name" in found.listing)
    assert "person 0" not in json.dumps(limits)


def test_a_representative_is_a_listed_value():
    people = named().drop_columns("ill")
    options = {"summary": "representative", "hierarchies": False}
    release = shoal.anonymize(
        people, k=5, quasi=["name", "age"], method="mondrian", list_values=True, **options
    )
    found = attacked(people, release, hierarchies={})
    assert 0 < found.listed_members[0].listed < 40
    assert listing_columns(release) == ["name"]


def test_a_release_by_hierarchies_lists_nobody():
    patients = shoal.datasets.patients(300, seed=1)
    release = shoal.anonymize(patients, k=5, method="flash")
    found = attack(patients, release)
    assert found.listing == ()
    assert "no released cell writes out a value" in found.sentences()[-1]
    assert listing_columns(release) == []
    titles = [limit["title"] for limit in contents(release)["limits"]]
    assert "Cells that list values of single people" not in titles
