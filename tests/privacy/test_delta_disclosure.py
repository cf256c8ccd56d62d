import math

import pytest

from shoal.errors import InputError
from shoal.privacy import DeltaDisclosure


def test_a_share_twice_the_input_s_needs_more_than_ln_2(grouped):
    # a: 2/4 here, 1/4 in the input; b: 2/4 against 3/4
    classes = grouped("aabb", suppressed="bbbb")
    assert DeltaDisclosure(1, "disease").level(classes) == pytest.approx(math.log(2))
    assert DeltaDisclosure(0.7, "disease").holds(classes).all()
    assert not DeltaDisclosure(0.69, "disease").holds(classes).any()


def test_a_share_of_half_the_input_s_counts_as_much(grouped):
    # a: 1/4 against 2/4, b: 3/4 against 2/4
    classes = grouped("abbb", suppressed="aaab")
    assert DeltaDisclosure(1, "disease").level(classes) == pytest.approx(math.log(2))


@pytest.mark.parametrize("times", [2, 3, 5, 6, 7, 11])
def test_it_does_not_hold_at_equality(grouped, times):
    classes = grouped("a" + "b" * (2 * times - 1), suppressed="a" * (2 * times - 1) + "b")
    # a: 1 of 2·times here, half of the input
    assert DeltaDisclosure(1, "disease").level(classes) == pytest.approx(math.log(times))
    assert not DeltaDisclosure(math.log(times), "disease").holds(classes).any()
    assert DeltaDisclosure(math.log(times) + 1e-9, "disease").holds(classes).all()


def test_a_class_that_lacks_a_value_of_the_input_breaks_any_delta(grouped):
    classes = grouped("ab", "aab", "aabc")
    assert DeltaDisclosure(100, "disease").holds(classes).tolist() == [False, False, True]
    assert DeltaDisclosure(math.inf, "disease").holds(classes).tolist() == [False, False, True]
    assert DeltaDisclosure(100, "disease").level(classes) == math.inf


def test_a_value_that_only_suppressed_rows_show_is_lacking(grouped):
    assert DeltaDisclosure(1, "disease").level(grouped("ab")) == 0
    assert DeltaDisclosure(1, "disease").level(grouped("ab", suppressed="c")) == math.inf


def test_a_value_of_the_ground_domain_that_no_row_shows_is_not_lacking(grouped):
    whole = grouped("abc")
    part = whole.table.take([0, 1])
    assert DeltaDisclosure(1, "disease").level(type(whole).of(part, whole.ids[:2])) == 0


def test_a_value_that_the_reference_lacks_breaks_any_delta(grouped):
    whole = grouped("abc")
    classes = type(whole).of(whole.table, whole.ids, origin=whole.table.take([0, 1]))
    assert DeltaDisclosure(1, "disease").level(classes) == math.inf


def test_a_missing_value_counts_as_a_value(grouped):
    assert DeltaDisclosure(9, "disease").holds(grouped(["a", None], "a")).tolist() == [True, False]


def test_delta_is_more_than_nothing():
    with pytest.raises(InputError, match="delta must be more than 0"):
        DeltaDisclosure(0, "disease")
