import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, t
from tests.examples import examples

from shoal.support.proportions import clustered_proportion, proportion, sum_of_chances


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
    assert found == pytest.approx(proportion(3, 10))


@pytest.mark.parametrize("all_hit", [0, 1])
def test_where_nothing_varies_each_cluster_is_one_try(all_hit):
    found = clustered_proportion(np.full(9, 45 * all_hit), np.full(9, 45))
    assert found == proportion(9 * all_hit, 9)


def test_of_clusters_that_differ_within_one_is_taken_to_agree():
    found = clustered_proportion(np.full(8, 5), np.full(8, 10))
    effect = (7 * 1 + 10) / 8  # as measured, but for one of eight
    worth = 80 / effect * (t.ppf(0.975, 79) / t.ppf(0.975, 7)) ** 2
    expected = beta.ppf([0.025, 0.975], [worth / 2, worth / 2 + 1], [worth / 2 + 1, worth / 2])
    assert found[:] == pytest.approx((0.5, *expected))


def test_large_clusters_count_for_no_more_than_they_say():
    hits, tries = np.array([90, 0, 0]), np.array([90, 5, 5])
    low, high = clustered_proportion(hits, tries)[1:]
    assert low < 0.1  # of three clusters, one of which decides
    assert high == pytest.approx(1, abs=0.01)


counts = st.lists(st.integers(0, 9), min_size=2, max_size=12)


@given(counts)
@examples(100)
def test_misses_are_hits_seen_from_the_other_side(hits):
    found = clustered_proportion(np.array(hits), np.full(len(hits), 9))
    turned = clustered_proportion(9 - np.array(hits), np.full(len(hits), 9))
    assert turned[:] == pytest.approx((1 - found.value, 1 - found.high, 1 - found.low))
    assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize("clusters", [2, 5, 9, 30])
@pytest.mark.parametrize("tries", [2, 9, 450])
def test_one_miss_is_never_surer_than_none(clusters, tries):
    hits = np.full(clusters, tries)
    best = clustered_proportion(hits, np.full(clusters, tries)).low
    for missed in (1, tries // 2 + 1, tries):
        hits[0] = tries - missed
        assert clustered_proportion(hits, np.full(clusters, tries)).low < best


def test_one_cluster_says_nothing_of_others():
    assert clustered_proportion(np.array([3]), np.array([9]))[:] == (3 / 9, 0, 1)
    assert clustered_proportion(np.array([3, 0]), np.array([9, 0]))[:] == (3 / 9, 0, 1)
    assert clustered_proportion(np.array([], dtype=int), np.array([], dtype=int))[:] == (0, 0, 1)


@pytest.mark.parametrize(
    ("clusters", "tries", "mean", "alike"),
    [
        (12, 45, 0.6, 1 / 3),
        (9, 45, 0.95, 0.5),  # most clusters all hit, a few hardly
        (30, 45, 0.98, 0.5),
        (9, 9, 0.9, 0.5),
    ],
)
def test_clustered_intervals_hold_the_truth_as_often_as_they_say(clusters, tries, mean, alike):
    rng = np.random.default_rng(5)
    weight = (1 - alike) / alike
    shares = rng.beta(mean * weight, (1 - mean) * weight, (600, clusters))
    held = plain = 0
    for hits in rng.binomial(tries, shares):
        found = clustered_proportion(hits, np.full(clusters, tries))
        held += found.low <= mean <= found.high
        naive = proportion(int(hits.sum()), clusters * tries)
        plain += naive.low <= mean <= naive.high
    assert held >= 0.95 * 600
    assert plain < 0.75 * 600
