"""δ of the sampling step: against every set of results of small classes, and as printed."""

import math
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples

from shoal import InputError
from shoal.dp import least_epsilon, least_k, sampling_delta, sampling_loss
from shoal.dp.sampling import (
    ROUNDING,
    Added,
    Printed,
    Published,
    Removed,
    greatest,
    greatest_exactly,
)

BETAS = (0.60, 0.65, 0.70, 0.75, 0.80)
PRINTED = [  # Li (2019), tables 5.1 and 5.5: k, what 1 stands for, δ
    (55, 1e-5, "1.59 2.40 5.00 9.72 34.4"),
    (60, 1e-5, "0.71 1.29 3.30 9.72 13.2"),
    (65, 1e-5, "0.32 0.80 1.12 3.09 6.73"),
    (70, 1e-5, "0.14 0.26 0.74 1.23 6.73"),
    (75, 1e-5, "0.06 0.11 0.25 1.23 3.86"),
    (80, 1e-5, "0.03 0.07 0.17 0.39 1.51"),
    (75, 1e-6, "0.64 1.05 2.53 12.3 38.6"),
    (80, 1e-6, "0.29 0.65 1.68 3.93 15.1"),
    (85, 1e-6, "0.13 0.30 0.58 1.59 5.86"),
]
STRICT = {  # 1e5·δ and the class that pays it
    55: ((1.589363, 65), (2.402291, 66), (5.001999, 60), (7.742138, 65), (34.421287, 57)),
    75: ((0.064341, 89), (0.105122, 85), (0.252789, 82), (0.982475, 81), (3.856351, 78)),
}
rates = st.sampled_from([Fraction(n, 20) for n in range(3, 19)])


@cache
def shown(n, k, beta):
    """The distribution of what is shown of a class of n: 0 stands for nothing."""
    chances = {j: math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(k, n + 1)}
    return {0: 1 - sum(chances.values()), **chances}


def loss(one, other, growth):
    """The greatest P[set] − e^ε·Q[set] over all sets of results."""
    return sum(max(0, chance - growth * other.get(result, 0)) for result, chance in one.items())


@pytest.mark.parametrize("part", [Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(5, 4)])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("beta", [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)])
def test_no_class_and_no_set_of_results_loses_more(k, beta, part):
    growth = 1 + (1 / (1 - beta) - 1) * part
    both = [(shown(n, k, beta), shown(n - 1, k, beta)) for n in range(1, 90)]
    added = max(loss(larger, smaller, growth) for larger, smaller in both)
    removed = max(loss(smaller, larger, growth) for larger, smaller in both)
    assert greatest_exactly([Added(beta, growth)], k).delta == added
    if part < 1:
        assert greatest_exactly([Removed(beta, growth)], k).delta == removed > 0
    else:
        assert removed == 0


@pytest.mark.parametrize(("side", "strict"), [(Published, True), (Printed, False)])
@pytest.mark.parametrize("k", [1, 2, 7, 15])
@pytest.mark.parametrize("beta", [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)])
def test_the_published_forms_are_their_formula(k, beta, side, strict):
    gamma = beta * (2 - beta)
    found = Fraction(0)
    for n in range(math.ceil(k / gamma) - 1, 120):
        first = math.floor(gamma * n) + 1 if strict else math.ceil(gamma * n)
        chances = [math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(first, n + 1)]
        found = max(found, sum(chances))
    assert greatest_exactly([side(beta, 1 / (1 - beta))], k).delta == found


@given(k=st.integers(1, 60), beta=rates, stretch=st.floats(0.5, 3))
@examples(60)
def test_the_search_stops_no_earlier_than_it_may(k, beta, stretch):
    growth = Fraction(math.exp(stretch * least_epsilon(beta)))
    assume(abs(growth * (1 - beta) - 1) > ROUNDING)  # a claim reads closer values as equal
    sides = [Added(beta, growth), Published(beta, growth), Printed(beta, growth)]
    if growth * (1 - beta) < 1:
        sides.append(Removed(beta, growth))
    for side in sides:
        first = k - side.ahead
        terms = [side.quick(t, side.size(t)) for t in range(first, first + 150)]
        assert greatest([side], k).delta == pytest.approx(math.exp(max(terms)), rel=1e-13)
        assert all(max(terms[i:]) <= side.bound(first + i) + 1e-12 for i in range(150))


@given(k=st.integers(1, 150), beta=rates, stretch=st.none() | st.floats(0.5, 3))
@examples(60)
def test_floats_agree_with_fractions_and_the_forms_are_ordered(k, beta, stretch):
    epsilon = None if stretch is None else stretch * least_epsilon(beta)
    forms = ["tight", "published", "printed"] if stretch is None or stretch > 1 else ["tight"]
    exact = [sampling_delta(k, beta, epsilon, form=form) for form in forms]
    quick = [sampling_delta(k, float(beta), epsilon, form=form) for form in forms]
    assert all(isinstance(delta, Fraction) for delta in exact)
    assert quick == pytest.approx([float(delta) for delta in exact], rel=1e-11)
    assert exact == sorted(exact)


@pytest.mark.parametrize(("k", "unit", "deltas"), PRINTED)
def test_the_printed_tables(k, unit, deltas):
    for beta, printed in zip(BETAS, deltas.split(), strict=True):
        found = sampling_delta(k, beta, form="printed") / unit
        shown = f"{found:.{len(printed.partition('.')[2])}f}"
        assert shown == printed or (k, beta, shown, printed) == (80, 0.75, "3.94", "3.93")


def test_where_the_printed_tables_count_a_result_too_many():
    differ = {
        (k, beta)
        for k, _, _ in PRINTED
        for beta in map(str, BETAS)
        if sampling_delta(k, beta, form="printed") != sampling_delta(k, beta, form="published")
    }
    at_three_quarters = {(k, "0.75") for k in (55, 60, 70, 75, 85)}
    assert differ == at_three_quarters | {(65, "0.8"), (70, "0.8")}


@pytest.mark.parametrize("k", STRICT)
def test_the_published_form_with_its_class(k):
    for beta, (delta, size) in zip(BETAS, STRICT[k], strict=True):
        found = sampling_loss(k, beta, form="published")
        assert (round(found.delta * 1e5, 6), found.size) == (delta, size)


def test_the_tight_form_of_the_papers_choice():
    assert sampling_delta(75, 0.7) == pytest.approx(2.1539764683e-07, rel=1e-10)


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"),
    [(1, 1e-5, 61), (1, 1e-6, 74), (2, 1e-6, 131), (math.log(2), 1e-6, 66)],
)
def test_least_k_by_the_published_form(epsilon, delta, k):
    assert least_k(epsilon, delta, -math.expm1(-epsilon), form="published") == k


@given(
    beta=rates,
    stretch=st.floats(0.6, 3),
    exponent=st.floats(-8, -0.5),
    form=st.sampled_from(["tight", "published"]),
    exact=st.booleans(),
)
@examples(60)
def test_least_k_reaches_delta_and_none_below_does(beta, stretch, exponent, form, exact):
    epsilon, delta = least_epsilon(beta) * stretch, 10**exponent
    if form == "published":
        epsilon = max(epsilon, least_epsilon(beta))
    rate = beta if exact else float(beta)
    k = least_k(epsilon, delta, rate, form=form)
    assert sampling_delta(k, rate, epsilon, form=form) <= delta
    assert k == 1 or sampling_delta(k - 1, rate, epsilon, form=form) > delta


@pytest.mark.parametrize(("beta", "size"), [(0.7, 101), ("0.7", 101), (Fraction(0.7), 100)])
def test_a_float_is_read_as_the_decimal_that_it_is_written_as(beta, size):
    # the float lies below 7/10, so that 91 of 100 would just count
    assert sampling_loss(91, beta, form="published").size == size


def test_the_least_epsilon_may_be_stated_in_floats():
    stated = 0.1 + least_epsilon(0.7) - 0.1
    assert sampling_delta(75, "0.7", stated) == sampling_delta(75, "0.7")
    assert sampling_delta(75, "0.7", stated, form="published") == sampling_delta(
        75, "0.7", form="published"
    )


def test_delta_too_small_for_a_float_is_not_none():
    assert 0 < sampling_delta(100_000, 0.3) < 1e-300


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sampling_delta(0, 0.5), "k must be a whole number, 1 or more, not 0"),
        (lambda: sampling_delta(5, 1), "beta must be more than 0 and less than 1, not 1"),
        (lambda: sampling_delta(5, "x"), "beta must be a number, not 'x'"),
        (lambda: sampling_delta(5, math.nan), "beta must be a number, not nan"),
        (lambda: sampling_delta(5, 0.5, form="loose"), "no form 'loose'"),
        (
            lambda: sampling_delta(5, 0.5, 0.5, form="published"),
            "at least -ln.1 - beta. = 0.693147",
        ),
        (lambda: sampling_delta(5, 0.5, 0.01), "from 0.05 to 100, not 0.01"),
        (lambda: sampling_delta(5, "0.00001"), "too large for exact fractions"),
        (lambda: least_k(1, 0, 0.5), "delta must be more than 0"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
