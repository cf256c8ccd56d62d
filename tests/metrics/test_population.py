"""Losses and estimates for the population behind a sample, by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal import KAnonymity, Table
from shoal.metrics import estimate_errors, ncp, ncp_by_record, population_losses

AGES = [20, 30, 50, 51]


def release(weights, person=None):
    data = {"age": AGES, "w": weights} | ({} if person is None else {"who": person})
    roles = {"age": "quasi", "w": "weight"}
    table = Table.from_arrow(pa.table(data), roles, person="who" if person else ())
    return shoal.anonymize(table, KAnonymity(2), "mondrian")


def test_equal_weights_change_nothing():
    made = release([7.0] * 4)
    assert population_losses(made, ["ncp"])["ncp"] == pytest.approx(ncp(made))
    assert set(population_losses(made)) <= set(shoal.metrics.METRICS)


def test_a_record_counts_as_often_as_the_people_it_stands_for():
    made = release([10.0, 30.0, 40.0, 20.0])
    each = ncp_by_record(made)
    wanted = (10 * each[0] + 30 * each[1] + 40 * each[2] + 20 * each[3]) / 100
    assert population_losses(made, ["ncp"])["ncp"] == pytest.approx(wanted)


def test_cells_are_spread_over_their_values():
    """20 and 30 have 10 and 30 people of 100, and 20 each in the estimate; 50, 51: 40, 20 to 30."""
    assert estimate_errors(release([10.0, 30.0, 40.0, 20.0])) == {"age": pytest.approx(0.2)}
    assert estimate_errors(release([5.0] * 4)) == {"age": pytest.approx(0)}


def test_the_weight_of_a_person_is_divided_among_their_rows():
    table = Table.from_arrow(
        pa.table({"age": [20, 20, 30], "who": [1, 1, 2], "w": [10.0, 10.0, 30.0]}),
        {"age": "quasi", "w": "weight"},
        person="who",
    )
    made = shoal.anonymize(table, KAnonymity(2), "mondrian")
    assert estimate_errors(made) == {"age": pytest.approx(0.25)}


def test_weights_and_metrics_must_be_there():
    bare = shoal.anonymize(pa.table({"age": AGES}), k=2, quasi="age")
    with pytest.raises(shoal.InputError, match="role weight"):
        population_losses(bare)
    with pytest.raises(shoal.InputError, match="no metric with a loss of each record"):
        population_losses(release([1.0] * 4), ["discernibility"])
