"""Published cells as numbers for analysis: what the labels say, and no more."""

from __future__ import annotations

from datetime import date, datetime

import pandas as pd
import pyarrow as pa
import pytest

import shoal

AGES = [21, 24, 28, 31, 33, 38]


def release(data, hierarchy=None, levels=None, *, method="mondrian", k=3, **options):
    frame = pa.table({"x": data})
    hierarchies = {"x": hierarchy} if hierarchy else None
    return shoal.anonymize(frame, k=k, quasi="x", hierarchies=hierarchies, method=method, **options)


def test_ranges_become_their_two_ends_in_the_type_of_the_column():
    found = release(AGES).to_arrow(cells="bounds")
    assert found.column("x_low").to_pylist() == [21] * 3 + [31] * 3
    assert found.column("x_high").to_pylist() == [28] * 3 + [38] * 3
    assert found.schema.field("x_low").type == pa.int64()


def test_an_interval_of_a_hierarchy_has_its_own_ends_and_not_those_of_the_data():
    found = release(AGES, {"intervals": [10]}, method="flash").to_arrow(cells="bounds")
    assert found.column("x_low").to_pylist() == [20] * 3 + [30] * 3
    assert found.column("x_high").to_pylist() == [29] * 3 + [39] * 3


def test_a_hidden_cell_has_no_ends_so_that_the_extent_stays_unknown():
    found = release(AGES, {"intervals": [10]}, method="flash", k=6).to_arrow(cells="bounds")
    assert found.column("x_low").null_count == found.column("x_high").null_count == 6


def test_a_name_says_nothing_about_numbers():
    tree = shoal.Hierarchy.from_rows([(str(age), "young", "*") for age in AGES])
    found = release(AGES, tree, method="flash", k=6, max_suppression=0)
    assert set(found.to_arrow().column("x").to_pylist()) <= {"young", "*"}


def test_dates_and_times_keep_their_type():
    days = [date(2024, 3, d) for d in (1, 5, 9)] + [date(2024, 4, d) for d in (2, 4, 8)]
    found = release(days, {"dates": ["month", "year"]}, method="flash").to_arrow(cells="bounds")
    assert found.column("x_low").to_pylist()[:1] == [date(2024, 3, 1)]
    assert found.column("x_high").to_pylist()[-1:] == [date(2024, 4, 30)]
    times = [datetime(2024, 3, 1, hour) for hour in range(6)]
    high = release(times).to_arrow(cells="bounds").column("x_high").to_pylist()
    assert high == [datetime(2024, 3, 1, 2)] * 3 + [datetime(2024, 3, 1, 5)] * 3


def test_large_whole_numbers_are_exact():
    big = [2**60 + i for i in range(6)]
    found = release(big).to_arrow(cells="bounds")
    assert found.column("x_high").to_pylist() == [big[2]] * 3 + [big[5]] * 3


def test_pandas_gets_intervals_closed_at_both_ends():
    found = release(AGES).to_pandas(cells="interval")["x"]
    assert found.tolist() == [pd.Interval(21, 28, "both")] * 3 + [pd.Interval(31, 38, "both")] * 3
    days = [date(2024, 3, d) for d in range(1, 7)]
    found = release(days).to_pandas(cells="interval")["x"]
    assert found[0] == pd.Interval(pd.Timestamp("2024-03-01"), pd.Timestamp("2024-03-03"), "both")


def test_other_forms_and_other_libraries_are_refused():
    with pytest.raises(shoal.InputError, match="pandas type"):
        release(AGES).to_polars(cells="interval")
    with pytest.raises(shoal.InputError, match="did you mean 'bounds'"):
        release(AGES).to_arrow(cells="bound")


def test_a_column_of_the_same_name_is_not_overwritten():
    frame = pa.table({"x": AGES, "x_low": AGES})
    found = shoal.anonymize(frame, k=3, quasi="x", insensitive="x_low")
    with pytest.raises(shoal.InputError, match="rename"):
        found.to_arrow(cells="bounds")
