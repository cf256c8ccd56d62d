"""The expected inverse of a negative binomial count, against its definition."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.support.proportions import expected_inverse


def summed(f, p):
    """Return E(1/F) term by term, with exact fractions, until the rest is negligible."""
    p = Fraction(p)
    total, size, rest = Fraction(0), f, Fraction(1)
    while rest > Fraction(1, 10**14):
        chance = comb(size - 1, f - 1) * p**f * (1 - p) ** (size - f)
        total, rest, size = total + chance / size, rest - chance, size + 1
    return float(total)


@pytest.mark.parametrize("f", [1, 2, 3, 4, 8, 9, 15])
@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(1)])
def test_it_is_the_sum_over_all_sizes_of_the_class(f, p):
    found = expected_inverse(np.array([float(f)]), np.array([float(p)]))
    assert found[0] == pytest.approx(summed(f, p), rel=1e-12)


@examples(200)
@given(st.integers(1, 400), st.floats(1e-9, 1), st.floats(1e-9, 1))
def test_more_people_and_smaller_shares_lower_it(f, one, other):
    low, high = sorted([one, other])
    a, b, c = expected_inverse(np.array([f, f, f + 1.0]), np.array([low, high, high]))
    assert a <= b * (1 + 1e-12)
    assert c < b
    assert b <= 1 / f + 1e-12
    assert a >= low / f * (1 - 1e-12)  # Jensen: at least 1 / E(F)


def test_the_next_size_follows_from_the_last_across_both_ways_of_computing():
    """The recurrence that links the closed form, up to 8 people, with the series beyond."""
    for p in (0.49, 0.2, 1e-3, 1e-6):
        sizes = np.arange(1.0, 40.0)
        values = expected_inverse(sizes, np.full(len(sizes), p))
        following = p / (1 - p) * (1 / sizes[:-1] - values[:-1])
        assert values[1:] == pytest.approx(following, rel=1e-9)
