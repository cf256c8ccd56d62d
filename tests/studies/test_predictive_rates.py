"""Rates of `predictive` beside those of metrics: what is right always, half of the time, never."""

import numpy as np
import pytest

from studies.metrics import predictive_rates as rates
from studies.metrics.releases import ALGORITHMS, METRICS, UTILITIES


def rows_of(table, seed=0, count=8):
    """Releases whose utilities all agree; `predictive` knows them, the first metric errs."""
    draw = np.random.default_rng(seed)
    found = []
    for algorithm in ALGORITHMS:
        for number, useful in enumerate(draw.permutation(count) / count):
            row = {"table": table, "algorithm": algorithm, "release": number}
            row |= dict.fromkeys(METRICS, 0.5) | dict.fromkeys(UTILITIES, useful)
            row |= {METRICS[0]: useful, METRICS[1]: 1 - useful}
            found.append(row | {rates.PREDICTIVE: 1 - useful, rates.NO_TARGET: 0.5})
    return found


def by_name(found, table):
    return {row["metric"]: row for row in found if row["table"] == table}


def test_rates_say_who_is_right():
    found = by_name(rates.predictive_rates(rows_of("heart")), "heart")
    assert found[rates.PREDICTIVE]["rate"] == 1
    assert found[METRICS[0]]["rate"] == 0
    assert found[METRICS[0]]["ahead"] == 1
    assert found[rates.NO_TARGET]["rate"] == 0.5
    assert found[rates.OTHERS]["rate"] == 1  # all models agree here
    assert rates.META not in found
    assert not found[rates.PREDICTIVE]["built on"]


def test_losses_that_agree_are_as_good_in_every_draw():
    found = by_name(rates.predictive_rates(rows_of("cmc")), "cmc")
    assert found[METRICS[1]]["ahead low"] == found[METRICS[1]]["ahead high"] == 0
    assert found[METRICS[1]]["built on"]


def test_intervals_hold_the_rate_of_a_guess():
    rows = rows_of("adult", count=30)
    draw = np.random.default_rng(5)
    guesses = [{**row, METRICS[2]: draw.random()} for row in rows]
    found = by_name(rates.predictive_rates(guesses), "adult")[METRICS[2]]
    assert found["rate low"] < found["rate"] < found["rate high"]
    assert found["rate"] == pytest.approx(0.5, abs=0.15)
    assert found["ahead"] == pytest.approx(1 - found["rate"])


def test_meta_metrics_count_on_tables_other_than_their_own():
    rows = rows_of("heart") + rows_of("cmc", seed=1)
    cells = {
        f"{table}/{algorithm}": [
            row[UTILITIES[0]]
            for row in rows
            if (row["table"], row["algorithm"]) == (table, algorithm)
        ]
        for table in ("heart", "cmc")
        for algorithm in ALGORITHMS
    }
    fits = [
        {"table": "cmc", "algorithm": ALGORITHMS[0], "utility": UTILITIES[0], "elsewhere": cells}
    ]
    found = rates.predictive_rates(rows, fits)
    assert by_name(found, "heart")[rates.META]["rate"] == 1
    assert rates.META not in by_name(found, "cmc")
