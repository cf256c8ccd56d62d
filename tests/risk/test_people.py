import numpy as np
import pytest
from hypothesis import given
from tests.examples import examples
from tests.risk.with_people import grouped_people, prosecutor, several_rows, tallies, unit

from shoal.risk.reidentification import at_least_once, by_person
from shoal.table.members import KindEdges, Members


@given(drawn=several_rows())
@examples(60)
def test_members_are_the_people_of_each_class(drawn):
    person, ids = drawn
    found = Members.of(np.array(ids, dtype=np.int32), unit(person))
    known = sorted(set(person))
    entries = zip(found.place.tolist(), found.person.tolist(), found.rows.tolist(), strict=True)
    counted = {(place, known[who]): rows for place, who, rows in entries}
    assert counted == {
        (place, who): rows
        for place, members in tallies(person, ids).items()
        for who, rows in members.items()
    }
    assert found.present.sum() == len(prosecutor(person, ids))


def test_members_of_a_weighted_table_count_its_records():
    found = Members.of(np.array([0, 0, 1], dtype=np.int32), unit("aab"), np.array([2, 3, 4]))
    assert found.rows.tolist() == [5, 4]
    assert found.count_people(np.array([True, False])) == 1


def test_the_figure_of_a_person_is_chosen_among_those_of_her_rows():
    figures, weights = np.array([0.1, 0.5, 0.3]), np.ones(3, dtype=np.int64)
    assert by_person(figures, weights, unit("aba"), np.maximum)[0].tolist() == [0.3, 0.5]
    assert by_person(figures, weights, unit("aba"), np.minimum)[0].tolist() == [0.1, 0.5]
    assert by_person(figures, weights, None, np.maximum)[0] is figures


def test_one_of_several_events_happens():
    found = at_least_once(np.array([0.5, 0.5, 1.0, 0.0]), np.array([0, 0, 1, 2]), 3)
    assert found.tolist() == pytest.approx([0.75, 1.0, 0.0])


def test_own_records_are_those_that_a_row_fits():
    """Kind 0 of rows fits records 0 and 1, kind 1 fits record 1 only; person a has both."""
    edges = KindEdges(np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32), 2)
    rows, records = np.array([0, 1, 1], dtype=np.int32), np.array([0, 1, 1], dtype=np.int32)
    assert edges.own_records(rows, records, unit("aab"), None).tolist() == [2, 1, 1]
    assert edges.sum_records(np.array([1, 2])).tolist() == [3, 2]
    assert edges.count_people(Members.of(records, unit("aab"))).tolist() == [2, 2]
    assert edges.turned().indices.tolist() == [0, 0, 1]


def test_people_left_out_have_no_class():
    release = grouped_people("aab", [-1, -1, -1])
    assert not len(Members.of(release.classes.ids, release.original.person))
