import pytest

from shoal.errors import InputError
from shoal.privacy import KAnonymity


def test_a_class_of_k_records_holds_and_a_smaller_one_does_not(grouped):
    classes = grouped("abc", "ab", "abcd")
    assert KAnonymity(3).holds(classes).tolist() == [True, False, True]
    assert KAnonymity(3).level(classes) == 2


def test_a_table_of_fewer_than_k_records_is_refused(grouped):
    KAnonymity(3).check(grouped("abc").table)
    with pytest.raises(InputError, match="k is 4 but the table has 3 people"):
        KAnonymity(4).check(grouped("abc").table)


def test_the_records_of_a_weighted_table_are_counted_not_its_rows(grouped):
    classes = grouped("ab", "a", counts=[1, 2, 2])
    assert KAnonymity(3).holds(classes).tolist() == [True, False]
    KAnonymity(5).check(classes.table)


@pytest.mark.parametrize("k", [1, 0, -2, 2.5, True, "5", None])
def test_k_is_a_whole_number_of_two_or_more(k):
    with pytest.raises(InputError, match="k must be a whole number, 2 or more"):
        KAnonymity(k)
