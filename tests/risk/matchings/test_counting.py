import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from tests.examples import examples
from tests.risk.matchings.enumeration import WORKED, Enumerated, attacks, worked

from shoal.errors import InputError
from shoal.risk.matchings import solver
from shoal.risk.matchings.exact import _ryser, count_matchings
from shoal.risk.matchings.structure import split


@given(attacks(most=7))
@examples(50)
def test_each_matching_is_counted_once(attack):
    matrix, _ = attack
    known = len(Enumerated(matrix).found)
    if known:
        assert count_matchings(matrix) == known
        with patch.object(solver, "_SMALL_ROWS", 0):
            assert count_matchings(matrix) == known
    else:
        with pytest.raises(InputError, match="no perfect matching"):
            count_matchings(matrix)


@pytest.mark.parametrize("text", WORKED)
def test_worked_examples(text):
    assert count_matchings(worked(text)) == WORKED[text][0]


def test_numbers_of_any_length():
    assert count_matchings(np.ones((150, 150))) == math.factorial(150)
    size = 300
    apart = np.abs(np.arange(size)[:, None] - np.arange(size))
    fibonacci = [1, 1]
    for _ in range(size - 1):
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert count_matchings(apart <= 1) == fibonacci[size]


def derangements(size):
    """Return how many permutations leave nothing in its place."""
    return sum((-1) ** k * math.factorial(size) // math.factorial(k) for k in range(size + 1))


@pytest.mark.parametrize("size", [5, 6, 9, 16, 21])
def test_the_low_digits(size):
    matrix = 1 - np.eye(size)
    (part,) = split(matrix).components
    assert _ryser(part, 1) == _ryser(part, 2) == derangements(size) % 2**64


def test_high_digits_follow_from_the_permanent():
    size = 22  # more than 2⁶⁴ matchings, without structure
    matrix = np.random.default_rng(5).random((size, size)) < 0.85
    found = count_matchings(matrix)
    assert found > 2**64
    expanded = sum(
        count_matchings(np.delete(np.delete(matrix, 0, 0), j, 1)) for j in np.flatnonzero(matrix[0])
    )
    assert found == expanded


def test_what_is_too_much_is_refused():
    matrix = np.random.default_rng(0).random((120, 120)) < 0.5
    with pytest.raises(InputError, match="120 rows form one component that is too large"):
        count_matchings(matrix)
