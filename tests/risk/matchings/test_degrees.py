import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from tests.examples import examples
from tests.risk.matchings.enumeration import FLAT, TRUE, UNEVEN, WORKED, Enumerated, attacks, worked

from shoal.errors import InputError
from shoal.risk import crack_probabilities, degree_bounds, degree_of_anonymity, heuristic, nmape


@pytest.mark.parametrize("text", WORKED)
def test_the_degree_of_worked_examples(text):
    matchings, _ = WORKED[text]
    true = math.log(matchings) / math.log(120)
    assert degree_of_anonymity(worked(text)) == pytest.approx(true)
    low, high = degree_bounds(worked(text))
    assert low <= true <= high


def test_the_ends_of_the_degree():
    assert degree_of_anonymity(np.ones((6, 6))) == pytest.approx(1)
    assert degree_of_anonymity(np.eye(6)) == 0
    assert degree_of_anonymity([[1]]) == 0
    assert degree_bounds(np.eye(6)) == (0, 0)
    assert degree_bounds([[1]]) == (0, 0)


def test_the_degree_of_probabilities_is_that_of_their_zeros():
    assert degree_of_anonymity(UNEVEN) == degree_of_anonymity(FLAT)


@examples(40)
@given(attacks(kinds=("zeros and ones", "stochastic")))
def test_bounds_hold_the_degree(attack):
    matrix, _ = attack
    assume(Enumerated(matrix).permanent > 0)
    low, high = degree_bounds(matrix)
    assert 0 <= low <= degree_of_anonymity(matrix) + 1e-9
    assert degree_of_anonymity(matrix) <= high + 1e-9


def test_large_attacks_have_bounds():
    low, high = degree_bounds(np.ones((300, 300)))
    assert 0.97 < low <= high == 1


@pytest.mark.parametrize("method", ["exact", "fast"])
def test_crack_probabilities(method):
    found = crack_probabilities(UNEVEN, method)
    true = np.array(Enumerated(UNEVEN).marginals(), dtype=float)
    assert found.sum(axis=0) == pytest.approx(np.ones(5), abs=1e-6)
    assert found == pytest.approx(true, abs=1e-9 if method == "exact" else 0.15)
    assert (crack_probabilities(np.eye(3), method) == np.eye(3)).all()


def test_the_heuristic_sums_the_true_pairs():
    assert heuristic(UNEVEN, TRUE) == pytest.approx(0.57 + 0.23 + 0.04 + 0.29 + 0.19)
    assert heuristic(np.eye(3)) == 3


@pytest.mark.parametrize("function", [heuristic, nmape])
def test_probabilities_must_sum_to_one(function):
    with pytest.raises(InputError, match="do not sum to 1"):
        function([[1, 1], [1, 1]])


def test_nmape_is_the_mean_error_over_all_mappings():
    marginals = np.array(Enumerated(UNEVEN).marginals(), dtype=float)
    rows, off = range(5), np.array(UNEVEN) - marginals
    errors = [
        abs(sum(off[i, m] for i, m in zip(rows, each, strict=True))) for each in permutations(rows)
    ]
    assert nmape(UNEVEN) == pytest.approx(np.mean(errors) / 5)
    assert nmape(np.full((4, 4), 0.25)) == pytest.approx(0, abs=1e-12)


def test_nmape_of_more_rows_is_drawn():
    matrix = (np.ones((9, 9)) + 9 * np.eye(9)) / 18
    assert nmape(matrix, seed=1) == nmape(matrix, seed=1)
    assert nmape(matrix, seed=1) == pytest.approx(nmape(matrix, seed=2), rel=0.1)
    with pytest.raises(InputError, match="mappings must be"):
        nmape(matrix, mappings=0)


def test_nmape_hides_what_happens_at_the_true_mapping():
    matrix = (np.ones((12, 12)) + 12 * np.eye(12)) / 24
    true = crack_probabilities(matrix)
    assert nmape(matrix, seed=0) < 0.05
    assert abs(heuristic(matrix) - true.trace()) > 0.15 * true.trace()
