"""Pairs of k and β for a budget."""

import math
from dataclasses import replace

import pyarrow as pa
import pytest

from shoal import Infeasible, InputError, KAnonymity, SafeLA, Table, anonymize
from shoal.dp import expected_kept, least_epsilon, plan, sampling_delta
from shoal.dp.planning import colour

ADULT = 30_162
ROLES = {"town": {"role": "quasi", "type": "text", "values": ["a", "b"]}}


def test_each_pair_reaches_delta_and_a_smaller_k_does_not():
    for found in plan(ADULT, 1.31, 1e-6):
        assert found.reached
        assert found.sampling_epsilon == pytest.approx(1.21)
        assert found.delta == sampling_delta(found.k, found.beta, found.sampling_epsilon) <= 1e-6
        assert sampling_delta(found.k - 1, found.beta, found.sampling_epsilon) > 1e-6


def test_without_epsilon_each_beta_spends_what_it_needs():
    for found in plan(ADULT):
        assert found.epsilon == pytest.approx(0.1 + least_epsilon(found.beta))
        assert found.delta <= 0.1 / ADULT
        assert found.published_least_k > found.k


def test_the_published_form_has_no_figures_below_its_least_epsilon():
    found = {setting.beta: setting for setting in plan(ADULT, 1.31, 1e-6, beta=[0.7, 0.8])}
    assert (found[0.7].published_least_k, found[0.8].published_least_k) == (83, None)
    assert found[0.8].published_delta is None
    assert found[0.8].k == 110


def test_stated_pairs_are_judged():
    found = plan(ADULT, k=[55, 75], beta=[0.7, 0.8], sizes=[100])
    assert [(each.k, each.beta, each.colour, each.reached) for each in found] == [
        (55, 0.7, "yellow", False),
        (75, 0.7, "green", True),
        (55, 0.8, "red", False),
        (75, 0.8, "yellow", False),
    ]
    assert [each.least_k for each in found] == [59, 59, 76, 76]
    assert found[1].kept == {100: expected_kept(100, 75, 0.7) / 100}


@pytest.mark.parametrize(
    ("delta", "shade"),
    [(0, "green"), (0.0009, "green"), (0.001, "yellow"), (0.0099, "yellow"), (0.01, "red")],
)
def test_colours_stand_for_parts_of_one_over_the_rows(delta, shade):
    assert colour(delta, 100) == shade


def test_a_beta_whose_k_exceeds_the_rows_is_left_out_unless_asked_for():
    assert max(found.beta for found in plan(100, 0.5, 1e-6)) < 0.9
    assert [found.k > 100 for found in plan(100, 0.5, 1e-6, beta=[0.9])] == [True]


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ((100, 0.12), r"epsilon = 0.12 leaves 0.02 for each sample after 0.1 for the choice"),
        ((100, 200), r"leaves 199.9 for each sample .* it must be from 0.05 to 100"),
    ],
)
def test_a_budget_that_does_not_fit_a_sample_is_refused(budget, message):
    with pytest.raises(InputError, match=message):
        plan(*budget)


def test_a_delta_that_no_k_reaches_is_reported():
    with pytest.raises(Infeasible, match="no k up to 2 reaches delta = 1e-09"):
        plan(2, 0.3, 1e-9)


@pytest.mark.parametrize("rows", [50, 1_000, 30_162])
@pytest.mark.parametrize("epsilon", [None, 0.2, 0.7, 1.31, 3.0])
@pytest.mark.parametrize("choice", [0.05, 0.1])
def test_safe_la_accepts_every_planned_setting_with_the_same_figures(rows, epsilon, choice):
    table = Table.from_arrow(pa.table({"town": ["a", "b"] * 9}), ROLES)
    try:
        planned = plan(rows, epsilon, choice_epsilon=choice)
    except Infeasible:
        planned = []
    for setting in planned:
        assert setting.colour == "green"
        method = SafeLA(
            epsilon=setting.epsilon, choice=setting.choice_epsilon, beta=setting.beta, n0=rows
        )
        (claim,) = anonymize(table, KAnonymity(setting.k), method).claims
        assert (claim.k, claim.delta) == (setting.k, pytest.approx(setting.delta, rel=1e-9))
        assert claim.epsilon == pytest.approx(setting.epsilon)
        assert replace(method, delta=0.1 / rows).price(KAnonymity(2)).k == setting.k


def test_the_grid_of_plans_has_settings_below_the_published_least_epsilon():
    planned = plan(30_162, 1.31)
    assert sum(each.sampling_epsilon < least_epsilon(each.beta) for each in planned) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "rows must be a whole number"),
        ({"rows": 9, "sizes": [0]}, "sizes must be a whole number"),
        ({"rows": 9, "delta": 0}, "delta must be more than 0"),
        ({"rows": 9, "epsilon": math.nan}, "epsilon must be a number"),
        ({"rows": 9, "k": [1]}, "k must be a whole number, 2 or more"),
        ({"rows": 9, "choice_epsilon": 0.0}, "choice must be a number above 0"),
        ({"rows": 9, "beta": [1.0]}, "beta must be more than 0"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        plan(**options)
