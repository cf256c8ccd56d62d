"""The bounds of an audit hold as often as they say, whatever the probability."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.dp.audit import POWER, noticeable_delta, noticeable_epsilon, proven_delta, proven_epsilon
from shoal.support.proportions import exact_chance, exact_tail, lower_bound, upper_bound


@pytest.mark.parametrize(("hits", "runs"), [(1, 1), (1, 10), (7, 10), (10, 10), (3, 80), (60, 80)])
@pytest.mark.parametrize("error", [0.3, 0.025, 1e-6])
def test_a_bound_leaves_just_the_stated_error(hits, runs, error):
    low = Fraction(float(lower_bound(hits, runs, error)))
    assert float(exact_tail(hits, runs, low)) == pytest.approx(error, rel=1e-9)
    high = Fraction(float(upper_bound(runs - hits, runs, error)))
    assert 1 - float(exact_tail(runs - hits + 1, runs, high)) == pytest.approx(error, rel=1e-6)


def test_what_never_or_always_happened_is_bounded_from_one_side_only():
    assert lower_bound(0, 50, 0.01) == 0
    assert upper_bound(50, 50, 0.01) == 1
    assert upper_bound(0, 50, 0.01) == pytest.approx(1 - 0.01 ** (1 / 50))


@examples(60)
@given(
    st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=200),
    st.integers(1, 40),
    st.sampled_from([0.2, 0.05, 0.001]),
)
def test_a_bound_is_wrong_at_most_as_often_as_stated(p, runs, error):
    hits = range(runs + 1)
    chances = np.array([float(exact_chance(j, runs, p)) for j in hits])
    assert chances[lower_bound(hits, runs, error) > float(p)].sum() <= error + 1e-12
    assert chances[upper_bound(hits, runs, error) < float(p)].sum() <= error + 1e-12


@pytest.mark.parametrize("p", [0.02, 0.4, 0.97])
def test_drawn_counts_miss_the_probability_seldom(p):
    hits = np.random.default_rng(1).binomial(500, p, 20_000)
    missed = np.mean(lower_bound(hits, 500, 0.05) > p), np.mean(upper_bound(hits, 500, 0.05) < p)
    assert max(missed) < 0.055
    assert min(missed) > 0.005  # bounds that always hold would be no use


def test_an_event_proves_both_parameters():
    assert proven_delta(0.5, 0.1, np.log(2)) == pytest.approx(0.3)
    assert proven_epsilon(0.5, 0.1, 0.3) == pytest.approx(np.log(2))
    assert (proven_delta(0.1, 0.5, 0.0), proven_epsilon(0.1, 0.5, 0.0)) == (0, 0)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 1e-6), (0.7, 0.05)])
def test_the_noticeable_probability_is_noticed_nine_times_in_ten_and_no_less_is(epsilon, delta):
    runs, error = 2_000, 1e-4
    least = noticeable_delta(runs, error, epsilon, delta)
    hits = np.arange(runs + 1)
    never = upper_bound(0, runs, error)
    noticed = proven_delta(lower_bound(hits, runs, error), never, epsilon) > delta
    enough = int(np.argmax(noticed))
    assert float(exact_tail(enough, runs, Fraction(least))) == pytest.approx(POWER)
    assert delta < least < delta + 0.1


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (1.0, 1e-6), (2.0, 0.01)])
def test_the_noticeable_coin_is_noticed_nine_times_in_ten(epsilon, delta):
    runs, error = 5_000, 1e-4
    least = noticeable_epsilon(runs, error, epsilon, delta)

    def noticed(true):
        lie = 1 / (1 + np.exp(true))
        lies = np.random.default_rng(2).binomial(runs, lie, (2, 4_000))
        low, high = lower_bound(runs - lies[0], runs, error), upper_bound(lies[1], runs, error)
        return np.mean(proven_epsilon(low, high, delta) > epsilon)

    assert POWER <= noticed(least) < 1
    assert noticed(epsilon + 0.4 * (least - epsilon)) < 0.5


def test_too_few_runs_notice_nothing():
    assert noticeable_delta(5, 1e-4, 1.0, 1e-6) == 1.0
    assert noticeable_epsilon(5, 1e-4, 1.0, 1e-6) == np.inf
