from fractions import Fraction

import numpy as np
import pytest

from shoal.risk.population.frequencies import Frequencies
from shoal.risk.population.uniqueness import SlideNegativeBinomial, expected, shlosser


@pytest.mark.parametrize(("alpha", "beta"), [(0.4, 0.1), (2.0, 0.6), (1.0, 0.9)])
@pytest.mark.parametrize("fraction", [0.05, 0.5, 1.0])
def test_expected_classes_are_those_of_the_sum_over_sizes(alpha, beta, fraction):
    from scipy.stats import binom, nbinom

    sizes = np.arange(1, 2000)
    shares = nbinom.pmf(sizes - 1, alpha, beta)
    wanted = [100 * float((shares * binom.pmf(f, sizes, fraction)).sum()) for f in (1, 2)]
    assert expected(100, alpha, beta, fraction) == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_all_uniques_of_the_population_are_seen_by_a_census():
    alpha, beta = 0.7, 0.3
    model = SlideNegativeBinomial(50, alpha, beta)
    assert expected(50, alpha, beta, 1.0)[0] == pytest.approx(model.uniques)


@pytest.mark.parametrize("fraction", [0.2, 0.5])
def test_a_fit_shows_the_classes_of_one_and_two_that_were_seen(fraction):
    rng = np.random.default_rng(3)
    sizes = rng.binomial(1 + rng.negative_binomial(0.5, 0.2, 4000), fraction)
    sample = Frequencies.of_sizes(sizes[sizes > 0])
    found = SlideNegativeBinomial.fit(sample, fraction)
    seen = expected(found.classes, found.alpha, found.beta, fraction)
    assert seen == pytest.approx([sample.having(1), sample.having(2)], rel=1e-4)


def test_the_number_of_classes_by_hand():
    # three classes of one, one of two, drawn with 1/2
    half = Fraction(1, 2)
    hidden = 3 * half + half**2
    once = 3 * half + 2 * half * half
    twice = 3 * half**2 + 2 * half**2 * (1 - half**2)
    grown = 3 * half * (Fraction(3, 2) - 1) + half**2 * (Fraction(3, 2) ** 2 - 1)
    wanted = 4 + 3 * (twice / grown) * (hidden / once) ** 2
    found = shlosser(Frequencies.of_sizes(np.array([1, 1, 1, 2])), 0.5)
    assert found == pytest.approx(float(wanted))


def test_a_census_has_the_classes_that_it_shows():
    assert shlosser(Frequencies.of_sizes(np.array([1, 2, 2])), 1.0) == 3


@pytest.mark.parametrize("sizes", [[2, 2, 3], [1, 1, 3]])
def test_without_classes_of_one_and_of_two_there_is_no_fit(sizes):
    assert SlideNegativeBinomial.fit(Frequencies.of_sizes(np.array(sizes)), 0.5) is None
