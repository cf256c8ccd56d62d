"""Composition: against randomised response, the worst there is, counted in fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.dp.claims import advanced_epsilon, advanced_room, compose, decimal_sum, optimal_epsilon

losses = st.lists(
    st.tuples(st.floats(0, 2), st.one_of(st.just(0.0), st.floats(0, 1e-3))), min_size=1, max_size=20
)


def excess(odds, count, bound):
    """Return the δ of `count` honest-with-odds answers at e^ε = bound, answer by answer."""
    truth, lie = odds / (1 + odds), 1 / (1 + odds)
    total = Fraction(0)
    for lies in itertools.product((False, True), repeat=count):
        here = math.prod(lie if told else truth for told in lies)
        there = math.prod(truth if told else lie for told in lies)
        total += max(here - bound * there, Fraction(0))
    return total


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("slack", [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 5)])
def test_the_optimal_bound_is_enough_and_no_less_would_be(count, slack):
    odds = Fraction(3, 2)
    found = optimal_epsilon(math.log(odds), count, float(slack))
    assert excess(odds, count, Fraction(math.exp(found))) <= slack
    lower = Fraction(math.exp(found - 1e-6))
    assert found < 1e-6 or excess(odds, count, lower) > slack


@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_optimal_bound_passes_through_the_published_points(step):
    """At (count − 2i) ε the theorem gives δ in closed form."""
    epsilon, count = 0.3, 8
    odds = math.exp(epsilon)
    parts = (
        math.comb(count, lies) * (odds ** (count - lies) - odds ** (count - 2 * step + lies))
        for lies in range(step)
    )
    slack = sum(parts) / (1 + odds) ** count
    assert optimal_epsilon(epsilon, count, slack) == pytest.approx((count - 2 * step) * epsilon)


def test_optimal_bounds_of_a_thousand_releases_stay_finite():
    found = optimal_epsilon(0.1, 1000, 1e-6)
    assert 5 < found < advanced_epsilon([0.1] * 1000, 1e-6) < 100
    assert optimal_epsilon(800.0, 3, 1e-6) == pytest.approx(2400, rel=1e-3)


@examples(60)
@given(st.floats(0.001, 3), st.integers(1, 60), st.floats(1e-12, 0.3))
def test_optimal_is_never_more_than_the_others(epsilon, count, slack):
    found = optimal_epsilon(epsilon, count, slack)
    assert found <= decimal_sum([epsilon] * count)
    assert found <= advanced_epsilon([epsilon] * count, slack) + 1e-9


def test_the_advanced_bound_is_the_papers_formula():
    expected = math.sqrt(2 * math.log(1e5) * 0.14) + 0.07  # Σε² = 0.01 + 0.04 + 0.09
    assert advanced_epsilon([0.1, 0.2, 0.3], 1e-5) == pytest.approx(expected)


@given(st.floats(1e-3, 20), st.floats(1e-12, 0.5))
def test_the_room_is_where_the_advanced_bound_is_reached(epsilon, slack):
    room = advanced_room(epsilon, slack)
    assert advanced_epsilon([math.sqrt(room)], slack) <= epsilon
    assert advanced_epsilon([math.sqrt(room) * (1 + 1e-6)], slack) > epsilon


@given(losses, st.floats(1e-12, 1e-2), st.booleans())
def test_the_least_bound_is_taken(parts, slack, adaptive):
    found, basic = compose(parts, slack=slack, adaptive=adaptive), compose(parts)
    assert found.epsilon <= basic.epsilon
    assert found.epsilon <= advanced_epsilon([epsilon for epsilon, _ in parts], slack)
    more = 0 if found.rule == "basic" else slack
    assert found.delta == pytest.approx(basic.delta + more)


def test_the_rule_follows_what_is_known():
    many = [(0.01, 0.0)] * 400
    assert compose(many).rule == "basic"
    assert compose(many, slack=1e-6).rule == "advanced"
    assert compose(many, slack=1e-6, adaptive=False).rule == "optimal"
    assert compose([*many, (0.02, 0.0)], slack=1e-6, adaptive=False).rule == "advanced"
    assert compose([]) == compose([], slack=0.1)


@given(st.lists(st.floats(0, 1e3), max_size=30))
def test_sums_are_exact_in_decimals_and_never_too_small(numbers):
    exact = sum((Fraction(repr(number)) for number in numbers), Fraction(0))
    found = decimal_sum(numbers)
    assert exact <= Fraction(repr(found))
    assert float(found) == pytest.approx(float(exact), rel=1e-15, abs=0)


def test_a_tenth_ten_times_is_one():
    assert sum([0.1] * 10) != 1
    assert decimal_sum([0.1] * 10) == 1
