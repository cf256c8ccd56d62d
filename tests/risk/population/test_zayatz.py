from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.risk.population import uniqueness
from shoal.risk.population.frequencies import Frequencies


def by_hand(sizes, people):
    """Bayes' rule in fractions: population classes are of the sizes that sample classes have."""
    drawn = sum(sizes)
    once = [Fraction(j * comb(people - j, drawn - 1), comb(people, drawn)) for j in sizes]
    alone = Fraction(sizes.count(1) * comb(people - 1, drawn - 1), comb(people, drawn))
    return alone / sum(once)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(0, 60))
def test_bayes_rule_as_by_hand(sizes, others):
    sizes = [1, *sizes]
    people = sum(sizes) + others
    found = uniqueness.stays_alone(Frequencies.of_sizes(np.array(sizes)), people)
    assert found == pytest.approx(float(by_hand(sizes, people)))


def test_without_uniques_none_stays_alone():
    assert uniqueness.stays_alone(Frequencies.of_sizes(np.array([2, 3])), 50) == 0


def test_a_census_shows_its_uniques():
    assert uniqueness.stays_alone(Frequencies.of_sizes(np.array([1, 1, 4])), 6) == pytest.approx(1)
