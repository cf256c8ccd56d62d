"""Risk beyond a control group, and its interval."""

import pytest

from shoal.risk.release_attacks.estimates import NOT_TRIED, Trial, estimate_risk


def test_the_risk_is_the_share_of_what_the_control_group_leaves():
    found = estimate_risk([Trial("nearest", 60, 100, 20, 100, 0.1)])
    assert found.risk == pytest.approx((0.6 - 0.2) / (1 - 0.2))
    assert 0 < found.low < found.risk < found.high < 1
    assert (found.success, found.control, found.baseline) == (0.6, 0.2, 0.1)
    assert found.flagged


def test_without_a_control_group_the_risk_is_the_success_with_its_wilson_interval():
    found = estimate_risk([Trial("nearest", 10, 100, 0, 0, 0.0)])
    assert (found.risk, found.control) == (0.1, None)
    assert (found.low, found.high) == pytest.approx((0.0552, 0.1744), abs=1e-4)


@pytest.mark.parametrize(("hits", "control"), [(20, 20), (10, 60), (0, 0), (100, 100)])
def test_a_risk_that_chance_explains_is_not_flagged(hits, control):
    found = estimate_risk([Trial("nearest", hits, 100, control, 100, 0.0)])
    assert (found.risk, found.low, found.flagged) == (0, 0, False)
    assert 0 <= found.high <= 1


def test_the_strongest_way_counts_with_a_wider_interval():
    weak, strong = Trial("weak", 22, 100, 20, 100, 0.0), Trial("strong", 70, 100, 20, 100, 0.3)
    alone, together = estimate_risk([strong]), estimate_risk([weak, strong])
    assert (together.name, together.risk, together.baseline) == ("strong", alone.risk, 0.3)
    assert together.low < alone.low
    assert together.high > alone.high
    assert [way.name for way in together.ways] == ["weak", "strong"]


def test_successes_on_the_control_group_count_for_a_larger_original():
    # 5 of 100 predicates fit one of 10 times fewer people: 50 would fit one of the original
    trial = Trial("all", 50, 100, 5, 100, 0.0, factor=10.0, exclusive=True)
    found = estimate_risk([trial])
    assert (found.control, found.risk, found.flagged) == (0.5, 0, False)


def test_outcomes_that_exclude_each_other_have_a_wider_interval():
    apart = estimate_risk([Trial("all", 50, 100, 40, 100, 0.0)])
    exclusive = estimate_risk([Trial("all", 50, 100, 40, 100, 0.0, exclusive=True)])
    assert exclusive.high - exclusive.low > apart.high - apart.low


def test_an_attack_that_is_not_possible_says_so():
    assert estimate_risk([]) == NOT_TRIED
    assert (NOT_TRIED.attacks, NOT_TRIED.low, NOT_TRIED.high) == (0, 0, 1)


def test_claims_of_everyone_are_no_risk():
    everyone = Trial("covered", 100, 100, 90, 100, 0.95, difference=True)
    assert estimate_risk([everyone]).risk == pytest.approx(0.1)
    most = estimate_risk([Trial("covered", 100, 100, 100, 100, 1.0, difference=True)])
    assert (most.risk, most.flagged) == (0, False)
