from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from tests.examples import examples
from tests.risk.with_people import grouped_people, several_rows, unit

import shoal
from shoal.errors import InputError
from shoal.privacy import OneKAnonymity
from shoal.risk import k_map, record_risk
from shoal.table.table import Table


def table_of(counts=None, **columns):
    return Table.from_arrow(pa.table(columns), dict.fromkeys(columns, "quasi"), counts=counts)


def test_a_prosecutor_faces_the_records_that_look_alike(released):
    found = record_risk(released({"age": [1, 2, 3, 4, 5]}, [0, 0, 1, 1, 1]), threshold=0.4)
    assert found.records == 5
    assert found.prosecutor.highest == 1 / 2
    assert found.prosecutor.average == pytest.approx(2 / 5)  # classes / records
    assert found.prosecutor.at_risk == 2  # above 0.4
    assert found.journalist is None
    assert found.marketer == pytest.approx(2 / 5)


def test_a_threshold_may_be_reached():
    found = record_risk(table_of(x=[1, 1, 2]), threshold=0.5)
    assert found.prosecutor.at_risk == 1


def test_a_raw_table_goes_by_the_columns_asked_for():
    table = table_of(x=[1, 1, 2, 2], y=[1, 2, 3, 3])
    assert record_risk(table).prosecutor.average == pytest.approx(3 / 4)
    assert record_risk(table, known=["x"]).prosecutor.highest == 1 / 2
    with pytest.raises(InputError, match="no column 'z'"):
        record_risk(table, known=["z"])


def test_a_journalist_faces_everybody_who_fits(released):
    release = released({"age": [20, 30, 41, 47]}, [0, 0, 1, 1])
    people = table_of(age=[20, 25, 30, 41, 47])
    found = record_risk(release, population=people)
    assert found.journalist.highest == 1 / 2
    assert found.journalist.average == found.marketer == pytest.approx((2 / 3 + 2 / 2) / 4)
    assert found.short == 0
    again = record_risk(release, population=k_map(release, people))
    assert again.to_dict() == found.to_dict()


def test_records_behind_weighted_rows_count():
    table = table_of(counts=[3, 1], x=[1, 2])
    found = record_risk(table, population=table_of(x=[1] * 6 + [2] * 2))
    assert found.prosecutor.average == pytest.approx(2 / 4)
    assert found.marketer == pytest.approx((3 / 6 + 1 / 2) / 4)


def test_a_population_that_lacks_people_is_told_and_never_lowers_the_risk_below_the_own_class():
    table = table_of(x=[1, 1, 2, 3])
    found = record_risk(table, population=table_of(x=[1, 2, 2]))
    assert found.short == 3  # twice 1, and 3
    assert found.journalist.risks.tolist() == [1 / 2, 1 / 2, 1 / 2, 1]


def test_an_estimated_population_is_as_risky_as_the_true_one_within_a_fifth():
    table = shoal.datasets.patients(20_000, 5)
    columns = ["sex", "occupation", "admission_date"]
    sample = table.take(np.random.default_rng(2).permutation(len(table))[:2000])
    told = record_risk(sample, sampling_fraction=0.1, known=columns)
    true = record_risk(sample, population=table, known=columns)
    assert told.marketer == pytest.approx(true.marketer, rel=0.2)
    assert told.prosecutor.to_dict() == true.prosecutor.to_dict()
    assert "without an interval" in told.basis


def test_a_fraction_of_one_is_a_census():
    table = table_of(x=[1, 1, 2])
    found = record_risk(table, sampling_fraction=1.0)
    assert found.journalist.average == found.prosecutor.average


def test_where_everybody_differs_the_worst_is_assumed():
    found = record_risk(table_of(x=[1, 2, 3]), sampling_fraction=0.01)
    assert found.journalist.highest == 1
    assert "worst case" in found.basis


def test_freeform_releases_go_by_who_fits(released):
    release = replace(released({"age": [1, 2, 3]}, [0, 0, 0]), model=OneKAnonymity(5))
    assert record_risk(release).prosecutor.highest == 1 / 3
    with pytest.raises(InputError, match="give a population table"):
        record_risk(release, sampling_fraction=0.5)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"threshold": 2}, "threshold must be"),
        ({"sampling_fraction": 0}, "sampling_fraction must be"),
        ({"sampling_fraction": 0.5, "population": table_of(x=[1])}, "not both"),
    ],
)
def test_options_are_checked(options, told):
    with pytest.raises(InputError, match=told):
        record_risk(table_of(x=[1, 1]), **options)


def test_a_release_has_its_classes(released):
    with pytest.raises(InputError, match="only be chosen for a table"):
        record_risk(released({"age": [1, 2]}, [0, 0]), known=["age"])


def test_risks_are_those_of_people_where_people_have_several_rows():
    found = record_risk(grouped_people("a" + 9 * "b" + "cd", 10 * [0] + 2 * [1]), threshold=0.5)
    assert (found.records, found.people, found.k) == (12, 4, 2)
    assert found.prosecutor.highest == 0.9
    assert found.prosecutor.average == pytest.approx((0.5 + 0.9 + 0.5 + 0.5) / 4)
    assert found.prosecutor.at_risk == 1
    assert found.marketer == pytest.approx((0.5 + 1 - 0.5**9 + 0.5 + 0.5) / 4)


@given(drawn=several_rows())
@examples(40)
def test_people_of_one_row_each_are_rows(drawn):
    _, ids = drawn
    release = grouped_people(range(len(ids)), ids)
    plain = replace(release, original=replace(release.original, person=None))
    told, known = record_risk(release).to_dict(), record_risk(plain).to_dict()
    assert told.pop("attackers")[0] == pytest.approx(known.pop("attackers")[0])
    assert told.pop("marketer") == pytest.approx(known.pop("marketer"))
    assert told == known


def test_a_journalist_names_one_of_the_people_who_fit():
    """Three people of the population have x = 1, one of them in two rows."""
    table = about_table(table_of(x=[1, 1, 2]), "aab")
    everybody = about_table(table_of(x=[1, 1, 1, 1, 2, 2]), "aabcbd")
    found = record_risk(table, population=everybody)
    assert found.journalist.risks.tolist() == [1 / 3, 1 / 2]
    assert found.marketer == pytest.approx((1 - (2 / 3) ** 2 + 1 / 2) / 2)
    counted = k_map(table, everybody)
    assert counted.people.tolist() == [3, 3, 2]
    assert (counted.k, counted.below(3), counted.to_dict()["people"]) == (2, 1, 2)
    assert found.short == 0
    assert record_risk(table, population=about_table(table_of(x=[1, 2]), "ab")).short == 0
    assert record_risk(table, population=table_of(x=[2])).short == 1


def test_a_population_read_beside_a_release_counts_people():
    release = grouped_people("aab", [0, 0, 1])
    everybody = about_table(table_of(x=["v0", "v0", "v0", "v1"]), "aabb")
    assert k_map(release, everybody).people.tolist() == [2, 2, 1]


def about_table(table, person):
    return replace(table, person=unit(person))
