import math

import numpy as np
import pytest
from hypothesis import assume, given, reject
from tests.examples import examples
from tests.risk.matchings.enumeration import Enumerated, attacks

from shoal.errors import NotConverged
from shoal.risk.matchings.sinkhorn import believe, log_bethe, propagate, sinkhorn
from shoal.risk.matchings.structure import split


def pairs(matrix):
    """(n, n) what belief propagation says of a matrix of one component."""
    (component,) = split(matrix).components
    scaled = sinkhorn(component).component
    return scaled.with_weights(believe(scaled).marginals).dense


def test_equal_chances_stay_equal():
    assert pairs(np.ones((7, 7))) == pytest.approx(np.full((7, 7), 1 / 7))


def test_two_rows_are_wrongly_held_for_certain():
    assert pairs([[3, 1], [2, 5]]) == pytest.approx(np.eye(2), abs=1e-6)  # 15/17 is true


def test_many_possible_pairs_are_near_the_truth():
    matrix = np.random.default_rng(1).random((7, 7)) + 0.2
    true = np.array(Enumerated(matrix).marginals(), dtype=float)
    assert np.abs(pairs(matrix) - true).max() < 0.01
    assert np.abs(sinkhorn(split(matrix).components[0]).component.dense - true).max() > 0.01


def test_scaling_changes_nothing():
    matrix = np.random.default_rng(2).random((6, 6)) + 0.2
    factors = np.random.default_rng(3).random((2, 6)) + 0.1
    assert pairs(matrix * factors[0] * factors[1][:, None]) == pytest.approx(
        pairs(matrix), abs=1e-6
    )


def test_one_pair_that_outweighs_all_loses_no_digits():
    matrix = np.full((4, 4), 1e-12) + np.eye(4)
    found = pairs(matrix)
    true = np.array(Enumerated(matrix).marginals(), dtype=float)
    off = ~np.eye(4, dtype=bool)
    assert found[off] == pytest.approx(true[off], rel=1e-3)


def test_types_and_classes_are_rows_and_columns_that_are_alike():
    people, capacity = np.array([2, 1, 3]), np.array([1, 3, 2])
    by_type = np.random.default_rng(4).random((3, 3)) + 0.1
    row_type, column = np.repeat(np.arange(3), people), np.repeat(np.arange(3), capacity)
    found = propagate(np.arange(4) * 3, None, by_type, people, capacity).marginals.reshape(3, 3)
    assert found[row_type][:, column] == pytest.approx(
        pairs(by_type[row_type][:, column]), abs=1e-6
    )


@examples(60)
@given(attacks(kinds=("zeros and ones", "sparse", "stochastic", "repeated")))
def test_chances_sum_to_one_and_bound_the_permanent(attack):
    matrix, _ = attack
    true = Enumerated(matrix)
    assume(true.permanent > 0)
    low, mixed = 0.0, 0
    for component in split(matrix).components:
        try:
            chances = believe(component) if component.size > 1 else None
        except NotConverged:  # where it nears certainty it takes ever smaller steps
            reject()
        if chances is None:
            low += math.log(component.dense[0, 0])
            continue
        found = component.with_weights(chances.marginals).dense
        assert found.sum(axis=0) == pytest.approx(np.ones(component.size), abs=1e-4)
        assert found.sum(axis=1) == pytest.approx(np.ones(component.size))
        low += log_bethe(component.edges.weights, chances.marginals)
        mixed += component.size
    log_permanent = math.log(true.permanent)
    assert low <= log_permanent + 1e-3
    assert log_permanent <= low + mixed * math.log(2) / 2 + 1e-3


def test_messages_that_swing_go_half_way():
    """Both matchings are equally likely: each round would undo the last."""
    component = split(np.array([[0.5, 0.25], [0.25, 0.125]])).components[0]
    assert believe(component).marginals == pytest.approx(np.full(4, 0.5))


def test_messages_that_do_not_agree_are_told():
    edges = split(np.tril(np.ones((9, 9)), 1)).components[0].edges
    ones = np.ones(9, dtype=np.int64)
    with pytest.raises(NotConverged, match="did not converge in 3 rounds"):
        propagate(*edges, ones, ones, rounds=3)
