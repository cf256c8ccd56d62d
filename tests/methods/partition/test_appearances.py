"""People with several rows are grouped as people, whatever the method knows of rows."""

import numpy as np
import pyarrow as pa
import pytest
from tests.nasty import NASTY, about, tiny

import shoal
from shoal.methods.partition.records import Appearances


def people_per_class(release):
    return release.classes.people.min()


def test_a_person_with_equal_rows_appears_once():
    people = Appearances.of(NASTY["visits alike"])
    assert (len(people), people.once) == (12, True)
    assert people.of_row.tolist() == np.repeat(np.arange(12), 5).tolist()


def test_slices_hold_each_person_once():
    people = Appearances.of(NASTY["one busy person"])
    assert not people.once
    for number in range(int(people.slices.max()) + 1):
        ids = people.table.person.ids[people.members(number)]
        assert len(set(ids.tolist())) == len(ids)


def test_equal_rows_are_kept_apart_where_each_needs_a_box():
    assert len(Appearances.of(NASTY["visits alike"], row_by_row=True)) == 60


@pytest.mark.parametrize("method", ["mondrian", "sorted", "greedy", "k-member", "anneal"])
def test_rows_of_one_person_do_not_make_a_class(method):
    """Forty patients with five visits each: by rows, every patient would be a class."""
    table = tiny(age=[20 + i // 5 for i in range(200)], person=np.arange(200) // 5)
    release = shoal.anonymize(table, shoal.KAnonymity(5), method)
    assert people_per_class(release) >= 5
    alone = shoal.anonymize(about(table), shoal.KAnonymity(5), method)
    assert len(alone.classes) == 40


@pytest.mark.parametrize("method", ["mondrian", "ola", "flash"])
def test_a_weighted_row_counts_one_person(method):
    data = pa.table({"who": list(range(12)), "age": [20 + i // 2 for i in range(12)]})
    table = shoal.Table.from_arrow(data, {"age": "quasi"}, counts=[9] * 12, person="who")
    release = shoal.anonymize(table, shoal.KAnonymity(4), method)
    assert people_per_class(release) >= 4
    assert release.to_arrow().num_rows == 108


def test_what_is_too_few_for_a_slice_joins_the_nearest_group():
    release = shoal.anonymize(NASTY["few come again"], shoal.KAnonymity(4), "greedy")
    assert people_per_class(release) >= 4
    assert release.suppressed is None
