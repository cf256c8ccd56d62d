from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from tests.examples import examples
from tests.risk.with_people import grouped_people, several_rows

from shoal.risk import assess, known_rows
from shoal.risk.known_rows import _share


def recounted(person, ids, rows):
    """By people with so many released rows: the risk of every set of rows, one after the other."""
    visits = {}
    for who, place in zip(person, ids, strict=True):
        if place >= 0:
            visits.setdefault(who, []).append(place)
    found = {}
    for who, mine in visits.items():
        for known in combinations(mine, rows):
            wanted = Counter(known)
            fitting = sum(wanted <= Counter(others) for others in visits.values())
            found.setdefault(who, []).append(1 / fitting)
    return found


@given(drawn=several_rows())
@examples(80)
def test_candidates_are_the_people_with_rows_in_all_these_classes(drawn):
    person, ids = drawn
    found = {each.rows: each for each in known_rows(grouped_people(person, ids).classes)}
    for rows in (1, 2, 3):
        expected = recounted(person, ids, rows)
        assert (rows in found) == bool(expected)
        if expected:
            highest = [max(risks) for risks in expected.values()]
            means = [sum(risks) / len(risks) for risks in expected.values()]
            one = found[rows]
            assert (one.people, one.complete) == (len(expected), True)
            assert one.highest == pytest.approx(max(highest))
            assert one.average == pytest.approx(sum(highest) / len(highest))
            assert one.random == pytest.approx(sum(means) / len(means))
            assert one.singled_out == sum(risk == 1 for risk in highest)


def test_two_visits_single_out_a_person_who_hides_among_two_in_each_class():
    """Person a has rows in classes 0 and 1; everybody else has one row."""
    one, two = assess(grouped_people("abac", [0, 0, 1, 1])).known_rows
    assert (one.rows, one.people, one.highest) == (1, 3, 0.5)
    assert (two.rows, two.people, two.highest, two.singled_out) == (2, 1, 1.0, 1)


def test_of_many_sets_some_are_drawn_and_that_is_said():
    found = known_rows(grouped_people("aaaabbbb", [0, 1, 2, 3] * 2).classes, max_sets=4)
    assert [each.complete for each in found] == [True, False, False]
    assert [each.highest for each in found] == [0.5] * 3  # both people have rows in all classes


@pytest.mark.parametrize(
    ("wanted", "total", "share"),
    [([1, 2, 9], 12, 9), ([1, 2, 9], 8, 5), ([4, 4, 4], 9, 3), ([5, 5], 1, 1), ([], 3, 1)],
)
def test_sets_that_few_rows_do_not_need_are_left_to_others(wanted, total, share):
    assert _share(wanted, total) == share


def test_a_table_that_names_no_people_has_no_such_figure(released):
    assert known_rows(released({"age": [1, 1]}, [0, 0]).classes) == ()
