from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.table import recipes
from shoal.table.column import Column


def test_dates_by_day_month_quarter_year_and_decade():
    levels = ("day", "month", "quarter", "year", "decade")
    tree = recipes.dates([datetime(2024, 2, 29, 7), datetime(1969, 12, 31, 23)], levels)
    assert [row[1:] for row in tree.rows()] == [
        ("1969-12-31", "1969-12", "1969-Q4", "1969", "1960s", "*"),
        ("2024-02-29", "2024-02", "2024-Q1", "2024", "2020s", "*"),
    ]


def test_dates_publish_the_bounds_of_the_calendar():
    cells = [date(1970, 2, 10), date(1970, 2, 20), date(1960, 1, 1), date(1990, 1, 1)]
    column = Column.encode("c", cells, hierarchy={"dates": ["month", "quarter"]})
    for height, last in ((1, date(1970, 2, 28)), (2, date(1970, 3, 31))):
        first = date(1970, 2, 1) if height == 1 else date(1970, 1, 1)
        level = column.hierarchy.levels[height]
        own = level.groups[column.codes[0]]
        epoch = date(1970, 1, 1)
        assert level.bounds[own].tolist() == [(first - epoch).days, (last - epoch).days]


def test_a_day_of_times_ends_at_midnight():
    column = Column.encode("c", [datetime(1970, 1, 2, 7)], hierarchy={"dates": ["day"]})
    assert column.hierarchy.levels[1].bounds.tolist() == [[86400, 172800]]


@pytest.mark.parametrize(
    "levels",
    [
        ("year", "month"),
        ("week", "month"),
        ("week", "year"),
        ("week-year", "week"),
        "month",
        ("day", "day"),
        5,
        ([],),
    ],
)  # fmt: skip
def test_date_levels_come_in_order(levels):
    with pytest.raises(InputError, match="in this order"):
        recipes.dates([date(2024, 1, 1)], levels)


def test_dates_need_dates():
    with pytest.raises(InputError, match="needs dates"):
        recipes.dates(["2024-01-01"])


@given(st.lists(st.dates(), min_size=1, max_size=8))
def test_dates_nest_for_any_date(cells):
    assert recipes.dates(cells, ("month", "quarter", "year", "decade")).height == 5
    assert recipes.dates(cells, ("day", "week", "week-year")).height == 4


@given(st.dates())
def test_a_week_has_its_seven_days_between_its_bounds(day):
    tree = recipes.dates([day], ["week", "week-year"])
    low, high = tree.levels[1].bounds[0]
    first = date(1970, 1, 1).toordinal() + int(low)
    assert date.fromordinal(first).isoweekday() == 1
    assert first <= day.toordinal() <= first + 6
    assert high - low == min(6, date.max.toordinal() - first)
    label = "{}-W{:02}".format(*day.isocalendar()[:2]).zfill(8)
    assert tree.rows()[0][1] == label


@pytest.mark.parametrize(
    ("day", "labels"),
    [
        (date(2024, 12, 30), ("2025-W01", "2025-W01/W52")),  # a Monday of next year's first week
        (date(2021, 1, 3), ("2020-W53", "2020-W01/W53")),  # a Sunday of last year's last week
        (date(9999, 12, 31), ("9999-W52", "9999-W01/W52")),
        (date(1, 1, 1), ("0001-W01", "0001-W01/W52")),
    ],
)
def test_weeks_belong_to_the_year_that_has_most_of_their_days(day, labels):
    assert recipes.dates([day], ["week", "week-year"]).rows()[0][1:3] == labels
