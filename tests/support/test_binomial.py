"""Intervals of a probability are exact, and complementary for hits and misses."""

import pytest
from scipy.stats import binom

from shoal.support.proportions import confidence_interval, lower_bound, upper_bound


@pytest.mark.parametrize(("hits", "trials"), [(1, 4), (3, 10), (9, 10), (40, 500)])
def test_each_end_leaves_half_of_the_error(hits, trials):
    low, high = confidence_interval(hits, trials)
    assert binom.sf(hits - 1, trials, low) == pytest.approx(0.025)
    assert binom.cdf(hits, trials, high) == pytest.approx(0.025)


def test_the_ends_are_certain_if_every_trial_or_none_hits():
    assert confidence_interval(0, 20)[0] == 0
    assert confidence_interval(20, 20)[1] == 1
    assert confidence_interval(0, 0) == (0, 1)


def test_several_counts_are_bounded_at_once():
    lows, highs = lower_bound([0, 2, 5], 5, 0.1), upper_bound([5, 3, 0], 5, 0.1)
    assert lows == pytest.approx(1 - highs)
    assert lows.tolist()[0] == 0
    assert lows.tolist()[2] == pytest.approx(0.1 ** (1 / 5))
