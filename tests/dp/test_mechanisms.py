"""Draws have the chances that are computed for them, and a record changes these by e^ε at most."""

import math
import subprocess
import sys
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.examples import examples

from shoal import InputError
from shoal.dp import mechanisms
from shoal.dp.mechanisms import (
    bernoulli,
    choose,
    laplace,
    probabilities,
    sample_groups,
    scale_of,
)

SCORES = np.array([0.0, 1.0, 2.0, -3.0])
scores = st.lists(st.floats(-50, 50), min_size=2, max_size=8)


def near(share, chance, draws):
    """Six standard deviations: less than one test in a hundred million fails by chance."""
    return abs(share - chance) <= 6 * math.sqrt(max(chance * (1 - chance), 1 / draws) / draws)


def test_chances_are_those_of_the_exponential_mechanism():
    found = probabilities(SCORES, 0.5, 0.25, monotone=True)
    weights = [math.exp(0.5 * score / 0.25) for score in SCORES]
    assert found == pytest.approx([weight / sum(weights) for weight in weights])
    halved = probabilities(SCORES, 0.5, 0.25)
    weights = [math.exp(0.5 * score / 0.5) for score in SCORES]
    assert halved == pytest.approx([weight / sum(weights) for weight in weights])


def test_huge_scores_do_not_overflow():
    found = probabilities(np.array([1e9, 1e9 - 1, -1e300]), 1.0, 1.0, monotone=True)
    assert found == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0])


def worst_ratio(one, other):
    kept = (one > 1e-290) & (other > 1e-290)
    return float(np.abs(np.log(one[kept] / other[kept])).max(initial=0))


@examples(200)
@given(scores, st.data(), st.floats(0.01, 3), st.floats(0.1, 5))
def test_a_record_changes_chances_by_epsilon_at_most(before, data, epsilon, sensitivity):
    size = len(before)
    steps = st.lists(st.floats(0, sensitivity), min_size=size, max_size=size)
    signs = st.lists(st.sampled_from([-1, 1]), min_size=size, max_size=size)
    up, sign = np.array(data.draw(steps)), np.array(data.draw(signs))
    before = np.array(before)
    for after, monotone in ((before + up, True), (before + up * sign, False)):
        pair = [probabilities(s, epsilon, sensitivity, monotone=monotone) for s in (before, after)]
        assert worst_ratio(*pair) <= epsilon + 1e-9


def test_without_the_factor_two_scores_that_part_are_not_private():
    """So the test above would notice."""
    before, after = np.array([0.0, 0.0]), np.array([1.0, -1.0])
    pair = [probabilities(s, 1.0, 1.0, monotone=True) for s in (before, after)]
    assert worst_ratio(*pair) > 1.3


@examples(200)
@given(st.floats(1e-6, 100), st.floats(1e-6, 1e9))
def test_the_scale_is_never_rounded_down(epsilon, sensitivity):
    """In fractions: a score that changes by the sensitivity costs epsilon at most."""
    exact = Fraction(sensitivity) / Fraction(epsilon)
    for factor, monotone in ((1, True), (2, False)):
        scale = Fraction(scale_of(epsilon, sensitivity, monotone=monotone))
        assert factor * exact <= scale <= factor * exact * (1 + Fraction(1, 2**51))


def test_secure_choices_are_as_frequent_as_their_chances():
    draws = 1200
    chances = probabilities(SCORES, 1.0, 1.0, monotone=True)
    seen = Counter(choose(SCORES, 1.0, 1.0, monotone=True) for _ in range(draws))
    assert all(near(seen[i] / draws, chance, draws) for i, chance in enumerate(chances))
    permute_and_flip = 0.768  # its chance of the best of 0, 1, 2: another mechanism
    assert not near(chances[2], permute_and_flip, draws)


def exact_chances(scores, epsilon, sensitivity):
    """The chances of the exponential mechanism with 60 digits, of the scores as they are."""
    digits = Context(prec=60)
    scale = Fraction(scale_of(epsilon, sensitivity, monotone=True))
    parts = [(Fraction(score) - Fraction(max(scores))) / scale for score in scores]
    exponents = [digits.divide(Decimal(p.numerator), Decimal(p.denominator)) for p in parts]
    weights = [digits.exp(exponent) for exponent in exponents]
    return np.array([float(digits.divide(weight, sum(weights))) for weight in weights])


LOW_BITS = [0, 2**-20, -(2**-20), 3 * 2**-20, 2.0]  # differences as small as scores have them


@pytest.mark.parametrize("offset", [0.0, 1 / 3, 2.0**32 - 3])
@pytest.mark.parametrize(
    ("scores", "epsilon", "sensitivity"),
    [
        (LOW_BITS, 1.0, 1.0),
        ([0.25 * step for step in range(24)], 0.1, 0.21),  # chances of 0.07 down to 0.004
        ([0.0] * 20, 0.1, 4.7505),
        ([5.0, *[0.0] * 148], 1.0, 1.0),  # half of all draws from the tail of the noise
    ],
)
def test_live_draws_have_the_exact_chances(scores, epsilon, sensitivity, offset):
    """Only an index leaves, no digits of noise: a fault of the noise can only be a wrong chance."""
    draws, shifted = 1500, np.array(scores) + offset
    chances = exact_chances(shifted.tolist(), epsilon, sensitivity)
    drawn = [choose(shifted, epsilon, sensitivity, monotone=True) for _ in range(draws)]
    seen = np.bincount(drawn, minlength=len(scores)).astype(float)
    rare = chances * draws < 5
    if rare.any():
        seen, chances = (np.append(each[~rare], each[rare].sum()) for each in (seen, chances))
    excess = float(((seen - chances * draws) ** 2 / (chances * draws)).sum())
    assert chi2.sf(excess, len(seen) - 1) > 1e-9


def test_seeded_choices_are_as_frequent_as_their_chances_and_repeat():
    draws = 3000
    chances = probabilities(SCORES, 1.0, 1.0)
    drawn = [choose(SCORES, 1.0, 1.0, seed=seed) for seed in range(draws)]
    assert drawn == [choose(SCORES, 1.0, 1.0, seed=seed) for seed in range(draws)]
    seen = Counter(drawn)
    assert all(near(seen[i] / draws, chance, draws) for i, chance in enumerate(chances))


def test_the_place_is_that_in_the_flattened_scores():
    cube = np.full((2, 3, 4), -1e9)
    cube[1, 2, 0] = 0
    for seed in (None, 5):
        assert np.unravel_index(choose(cube, 1, 1, seed=seed), cube.shape) == (1, 2, 0)


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("beta", [0.7, 0.05, 2**-11])
def test_records_are_drawn_with_their_probability(beta, seed):
    draws = 200_000
    drawn = bernoulli(draws, beta, seed)
    assert drawn.dtype == np.bool_
    assert near(drawn.mean(), beta, draws)
    pairs = drawn[::2] & drawn[1::2]
    assert near(pairs.mean(), beta**2, draws // 2)


def test_all_or_nobody_is_drawn_at_the_ends():
    assert bernoulli(100, 1.0).all()
    assert not bernoulli(100, 0.0).any()
    assert len(bernoulli(0, 0.5)) == 0


def test_the_size_of_a_sample_is_not_fixed():
    assert len({int(bernoulli(1000, 0.5).sum()) for _ in range(20)}) > 3


def test_a_record_is_drawn_just_below_its_threshold(monkeypatch):
    threshold = int(0.7 * 2**64)  # exact: 0.7 has 53 bits
    words = np.array([0, threshold - 1, threshold, 2**64 - 1], dtype=np.uint64)
    monkeypatch.setattr(mechanisms.secrets, "token_bytes", lambda size: words.tobytes()[:size])
    assert bernoulli(4, 0.7).tolist() == [True, True, False, False]


@examples(100)
@given(st.floats(2**-30, 1, exclude_max=True))
def test_the_probability_of_a_sample_is_never_above_its_rate(beta):
    """In fractions: exact from 2**−11 on, and at most 2**−64 below it otherwise."""
    drawn = math.floor(Fraction(beta) * 2**64)  # words below it are drawn
    words = np.array([drawn - 1, drawn], dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanisms.secrets, "token_bytes", lambda size: words.tobytes()[:size])
        assert bernoulli(2, beta).tolist() == [True, False]
    assert beta < 2**-11 or Fraction(drawn, 2**64) == Fraction(beta)


def test_a_seed_repeats_a_sample_and_no_seed_does_not():
    assert np.array_equal(bernoulli(500, 0.5, 9), bernoulli(500, 0.5, 9))
    assert not np.array_equal(bernoulli(500, 0.5), bernoulli(500, 0.5))


@pytest.mark.parametrize("block", [1, 7, 1 << 22])
def test_groups_are_sampled_record_by_record(block, monkeypatch):
    monkeypatch.setattr(mechanisms, "_BLOCK", block)
    sizes = np.array([0, 3, 1, 0, 0, 12, 5, 0])
    drawn = bernoulli(int(sizes.sum()), 0.4, 3)
    expected = [int(part.sum()) for part in np.split(drawn, np.cumsum(sizes)[:-1])]
    assert sample_groups(sizes, 0.4, 3).tolist() == expected
    assert sample_groups(sizes, 1.0).tolist() == sizes.tolist()
    assert sample_groups(np.zeros(0, np.int64), 0.4).tolist() == []
    secure = {tuple(sample_groups(sizes, 0.4)) for _ in range(20)}
    assert len(secure) > 10
    assert all((np.array(each) <= sizes).all() for each in secure)


@pytest.mark.parametrize("seed", [None, 4])
def test_laplace_noise_has_its_scale(seed):
    values = np.full((50, 60), 7.0)
    noise = laplace(values, 2.0, seed) - values
    assert noise.shape == values.shape
    sizes = np.abs(noise).ravel()
    assert near((sizes > 2 * math.log(2)).mean(), 0.5, 3000)
    assert near((sizes > 2 * math.log(10)).mean(), 0.1, 3000)
    assert near((noise > 0).mean(), 0.5, 3000)


@pytest.mark.parametrize("value", [0.1, 1 / 3, -0.7])
def test_low_bits_of_live_noise_do_not_show_the_value(value):
    """Mironov's attack: a sum of floats near zero keeps the coarse grid of what was added.

    I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.
    """
    grid = math.ulp(value)

    def share_on_grid(noisy):
        small = noisy[np.abs(noisy) < abs(value) / 8]  # 8 and more numbers between two of the grid
        assert len(small) > 100
        return float((np.fmod(small, grid) == 0).mean())

    values = np.full(12_000, value)
    assert share_on_grid(laplace(values, 1.0)) < 0.4
    assert share_on_grid(laplace(values, 1.0, seed=1)) == 1  # so the attack works where it can


def test_laplace_noise_is_repeated_by_its_seed_alone():
    values = np.zeros(20)
    assert np.array_equal(laplace(values, 1.0, 8), laplace(values, 1.0, 8))
    assert not np.array_equal(laplace(values, 1.0), laplace(values, 1.0))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: choose(SCORES, 0, 1), "epsilon must be more than 0"),
        (lambda: choose(SCORES, 1, 0), "sensitivity must be more than 0"),
        (lambda: choose(SCORES, math.inf, 1), "epsilon must be"),
        (lambda: choose(np.array([]), 1, 1), "at least one number"),
        (lambda: choose(np.array([1.0, math.nan]), 1, 1), "all must be finite"),
        (lambda: probabilities(np.array([math.inf]), 1, 1), "all must be finite"),
        (lambda: choose(SCORES, 1e-300, 1e300), "differ too much in size"),
        (lambda: bernoulli(3, 1.5), "beta must be from 0 to 1"),
        (lambda: bernoulli(3, math.nan), "beta must be from 0 to 1"),
        (lambda: laplace(SCORES, 0), "scale must be more than 0"),
        (lambda: laplace(np.array([math.inf]), 1), "all must be finite"),
    ],
)
def test_what_has_no_meaning_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        wrong()


def test_opendp_is_loaded_by_the_first_draw():
    program = "import sys, shoal.dp.mechanisms; print('opendp' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert shown.stdout.decode().strip() == "False"
