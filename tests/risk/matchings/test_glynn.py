from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from tests.examples import examples
from tests.risk.matchings.enumeration import Enumerated, attacks

from shoal.risk.matchings.sinkhorn import sinkhorn
from shoal.risk.matchings.solver import glynn
from shoal.risk.matchings.structure import split


@given(attacks(most=6))
@examples(50)
def test_errors_are_within_their_bounds(attack):
    matrix, mapping = attack
    assume(Enumerated(matrix).found)
    for part in split(matrix, mapping).components:
        weights = sinkhorn(part, sweeps=40).component.dense
        sums, known = glynn(weights), Enumerated(weights)
        assert abs(Fraction(sums.permanent) / known.permanent - 1) <= sums.error < 1e-11
        for i, share in enumerate(known.cracks(range(part.size))):
            assert abs(Fraction(sums.marginals[i]) - share) <= sums.error + sums.own_errors[i]


@pytest.mark.parametrize("size", [1, 5, 6, 7, 16, 17, 18])
def test_uniform_attacks_of_any_size(size):
    sums = glynn(np.full((size, size), 1 / size))
    permanent = Fraction(1)
    for factor in range(1, size + 1):
        permanent *= Fraction(factor, size)
    assert abs(Fraction(sums.permanent) / permanent - 1) <= sums.error < 1e-9
    assert np.abs(sums.marginals - 1 / size).max() <= (sums.error + sums.own_errors).max()


def test_rows_that_sum_to_more_are_brought_down():
    generator = np.random.default_rng(0)
    matrix = generator.random((8, 8))
    assert glynn(32 * matrix).permanent == pytest.approx(32**8 * glynn(matrix).permanent)


def test_the_identity_is_certain():
    sums = glynn(np.eye(9))
    assert sums.permanent == 1
    assert sums.marginals.tolist() == [1.0] * 9
