"""Distributions in a report: ranges with round ends, groups that are large enough, both sides."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import Column, KAnonymity, Recoding
from shoal.report.before_after import MAX_BINS, MAX_NAMED_GROUPS, bins, distribution, grouped
from shoal.report.masking import Mask


def counted(column):
    return np.bincount(column.codes, minlength=column.domain).astype(np.int64)


def labels(values, least=2, **spec):
    column = Column.encode("x", values, **spec)
    return list(bins(column, counted(column), least).labels)


def test_whole_numbers_are_told_without_overlap():
    assert labels([n for n in range(30) for _ in range(5)]) == [
        *("1 or less", "2 – 3", "4 – 5", "6 – 7", "8 – 9", "10 – 11", "12 – 13", "14 – 15"),
        *("16 – 17", "18 – 19", "20 – 21", "22 – 23", "24 – 25", "26 – 27", "28 or more"),
    ]


def test_fractions_are_told_by_their_ends():
    found = labels([n / 100 for n in range(200)], least=20)
    assert found[:2] == ["less than 0.2", "0.2 to 0.4"]
    assert found[-1] == "1.8 or more"


def test_the_ends_are_not_those_of_the_data():
    found = labels([*(n for n in range(100) for _ in range(3)), 987_654, -123_456])
    assert found[0] == "9 or less"
    assert found[-1] == "90 or more"


def test_dates_are_told_by_years_months_or_days():
    day = datetime.date(1990, 1, 1)
    assert labels([day + datetime.timedelta(days=37 * n) for n in range(400)], 5)[:3] == [
        "before 1995",
        "1995 to 1999",
        "2000 to 2004",
    ]
    assert labels([day + datetime.timedelta(days=n) for n in range(300)], 5)[1] == "1990-02"
    assert (
        labels([day + datetime.timedelta(days=n % 20) for n in range(300)], 5)[2]
        == "1990-01-04 to 1990-01-05"
    )
    stamps = [datetime.datetime(1990, 1, 1) + datetime.timedelta(days=n) for n in range(300)]
    assert labels(stamps, 5)[1] == "1990-02"


@given(
    st.lists(
        st.one_of(
            st.integers(-50, 50), st.integers(-(10**12), 10**12), st.floats(-1e9, 1e9, width=32)
        ),
        min_size=14,
        max_size=120,
    ),
    st.integers(2, 9),
)
def test_every_range_holds_enough_people(values, least):
    column = Column.encode("x", pa.array([float(v) for v in values]))
    counts = counted(column)
    found = bins(column, counts, least)
    held = np.bincount(
        np.searchsorted(found.ends, column.positions, side="right"), counts, len(found.labels)
    )
    assert len(found.labels) <= MAX_BINS + 2
    assert (np.diff(found.ends) > 0).all()
    assert held.sum() == len(values)
    assert len(found.ends) == 0 or held.min() >= least
    assert len(set(found.labels)) == len(found.labels)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60), st.integers(2, 9))
def test_every_group_of_values_holds_enough_people(values, least):
    column = Column.encode("x", values)
    counts = counted(column)
    found = grouped(column, counts, least)
    told = found.places >= 0
    held = np.bincount(found.places[told], counts[told], len(found.labels))
    assert held.sum() == len(values)
    assert len(found.labels) == 1 or (held >= least).all()
    named = [label for label in found.labels if label != "all others"]
    assert all(values.count(label) >= least for label in named)


def test_of_many_values_the_commonest_are_named():
    values = [f"v{n}" for n in range(10_000) for _ in range(1 + (n < 40) * 10)]
    column = Column.encode("x", values)
    found = grouped(column, counted(column), 5)
    assert len(found.labels) == MAX_NAMED_GROUPS + 1
    assert found.labels[-1] == "all others"


def test_a_hierarchy_tells_of_values_that_are_too_rare_themselves():
    codes = [f"{n:05d}" for n in range(0, 100_000, 97)]
    column = Column.encode("x", codes, hierarchy={"mask": "right"})
    found = grouped(column, counted(column), 5)
    assert found.by == "level 4 of its hierarchy"
    assert list(found.labels) == [f"{digit}****" for digit in range(10)]


def test_missing_values_are_a_group_where_there_are_enough():
    for missing, told in ((4, False), (6, True)):
        values = [*(n for n in range(20) for _ in range(3)), *[None] * missing]
        column = Column.encode("x", values)
        found = grouped(column, counted(column), 5)
        assert ("missing" in found.labels) is told


def test_before_and_after_by_hand():
    """Ages 1 1 2 2 3 3, published as [1, 2] four times and as 3 twice."""
    column = Column.encode("age", [1, 1, 2, 2, 3, 3])
    ids = np.array([0, 0, 0, 0, 1, 1], dtype=np.int32)
    told = distribution(column, Recoding.of_groups(column, ids, 2), shoal.Table((column,)), Mask(2))
    third = round(1 / 3, 3)
    assert told["groups"] == [
        {"label": "1", "before": third, "after": third},
        {"label": "2", "before": third, "after": third},
        {"label": "3", "before": third, "after": third},
    ]
    lopsided = Column.encode("age", [1, 1, 1, 1, 2, 2])
    hidden = distribution(
        lopsided, Recoding.suppressed(lopsided), shoal.Table((lopsided,)), Mask(2)
    )
    assert [(g["before"], g["after"]) for g in hidden["groups"]] == [(0.667, 0.5), (0.333, 0.5)]


def test_a_weighted_table_gives_what_its_records_give():
    values, counts = ["a", "b", "c"], [9, 6, 1]
    spec = {"x": "quasi"}
    light = shoal.Table.from_arrow(pa.table({"x": values}), spec, counts=counts)
    heavy = shoal.Table.from_arrow(pa.table({"x": np.repeat(values, counts)}), spec)
    found = [distribution(t["x"], Recoding.identity(t["x"]), t, Mask(2)) for t in (light, heavy)]
    assert found[0] == found[1]


@pytest.mark.parametrize("least", [2, 5, 50])
def test_sensitive_columns_are_told_as_released_only(least):
    table = shoal.datasets.patients(120, seed=3)
    release = shoal.anonymize(table, KAnonymity(3))
    told = shoal.report.contents(release, least=least)["distributions"][-1]
    assert told["column"] == "diagnosis"
    assert all(group["before"] is None for group in told["groups"])
