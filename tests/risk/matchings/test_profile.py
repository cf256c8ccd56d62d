import math

import numpy as np
import pytest
from hypothesis import assume, given
from tests.examples import examples
from tests.risk.matchings.enumeration import Enumerated, attacks, near

from shoal.risk.matchings import profile
from shoal.risk.matchings import profile as sweep_plan
from shoal.risk.matchings.profile import SweepPlan, count, orders, plan_sweep, sweep
from shoal.risk.matchings.structure import collapse, split


def planned(matrix):
    """Return the kinds and the plan of a matrix that is one component."""
    (part,) = split(matrix).components
    return collapse(part), plan_sweep(collapse(part))


@given(attacks(most=6, kinds=("sparse", "stochastic", "repeated")))
@examples(60)
def test_any_order_of_rows_or_columns_gives_the_same(attack):
    matrix, _ = attack
    assume(Enumerated(matrix).found)
    for part in split(matrix).components:
        known, kinds = Enumerated(part.dense), collapse(part)
        shares = np.array([[float(share) for share in row] for row in known.marginals()])
        for swapped, oriented in enumerate((kinds, kinds.transposed)):
            for order in (*orders(oriented), np.arange(len(oriented.column_counts))[::-1]):
                one = SweepPlan(oriented, bool(swapped), order, math.inf)
                swept = sweep(one)
                assert near(math.exp(swept.log_permanent), known.permanent, swept.error + 1e-15)
                each = swept.pairs / np.outer(oriented.row_counts, oriented.column_counts)
                found = each[np.ix_(oriented.row_kinds, oriented.column_kinds)]
                assert np.allclose(found.T if swapped else found, shares, rtol=1e-13)
                assert count(one) == len(known.found)


@given(attacks(kinds=("repeated",)))
@examples(40)
def test_kinds_are_rows_and_columns_with_the_same_entries(attack):
    matrix, _ = attack
    assume(Enumerated(matrix).found)
    for part in split(matrix).components:
        kinds = collapse(part)
        small = np.zeros((len(kinds.row_counts), len(kinds.column_counts)))
        heads = np.repeat(np.arange(len(small)), np.diff(kinds.edges.indptr))
        small[heads, kinds.edges.indices] = kinds.edges.weights
        assert np.array_equal(small[np.ix_(kinds.row_kinds, kinds.column_kinds)], part.dense)
        assert len(np.unique(part.dense, axis=0)) == len(kinds.row_counts)
        assert len(np.unique(part.dense, axis=1).T) == len(kinds.column_counts)
        again = kinds.transposed.transposed
        assert all(map(np.array_equal, again.edges, kinds.edges))


def test_the_bound_on_steps_holds_and_is_tight_without_zeros():
    kinds, one = planned(np.random.default_rng(0).random((9, 9)))
    assert len(kinds.row_counts) == 9
    assert one.steps == sum(math.comb(9, used) * 9 for used in range(9))


def test_few_columns_with_many_rows_are_swept_by_the_cheaper_side():
    weights = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 5.0]])
    matrix = weights[np.repeat([0, 1], [30, 30])][:, np.repeat([0, 1, 2], 20)]
    kinds, one = planned(matrix)
    assert (len(kinds.row_counts), len(kinds.column_counts)) == (2, 3)
    assert not one.swapped
    assert planned(matrix.T)[1].swapped
    assert one.steps == planned(matrix.T)[1].steps


def test_a_band_stays_narrow_however_it_is_shuffled():
    generator = np.random.default_rng(6)
    apart = np.abs(np.arange(60)[:, None] - np.arange(60))
    matrix = (apart <= 2).astype(float)
    mixed = matrix[generator.permutation(60)][:, generator.permutation(60)]
    assert planned(mixed)[1].steps == pytest.approx(planned(matrix)[1].steps, rel=0.2)


def test_too_many_open_counts_are_no_plan():
    assert planned(np.random.default_rng(0).random((70, 70)))[1].steps == math.inf
    assert planned(np.random.default_rng(0).random((40, 40)))[1].steps == math.inf


def test_a_plan_fits_its_word_with_the_gaps_between_counts(monkeypatch):
    gaps = 0
    monkeypatch.setattr(sweep_plan, "MAX_STATE_BITS", 6)
    for seed in range(150):
        matrix = (np.random.default_rng(seed).random((9, 9)) < 0.25) | np.eye(9, dtype=bool)
        for part in split(matrix.astype(float)).components:
            one = plan_sweep(collapse(part))
            for order in orders(one.kinds):
                gaps += math.isfinite(sweep_plan._bound_steps(one.kinds, order, 1e9)) and not (
                    sweep_plan.fits_word(one.kinds, order)
                )
            if math.isfinite(one.steps):
                listed = [choices for _, choices in profile._columns(one)]
                tops = [int((c.fields << c.shifts).max()).bit_length() for c in listed]
                assert max(tops) <= 6
    assert gaps > 0  # orders whose counts are narrow enough but lie apart
