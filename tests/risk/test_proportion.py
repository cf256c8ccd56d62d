import numpy as np
import pytest

from shoal.risk.proportion import proportion, sum_of_chances


@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"),
    [(0, 10, 0, 0.3085), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1), (0, 0, 0, 1)],
)
def test_exact_intervals(hits, tries, low, high):
    found = proportion(hits, tries)
    assert found.value == (hits / tries if tries else 0)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


def test_sums_of_chances_lie_where_binomials_do():
    found = sum_of_chances(np.full(100, 0.5))
    assert (found.value, found.low, found.high) == (50, 40, 60)


def test_sure_things_leave_no_room():
    assert sum_of_chances(np.array([1.0, 1.0, 0.0]))[:] == (2, 2, 2)
