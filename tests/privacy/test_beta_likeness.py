import math

import pytest

from shoal.errors import InputError
from shoal.privacy import BetaLikeness


def basic(beta):
    return BetaLikeness(beta, "disease", enhanced=False)


def test_a_share_of_twice_the_input_s_gains_one(grouped):
    # a: 2/4 here, 2/8 in the input
    classes = grouped("aabb", suppressed="bbbb")
    assert basic(1).level(classes) == 1
    assert basic(1).holds(classes).all()
    assert not basic(0.99).holds(classes).any()


def test_a_loss_is_not_limited(grouped):
    # a falls from 1/2 to nothing, b gains as little as it can
    classes = grouped("bc", suppressed="aa")
    assert basic(1).level(classes) == 1


def test_enhanced_holds_a_frequent_value_closer(grouped):
    # a: all of the class, half of the input: gains 1, and −ln 0.5 is 0.69
    classes = grouped("aa", suppressed="bb")
    assert basic(5).holds(classes).all()
    assert not BetaLikeness(5, "disease").holds(classes).any()
    assert BetaLikeness(5, "disease").level(classes) == math.inf


def test_enhanced_no_beta_at_all_lets_a_value_fill_a_class(grouped):
    classes = grouped("aa", suppressed="b")
    assert not BetaLikeness(math.inf, "disease").holds(classes).any()


def test_enhanced_a_gain_below_both_bounds_holds(grouped):
    # a: 2/4 here, 3/8 in the input: gains 1/3, and −ln 0.375 is 0.98
    classes = grouped("aabb", suppressed="abbb")
    assert BetaLikeness(0.34, "disease").holds(classes).all()
    assert not BetaLikeness(0.33, "disease").holds(classes).any()
    assert BetaLikeness(1, "disease").level(classes) == pytest.approx(1 / 3)


@pytest.mark.parametrize("beta", [0.1, 0.2, 0.3, 0.7, 1.1, 1.7])
def test_a_gain_of_just_beta_holds(grouped, beta):
    more = round(10 * (1 + beta))  # a: so many of a hundred here, ten of a hundred in the input
    classes = grouped(
        "a" * more + "b" * (100 - more), suppressed="a" * (100 - more) + "b" * (800 + more)
    )
    assert basic(beta).holds(classes).all()
    assert not basic(beta - 1e-9).holds(classes).any()


def test_the_input_itself_gains_nothing(grouped):
    assert BetaLikeness(1, "disease").level(grouped("aab")) == 0
    assert BetaLikeness(1, "disease").holds(grouped("aaa")).all()


def test_the_reference_counts_suppressed_rows(grouped):
    assert basic(1).level(grouped("ab", suppressed="cc")) == 1


def test_a_value_that_the_reference_lacks_gains_without_end(grouped):
    whole = grouped("abc")
    classes = type(whole).of(whole.table, whole.ids, origin=whole.table.take([0, 1]))
    assert basic(100).level(classes) == math.inf


def test_a_missing_value_counts_as_a_value(grouped):
    assert basic(1).level(grouped([None, "a"], suppressed="aa")) == 1


def test_options_out_of_range_are_refused():
    with pytest.raises(InputError, match="beta must be more than 0"):
        BetaLikeness(0, "disease")
    with pytest.raises(InputError, match="enhanced must be true or false, not 'yes'"):
        BetaLikeness(1, "disease", "yes")
