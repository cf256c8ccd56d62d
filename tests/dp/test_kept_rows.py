"""Records expected to be shown, by the definition, and how far one more can move them."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal import InputError
from shoal.dp import expected_kept, kept_sensitivity
from shoal.dp.planning import surely_kept
from shoal.support.proportions import exact_tail

rates = st.sampled_from([Fraction(n, 10) for n in range(2, 10)])


def expected(size, k, beta):
    chances = (math.comb(size, j) * beta**j * (1 - beta) ** (size - j) for j in range(size + 1))
    return sum(j * chance for j, chance in enumerate(chances) if j >= k)


@given(size=st.integers(0, 60), k=st.integers(1, 30), beta=rates)
@examples(80)
def test_it_is_the_expectation(size, k, beta):
    exact = expected(size, k, beta)
    assert expected_kept(size, k, beta) == exact
    assert expected_kept(size, k, float(beta)) == pytest.approx(float(exact), rel=1e-12)


def test_many_classes_at_once():
    sizes = np.arange(0, 400)
    one_by_one = [expected_kept(size, 75, 0.7) for size in range(400)]
    assert expected_kept(sizes, 75, 0.7).tolist() == one_by_one


@given(k=st.integers(2, 40), beta=rates)
@examples(30)
def test_large_classes_are_surely_kept(k, beta):
    size = surely_kept(k, float(beta))
    assert 1 - exact_tail(k, size, beta) < Fraction(1, 2**54)
    assert expected_kept(size, k, float(beta)) == size * float(beta)


@given(k=st.integers(1, 6), beta=rates)
@examples(30)
def test_one_more_record_adds_no_more_than_the_sensitivity_and_takes_none_away(k, beta):
    kept = [expected(size, k, beta) for size in range(2 * math.ceil(k / beta) + 3)]
    steps = [after - before for before, after in pairwise(kept)]
    assert min(steps) >= 0
    assert kept_sensitivity(k, beta) == max(steps)
    assert kept_sensitivity(k, float(beta)) == pytest.approx(float(max(steps)), rel=1e-10)


def test_the_sensitivity_at_the_papers_choice_is_far_below_k():
    assert kept_sensitivity(75, 0.7) == pytest.approx(4.7505, abs=5e-5)


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="size must be a whole number, 0 or more, not -1"):
        expected_kept(-1, 3, 0.5)
    with pytest.raises(InputError, match="beta must be more than 0"):
        kept_sensitivity(3, 0)
