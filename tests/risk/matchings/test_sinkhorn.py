import math

import numpy as np
import pytest
from hypothesis import assume, given
from scipy.sparse import csr_array
from tests.examples import examples
from tests.risk.matchings.enumeration import FLAT, UNEVEN, WORKED, Enumerated, attacks, worked

from shoal.risk.matchings.sinkhorn import flatten, is_flat, prices, sinkhorn
from shoal.risk.matchings.structure import split


@given(attacks(kinds=("zeros and ones", "sparse", "stochastic", "repeated")))
@examples(40)
def test_scaled_rows_and_columns_sum_to_one(attack):
    matrix, _ = attack
    assume(Enumerated(matrix).found)
    for form in (matrix, csr_array(matrix)):
        for part in split(form).components:
            scaled = sinkhorn(part, tolerance=1e-10, sweeps=50_000)
            assert scaled.converged
            assert np.allclose(scaled.component.dense.sum(axis=0), 1, atol=1e-12)
            assert np.abs(scaled.component.dense.sum(axis=1) - 1).max() <= scaled.error + 1e-12
            factors = np.exp(scaled.log_rows[:, None] + scaled.log_columns)
            assert np.allclose(part.dense * factors, scaled.component.dense, rtol=1e-10)


def test_scaling_that_was_cut_short_says_so():
    nearly_apart = np.array([[1.0, 1.0], [1e-9, 1.0]])
    (part,) = split(nearly_apart).components
    assert not sinkhorn(part, sweeps=10).converged
    assert sinkhorn(part, sweeps=10).sweeps == 10


@given(attacks(kinds=("wild",)))
@examples(40)
def test_a_wide_range_starts_from_a_heaviest_matching(attack):
    matrix, _ = attack
    assume(Enumerated(matrix).found)
    for part in split(matrix).components:
        rows, columns = prices(part)
        with np.errstate(divide="ignore"):
            logs = np.log(part.dense) + rows[:, None] + columns
        assert logs.max() < 1e-12 * np.abs(rows).max() + 1e-12
        heaviest = max(weight for _, weight in Enumerated(part.dense).found)
        assert math.isclose(rows.sum() + columns.sum(), -math.log(heaviest), abs_tol=1e-9)


def test_a_range_wider_than_floats_is_scaled():
    wide = np.array([[1e300, 1e-300], [1e-300, 1e-305]])
    (part,) = split(wide).components
    scaled = sinkhorn(part).component.dense
    assert np.allclose(scaled, np.eye(2), atol=2e-3)


@given(attacks(most=5))
@examples(100)
def test_flat_is_where_all_matchings_weigh_the_same(attack):
    matrix, _ = attack
    known = Enumerated(matrix)
    assume(known.found)
    weights = [float(weight / known.found[0][1]) for _, weight in known.found]
    alike = all(math.isclose(weight, 1, rel_tol=1e-9) for weight in weights)
    assert is_flat(split(matrix)) == is_flat(split(csr_array(matrix))) == alike


def test_rows_and_columns_that_are_multiplied_stay_flat():
    generator = np.random.default_rng(1)
    for text in WORKED:
        factors = generator.random((5, 1)) * generator.random(5)
        structure = split(np.array(worked(text)) * factors)
        assert is_flat(structure)
        for part in structure.components:
            flat = flatten(part)
            logs = flat.log_rows[:, None] + flat.log_columns
            assert np.allclose(np.log(part.dense[part.dense > 0]), logs[part.dense > 0])


@pytest.mark.parametrize(("matrix", "flat"), [(FLAT, True), (UNEVEN, False)])
def test_maliks_examples(matrix, flat):
    assert is_flat(split(matrix, sums="both")) is flat
