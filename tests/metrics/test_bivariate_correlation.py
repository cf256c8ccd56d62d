import sys

import numpy as np
import pytest
from hypothesis import given
from tests.metrics import naive
from tests.metrics.strategies import freeform, full_domain

from shoal.metrics import (
    bivariate_correlation,
    bivariate_correlation_by_pair,
    evaluate,
    undefined,
)

module = sys.modules["shoal.metrics.bivariate_correlation"]


def test_nominal_columns_by_cramers_v(released):
    columns = {"c": list("aabb"), "d": list("xxyy")}
    kept = bivariate_correlation_by_pair(released(columns, (0, 0, 1, 1)))
    assert kept["c", "d"] == pytest.approx((1, 1))
    mixed = released(columns, (0, 1, 0, 1))  # every cell says nothing
    assert bivariate_correlation_by_pair(mixed)["c", "d"] == pytest.approx((1, 0))
    assert bivariate_correlation(mixed) == bivariate_correlation(mixed, raw=True) == 1


def test_numeric_columns_by_pearsons_r(released):
    columns = {"c": [0, 1, 2, 3], "d": [3, 2, 1, 0]}
    pair = bivariate_correlation_by_pair(released(columns, (0, 0, 1, 1)))["c", "d"]
    assert pair.before == pytest.approx(-1)
    # cells at 0.5 and 2.5, 1 away from the mean; values inside vary by 1/4 more
    assert pair.after == pytest.approx(-1 / 1.25)


def test_missing_numbers_are_passed_over(released):
    columns = {"c": [0, 1, 2, None, 7], "d": [0, 1, 2, 5, None]}
    pair = bivariate_correlation_by_pair(released(columns, (0, 1, 2, 3, 4)))["c", "d"]
    assert pair == pytest.approx((1, 1))


def test_a_constant_column_hangs_together_with_nothing(released):
    release = released(
        {"c": list("aab"), "d": list("xxx"), "e": [1, 1, 1], "f": [1, 2, 3]}, (0, 0, 1)
    )
    pairs = bivariate_correlation_by_pair(release)
    for names, pair in pairs.items():
        if set(names) != {"c", "f"}:
            assert pair == (0, 0)


def test_correction_takes_out_what_chance_would_give(released):
    rng = np.random.default_rng(3)
    columns = {name: [str(v) for v in rng.integers(0, 20, 200)] for name in "cd"}
    release = released(columns, range(200))
    plain = bivariate_correlation_by_pair(release)["c", "d"].before
    corrected = bivariate_correlation_by_pair(release, corrected=True)["c", "d"].before
    assert plain > 0.25
    assert corrected < 0.1


@given(freeform() | full_domain())
def test_corrected_values_equal_a_count_by_hand(release):
    if len(release.recodings) < 2:
        return
    found = bivariate_correlation(release, raw=True, corrected=True)
    by_hand = naive.bivariate_correlation(naive.read(release), corrected=True)
    assert found == pytest.approx(by_hand, abs=1e-7)


def test_a_slow_one_is_left_out_unless_asked_for(released, monkeypatch):
    release = released({"c": list("aabb"), "d": list("xyxy")}, (0, 1, 0, 1))
    monkeypatch.setattr(module, "_QUICK_WORK", 1)
    assert undefined(release)["bivariate-correlation"].startswith(
        "slow to compute for 2 different boxes"
    )
    assert "bivariate-correlation" not in evaluate(release)
    assert evaluate(release, ["bivariate-correlation"]) == {"bivariate-correlation": 0}


def test_numbers_need_no_table(released, monkeypatch):
    release = released({"c": [0, 1, 2, 3], "d": [3, 2, 1, 0]}, (0, 0, 1, 1))
    monkeypatch.setattr(module, "_QUICK_WORK", 0)
    assert "bivariate-correlation" in evaluate(release)
