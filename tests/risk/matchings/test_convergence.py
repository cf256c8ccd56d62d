import numpy as np
import pytest
from tests.examples import times

from shoal.risk.matchings.worm import Convergence


def autoregressive(correlation, chains=4, draws=4096, seed=0):
    """Draws of which each leans on the one before; their mean is 0."""
    noise = np.random.default_rng(seed).normal(size=(chains, draws + 200))
    for i in range(1, noise.shape[1]):
        noise[:, i] += correlation * noise[:, i - 1]
    return noise[:, 200:]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_the_correlation_time_of_draws_that_lean_on_the_one_before(correlation):
    found = Convergence(autoregressive(correlation))
    assert found.correlation_time == pytest.approx((1 + correlation) / (1 - correlation), rel=0.3)
    assert found.settled


def test_chains_that_stay_apart_have_not_settled():
    draws = autoregressive(0.3)
    draws[0] += 1
    found = Convergence(draws)
    assert found.rhat > 1.05
    assert not found.settled


def test_chains_that_drift_have_not_settled():
    drifting = autoregressive(0.3) + np.linspace(0, 3, 4096)
    assert not Convergence(drifting).settled


def test_too_few_draws_have_not_settled():
    assert not Convergence(autoregressive(0.95, draws=256)).settled


def test_draws_that_never_change_are_settled():
    found = Convergence(np.full((4, 64), 0.1) * (1 + 1e-15))
    assert found.settled
    assert (found.rhat, found.correlation_time) == (1.0, 1.0)
    assert 0 <= found.half_width < 1e-11


def test_chains_that_are_stuck_at_different_places_have_not_settled():
    stuck = np.repeat([[1.0], [1.0], [2.0], [2.0]], 64, axis=1)
    assert Convergence(stuck).rhat == np.inf


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_intervals_hold_the_mean_about_as_often_as_they_say(correlation):
    runs = times(200)
    found = [Convergence(autoregressive(correlation, draws=512, seed=seed)) for seed in range(runs)]
    held = sum(abs(each.mean) <= each.half_width for each in found)
    assert 0.91 * runs <= held <= 0.995 * runs  # 0.96 of intervals of a fixed number of draws
