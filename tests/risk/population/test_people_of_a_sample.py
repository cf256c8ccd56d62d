"""Samples of people with several rows: what is counted are people."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from tests.examples import examples
from tests.risk.with_people import grouped_people, several_rows, tallies, unit

from shoal.errors import InputError
from shoal.risk import individual_uniqueness, population_uniqueness, record_risk
from shoal.risk.population.frequencies import Frequencies
from shoal.table.table import Table


@given(drawn=several_rows())
@examples(60)
def test_frequencies_are_people_in_each_class(drawn):
    person, ids = drawn
    found = Frequencies.of(grouped_people(person, ids))
    sizes = sorted(len(members) for members in tallies(person, ids).values())
    assert np.repeat(found.sizes, found.classes).tolist() == sizes


def table_of(rows, copies):
    """A table of 60 values and a person each; every row is repeated so many times."""
    draw = np.random.default_rng(0)
    values = {"x": draw.integers(0, 30, rows), "y": draw.integers(0, 3, rows)}
    data = pa.table({name: np.repeat(each, copies) for name, each in values.items()})
    table = Table.from_arrow(data, dict.fromkeys(values, "quasi"))
    return replace(table, person=unit(np.repeat(np.arange(rows), copies).tolist()))


def test_repeated_rows_of_a_person_change_no_estimate():
    once, often = table_of(60, 1), table_of(60, 3)
    for estimate in (population_uniqueness, individual_uniqueness):
        one, other = estimate(once, 0.1), estimate(often, 0.1)
        assert (one.share, one.low, one.high) == pytest.approx((other.share, other.low, other.high))
        assert (one.sample_share, one.population) == (other.sample_share, other.population)
    found = individual_uniqueness(often, 0.1)
    assert found.chances[::3] == pytest.approx(individual_uniqueness(once, 0.1).chances)
    assert len(found.chances) == 180
    risks = [record_risk(table, sampling_fraction=0.1).journalist for table in (once, often)]
    assert risks[0].average == pytest.approx(risks[1].average)


def test_one_person_is_too_few_to_model():
    table = replace(table_of(1, 4), person=unit("aaaa"))
    with pytest.raises(InputError, match="1 record is too few"):
        individual_uniqueness(table, 0.5)
