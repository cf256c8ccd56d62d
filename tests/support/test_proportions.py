"""Chances of a binomial, by the definition and in logarithms."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.support.proportions import exact_chance, exact_tail, log_chance, log_head, log_tail

rates = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)


def chance(j, n, beta):
    return math.comb(n, j) * beta**j * (1 - beta) ** (n - j)


@given(n=st.integers(0, 40), j=st.integers(-2, 42), beta=rates)
@examples(100)
def test_fractions_are_the_definition(n, j, beta):
    assert exact_tail(j, n, beta) == sum(chance(i, n, beta) for i in range(max(j, 0), n + 1))
    assert exact_chance(j, n, beta) == (chance(j, n, beta) if 0 <= j <= n else 0)


@given(n=st.integers(1, 400), data=st.data(), beta=rates)
@examples(150)
def test_logarithms_agree_with_fractions(n, data, beta):
    j = data.draw(st.integers(0, n))
    found = log_chance(j, n, float(beta))
    exact = exact_chance(j, n, beta)
    logarithm = math.log(exact.numerator) - math.log(exact.denominator)
    assert found == pytest.approx(logarithm, rel=1e-12, abs=1e-11)


@given(n=st.integers(1, 300), data=st.data(), beta=rates, slope=st.sampled_from([0, 1]))
@examples(100)
def test_weighted_tails_agree_with_fractions(n, data, beta, slope):
    mean = n * beta
    high = data.draw(st.integers(math.ceil(mean), n))
    low = data.draw(st.integers(0, math.floor(mean)))
    above = sum((2 + slope * (i - high)) * chance(i, n, beta) for i in range(high, n + 1))
    below = sum((2 + slope * (low - i)) * chance(i, n, beta) for i in range(low + 1))
    found = math.exp(log_tail(high, n, float(beta), 2, slope))
    assert found == pytest.approx(float(above), rel=1e-11)
    found = math.exp(log_head(low, n, float(beta), 2, slope))
    assert found == pytest.approx(float(below), rel=1e-11)
