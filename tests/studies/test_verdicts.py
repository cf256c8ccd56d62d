"""The rule of the verdicts, on intervals that one can check by hand."""

from __future__ import annotations

import math

import pytest

from studies.claims import Claim
from studies.verdicts import (
    Estimate,
    above,
    all_of,
    at_least,
    at_most,
    average,
    below,
    between,
    decide,
    estimate_mean,
    estimate_ratio,
    estimate_share,
    exact,
    near,
    resample,
    unless_refuted,
)


def interval(low, high, draws=5):
    return Estimate((low + high) / 2, low, high, draws)


@pytest.mark.parametrize(
    ("low", "high", "claimed", "word"),
    [
        (0.8, 0.9, below(1), "agrees"),  # clear of 1
        (0.8, 1.1, below(1), "undecided"),  # 1 lies in the interval
        (0.8, 1.0, below(1), "undecided"),  # 1 is its end
        (1.1, 1.2, below(1), "disagrees"),
        (1.0, 1.2, below(1), "disagrees"),
        (1.1, 1.2, above(1), "agrees"),
        (0.5, 1.0, at_most(1), "agrees"),
        (1.0, 1.5, at_least(1), "agrees"),
        (10, 50, between(9, 56), "agrees"),
        (5, 60, between(9, 56), "undecided"),
        (0.745, 0.765, near(0.75, 0.02), "agrees"),
        (0.70, 0.80, near(0.75, 0.02), "undecided"),  # holds 0.75, and values that contradict it
        (0.80, 0.90, near(0.75, 0.02), "disagrees"),
    ],
)
def test_a_verdict_needs_an_interval_on_one_side(low, high, claimed, word):
    assert decide(interval(low, high), claimed) == word


def test_fewer_than_five_draws_decide_nothing_and_an_exact_value_needs_none():
    assert decide(interval(0.1, 0.2, draws=4), below(1)) == "undecided"
    assert decide(exact(0.1), below(1)) == "agrees"
    assert decide(exact(1), below(1)) == "disagrees"


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["agrees", "agrees"], "agrees"),
        (["agrees", "undecided"], "undecided"),
        (["undecided", "disagrees"], "disagrees"),
        ([], "undecided"),
    ],
)
def test_a_claim_of_several_parts_holds_if_each_part_does(words, joined):
    assert all_of(words) == joined


def test_no_number_of_examples_proves_a_claim_about_all():
    assert unless_refuted(refuted=False) == "undecided"
    assert unless_refuted(refuted=True) == "disagrees"


def test_an_interval_of_a_mean_is_students():
    found = estimate_mean([0.7, 0.8, 0.9])
    assert found.value == pytest.approx(0.8)
    assert found.high - found.value == pytest.approx(4.302653 * 0.1 / math.sqrt(3), rel=1e-6)
    assert estimate_mean([0.7]).high == math.inf


def test_a_ratio_is_a_geometric_mean():
    found = estimate_ratio([math.log(2), math.log(8)])
    assert found.value == pytest.approx(4)
    assert found.low * found.high == pytest.approx(16)


def test_a_share_has_its_exact_interval():
    found = estimate_share(0, 10)
    assert (found.value, found.low, found.draws) == (0, 0, 10)
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 10))


def test_a_difference_adds_the_squares_of_its_sides():
    found = interval(1, 7).minus(interval(-4, 4, draws=9))  # 4 ± 3 and 0 ± 4
    assert (found.value, found.low, found.high, found.draws) == (4, -1, 9, 5)
    assert exact(3).minus(exact(1)) == exact(2)


def test_an_average_has_the_mean_interval_and_the_fewest_draws():
    found = average([interval(0, 2, draws=6), interval(2, 6)])
    assert (found.value, found.low, found.high, found.draws) == (2.5, 1, 4, 5)


def test_a_resampled_statistic_lies_in_its_interval():
    values = [1.0, 2.0, 3.0, 4.0, 10.0]
    found = resample(5, lambda chosen: sum(values[i] for i in chosen) / len(chosen))
    assert found.value == 4
    assert 1 <= found.low < 4 < found.high <= 10
    assert found == resample(5, lambda chosen: sum(values[i] for i in chosen) / len(chosen))


def test_a_claim_whose_rows_are_missing_is_undecided():
    verdict = Claim("1", "text", lambda rows: rows[0]).judge([])
    assert (verdict.claim, verdict.word, verdict.found) == ("text", "undecided", "not enough runs")
