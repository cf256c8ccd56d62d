import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError, RepeatedIdentifier
from shoal.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    EntropyLDiversity,
    KAnonymity,
    LDiversity,
    RecursiveLDiversity,
    TCloseness,
)
from shoal.table.classes import Classes
from shoal.table.people import Unit, count_distinct, joined
from shoal.table.table import Table

VISITS = pa.table(
    {
        "patient": ["a", "a", "a", "b", "b", "c", "d"],
        "name": ["Ann", "Ann", "Ann", "Bo", "Bo", "Bo", "Di"],
        "ward": [1, 1, 1, 1, 1, 2, 2],
        "ill": ["flu", "flu", "flu", "flu", "gout", "flu", "gout"],
    }
)
ROLES = {"ward": "quasi", "ill": "sensitive"}


def visits(**options):
    return Table.from_arrow(VISITS, ROLES, **options)


def test_people_are_told_apart_by_all_person_columns_together():
    assert visits(person="patient").people == 4
    assert visits(person=["name", "patient"]).people == 4
    assert visits(person="name").people == 3
    assert visits().people == 7


def test_person_columns_are_identifiers_and_nothing_else():
    assert visits(person="patient").names("identifier") == ("patient",)
    with pytest.raises(InputError, match="'ward' identifies the person and cannot be published"):
        visits(person="ward")


def test_a_row_that_does_not_say_whom_it_is_about_is_refused():
    unknown = VISITS.set_column(0, "patient", pa.array(["a", None, "", "b", "b", "c", "d"]))
    with pytest.raises(InputError, match="'patient' identifies the person, but 2 rows have no"):
        Table.from_arrow(unknown, ROLES, person="patient")


def test_repeated_identifiers_are_refused_with_both_ways_out():
    roles = {**ROLES, "patient": "identifier"}
    with pytest.raises(RepeatedIdentifier, match=r"person='patient'.*rows_are_people=True"):
        Table.from_arrow(VISITS, roles)
    assert Table.from_arrow(VISITS, roles, rows_are_people=True).people == 7
    assert Table.from_arrow(VISITS, roles, person="patient").people == 4


def test_homonyms_do_not_matter_beside_an_identifier_that_tells_all_apart():
    roles = {**ROLES, "patient": "identifier", "name": "identifier"}
    single = VISITS.take([0, 3, 5, 6])
    assert Table.from_arrow(single, roles).people == 4  # two people are called Bo
    with pytest.raises(RepeatedIdentifier, match="'name' has 3 distinct values in 4 rows"):
        Table.from_arrow(single, {**ROLES, "name": "identifier"})


def test_the_number_of_a_visit_does_not_say_who_the_people_are():
    visits = VISITS.append_column("encounter_id", pa.array(range(7)))
    roles = {**ROLES, "encounter_id": "identifier"}
    assert Table.from_arrow(visits, roles).people == 7  # nothing else says who is who
    with pytest.raises(RepeatedIdentifier, match="'patient' has 4 distinct values in 7 rows"):
        Table.from_arrow(visits, {**roles, "patient": "identifier", "name": "identifier"})


def test_missing_identifiers_do_not_count_as_repeated():
    phones = VISITS.append_column("phone", pa.array(["1", None, None, "", "2", "3", None]))
    assert Table.from_arrow(phones, {**ROLES, "phone": "identifier"}).people == 7


def test_classes_count_people_and_rows_apart():
    classes = Classes.by_quasi(visits(person="patient"))
    assert classes.rows.tolist() == [5, 2]
    assert classes.people.tolist() == classes.sizes.tolist() == [2, 2]
    assert classes.histogram("ill").counts.tolist() == [2, 1, 1, 1]  # flu a b, gout b; flu c
    assert classes.row_histogram("ill").counts.tolist() == [4, 1, 1, 1]
    assert classes.shares("ill").tolist() == [1.0, 0.5, 0.5, 0.5]
    assert classes.distribution("ill").tolist() == [2 / 3, 1 / 3, 0.5, 0.5]
    assert classes.reference("ill").tolist() == [3 / 4, 2 / 4]
    assert classes.reference_distribution("ill").tolist() == [3 / 5, 2 / 5]


def test_every_model_counts_people():
    classes = Classes.by_quasi(visits(person="patient"))
    assert KAnonymity(2).level(classes) == 2
    assert LDiversity(2, "ill").level(classes) == 2
    assert AlphaKAnonymity(1, 2, "ill").level(classes) == 1.0
    assert BetaLikeness(1, "ill", enhanced=False).level(classes) == pytest.approx(1 / 3)
    assert DeltaDisclosure(1, "ill").level(classes) == pytest.approx(np.log(3 / 2))
    assert TCloseness(1, "ill").level(classes) == pytest.approx(0.1)
    assert RecursiveLDiversity(3, 2, "ill").level(classes) == 2
    q = np.array([2 / 3, 1 / 3])
    assert EntropyLDiversity(1.5, "ill").level(classes) == pytest.approx(
        np.exp(-(q * np.log(q)).sum())
    )


def test_one_person_with_many_values_is_not_diverse():
    lone = VISITS.take([3, 4])
    classes = Classes.by_quasi(Table.from_arrow(lone, ROLES, person="patient"))
    assert LDiversity(2, "ill").level(classes) == 1
    assert EntropyLDiversity(1.5, "ill").level(classes) == 1
    assert RecursiveLDiversity(3, 2, "ill").level(classes) == np.inf
    assert not LDiversity(2, "ill").holds(classes).any()


def test_k_counts_households_where_they_are_named():
    homes = VISITS.append_column("home", pa.array([1, 1, 1, 1, 1, 1, 2]))
    table = Table.from_arrow(homes, ROLES, person="patient", household="home")
    classes = Classes.by_quasi(table)
    assert classes.people.tolist() == [2, 2]
    assert classes.sizes.tolist() == classes.households.tolist() == [1, 2]
    with pytest.raises(InputError, match="k is 3 but the table has 2 households"):
        KAnonymity(3).check(table)


def test_units_of_people_and_households_count_neither_too_many():
    person = Unit(("p",), np.array([0, 0, 1, 2, 3], np.int32), 4)
    household = Unit(("h",), np.array([0, 1, 1, 2, 2], np.int32), 3)
    both = joined(person, household)  # the first person links two households
    assert both.count == 2
    assert len(set(both.ids[:3].tolist())) == 1


def test_distinct_people_are_counted_group_by_group():
    unit = Unit(("p",), np.array([0, 0, 1, 2, 2], np.int32), 3)
    ids = np.array([0, 0, 0, 1, -1], np.int32)
    assert count_distinct(ids, 2, unit).tolist() == [2, 1]
    assert unit.take([0, 3]).ids.tolist() == [0, 1]


def test_distinct_tuples_can_keep_people_apart():
    table = visits(person="patient")
    assert len(table.distinct()) == 2
    apart = table.distinct(people=True).table
    assert apart.counts.tolist() == [3, 2, 1, 1]
    assert apart.people == 4
    assert table.distinct(people=True).table.person.ids.tolist() == [0, 1, 2, 3]


def test_a_number_of_people_that_repeats_is_refused_even_without_a_role():
    ages, visits = [30, 30, 41, 42], [1, 2, 3, 4]
    rows = pa.table({"customer_no": [1, 1, 2, 3], "visit_id": visits, "age": ages})
    with pytest.raises(RepeatedIdentifier, match="'customer_no' has 3 distinct values in 4 rows"):
        shoal.Table.from_arrow(rows, {"age": "quasi"})
    assert shoal.Table.from_arrow(rows, {"age": "quasi"}, rows_are_people=True).person is None
    people = shoal.Table.from_arrow(rows, {"age": "quasi"}, person="customer_no")
    release = shoal.anonymize(people, shoal.KAnonymity(2))
    assert release.classes.people.min() >= 2
    assert len(shoal.Table.from_arrow(rows.drop_columns("customer_no"), {"age": "quasi"})) == 4
