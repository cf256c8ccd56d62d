import numpy as np
import pytest

from shoal.risk.proportion import clustered_proportion, proportion, sum_of_chances


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


def test_clusters_of_one_are_plain_tries():
    hits = np.array([1] * 30 + [0] * 70)
    found = clustered_proportion(hits, np.ones_like(hits))
    plain = proportion(30, 100)
    assert found == pytest.approx(plain, abs=1e-3)
    assert found.high - found.low >= plain.high - plain.low - 1e-9


def test_clusters_that_agree_within_are_worth_one_try_each():
    found = clustered_proportion(np.array([50] * 3 + [0] * 7), np.full(10, 50))
    plain = proportion(3, 10)
    assert found.value == pytest.approx(0.3)
    assert found.low < plain.low
    assert found.high > plain.high


@pytest.mark.parametrize("all_hit", [0, 1])
def test_where_nothing_varies_each_cluster_is_one_try(all_hit):
    found = clustered_proportion(np.full(9, 45 * all_hit), np.full(9, 45))
    assert found == proportion(9 * all_hit, 9)


def test_equal_shares_count_every_try():
    found = clustered_proportion(np.full(8, 5), np.full(8, 10))
    assert found == pytest.approx(proportion(40, 80))


def test_one_cluster_says_nothing_of_others():
    assert clustered_proportion(np.array([3]), np.array([9]))[:] == (3 / 9, 0, 1)
    assert clustered_proportion(np.array([3, 0]), np.array([9, 0]))[:] == (3 / 9, 0, 1)
    assert clustered_proportion(np.array([], dtype=int), np.array([], dtype=int))[:] == (0, 0, 1)


def test_clustered_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(5)
    held = plain = 0
    for _ in range(400):
        shares = rng.beta(1.2, 0.8, 12)  # 0.6 on average, far apart
        hits = rng.binomial(45, shares)
        found = clustered_proportion(hits, np.full(12, 45))
        held += found.low <= 0.6 <= found.high
        naive = proportion(int(hits.sum()), 12 * 45)
        plain += naive.low <= 0.6 <= naive.high
    assert held >= 0.93 * 400
    assert plain < 0.6 * 400
