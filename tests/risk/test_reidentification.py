from fractions import Fraction

import pytest
from hypothesis import given
from tests.examples import examples
from tests.risk.with_people import about, grouped_people, prosecutor, several_rows, tallies

from shoal.privacy import FreeformAnonymity, KAnonymity
from shoal.risk.reidentification import Reidentification


@pytest.mark.parametrize(
    ("ids", "fewest", "average"),
    [
        ([0, 0, 1, 1, 1], 2, Fraction(2, 5)),  # two classes of five people
        ([0, 0, 0, 0, 0], 5, Fraction(1, 5)),
        ([0, 1, 1, 1, 1], 1, Fraction(2, 5)),  # somebody stands alone
        ([-1, 0, 0, 1, 1], 2, Fraction(1, 2)),  # who is left out runs no risk
    ],
)
def test_a_person_hides_among_those_published_alike(released, ids, fewest, average):
    found = Reidentification.of(released({"age": [1, 2, 3, 4, 5]}, ids, KAnonymity(2)))
    assert found.by_class
    assert found.people == sum(i >= 0 for i in ids)
    assert found.highest_risk == 1 / fewest
    assert found.average_risk == pytest.approx(float(average))


def test_people_count_as_often_as_they_are_there(released):
    found = Reidentification.of(released({"age": [1, 2]}, [0, 1], KAnonymity(2), counts=[2, 3]))
    assert (found.people, found.fewest) == (5, 2)
    assert found.average_risk == pytest.approx(2 / 5)


def test_nobody_runs_no_risk(released):
    found = Reidentification.of(released({"age": [1, 2]}, [-1, -1], KAnonymity(2)))
    assert (found.people, found.highest_risk, found.average_risk) == (0, 0.0, 0.0)


def test_where_classes_do_not_settle_it_people_hide_among_the_records_they_fit(released):
    release = released({"age": [1, 1, 2, 2, 3]}, [0, 0, 1, 1, 1], FreeformAnonymity(3))
    found = Reidentification.of(release)
    assert not found.by_class
    assert found.sizes.tolist() == [2, 2, 3, 3, 3]
    assert found.highest_risk == 1 / 2
    assert found.average_risk == pytest.approx((2 / 2 + 3 / 3) / 5)


def test_a_person_with_most_rows_of_a_class_is_easier_to_find_than_one_in_k():
    found = Reidentification.of(grouped_people("a" + 9 * "b", 10 * [0]))
    assert (found.people, found.fewest) == (2, 2)
    assert found.risks.tolist() == [0.5, 0.9]  # 1 of 2 people; 9 of 10 rows
    assert found.highest_risk == 0.9
    assert found.average_risk == pytest.approx(0.7)


@given(drawn=several_rows())
@examples(60)
def test_the_risk_of_a_person_is_the_largest_over_her_classes(drawn):
    person, ids = drawn
    found, expected = Reidentification.of(grouped_people(person, ids)), prosecutor(person, ids)
    assert found.people == len(expected)
    assert found.risks.tolist() == pytest.approx([expected[who] for who in sorted(expected)])
    sizes = {place: len(members) for place, members in tallies(person, ids).items()}
    smallest = {
        who: min(size for place, size in sizes.items() if who in tallies(person, ids)[place])
        for who in expected
    }
    assert found.sizes.tolist() == [smallest[who] for who in sorted(smallest)]
    assert sorted(found.class_sizes.tolist()) == sorted(sizes.values())


def test_people_with_several_rows_hide_among_the_people_whose_records_they_fit(released):
    """Rows 0 and 1 fit the first box of one person; the others fit three rows of two people."""
    release = released({"age": [1, 1, 2, 2, 3]}, [0, 0, 1, 1, 1], FreeformAnonymity(3))
    found = Reidentification.of(about(release, "aabbc"))
    assert not found.by_class
    assert found.sizes.tolist() == [1, 2, 2]
    assert found.risks.tolist() == pytest.approx([1, 2 / 3, 1 / 2])
    assert found.highest_risk == 1
