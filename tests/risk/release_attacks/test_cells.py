"""Released cells of any kind as sets of the original's values."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from shoal import Column
from shoal.risk.release_attacks.attacked_tables import read_cells


def members(cells, row):
    """The values that the cell of a row stands for."""
    entry = cells.codes[row]
    runs = range(cells.indptr[entry], cells.indptr[entry + 1])
    codes = [code for run in runs for code in range(cells.starts[run], cells.stops[run])]
    return [cells.column.labels[code] for code in codes]


@pytest.mark.parametrize(
    ("text", "expected", "ends"),
    [
        ("31", ["31"], (31, 31)),
        ("31.0", ["31"], (31, 31)),
        ("[30, 40)", ["31", "38"], (30, 39)),
        ("30-40", ["31", "38", "40"], (30, 40)),
        (">=38", ["38", "40"], (38, np.inf)),
        ("*", ["31", "38", "40"], (-np.inf, np.inf)),
        ("33.7", [], (33.7, 33.7)),  # noise: a number that nobody has
        ("[90, 95]", [], (90, 95)),
        ("oldish", [], None),
    ],
)
def test_numbers_are_read_as_intervals(text, expected, ends):
    column = Column.encode("age", [31, 38, 40])
    cells = read_cells(pa.array([text]), column)
    assert members(cells, 0) == expected
    assert cells.unread == (ends is None)
    if ends is None:
        assert np.isnan([cells.low[0], cells.high[0]]).all()
    else:
        assert (cells.low[0], cells.high[0]) == ends


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("13101", ["13101"]),
        ("13***", ["13101", "13202"]),
        ("{13101, 20001}", ["13101", "20001"]),
        ("*", ["13101", "13202", "20001"]),
        ("99999", []),
    ],
)
def test_texts_are_read_as_sets(text, expected):
    column = Column.encode("zip", ["13101", "13202", "20001"])
    assert members(read_cells(pa.array([text]), column), 0) == expected


def test_labels_of_a_hierarchy_are_read():
    tree = {"tree": {"Europe": ["Malta", "Spain"], "Asia": ["Japan"]}}
    column = Column.encode("country", ["Malta", "Japan", "Spain"], hierarchy=tree)
    assert members(read_cells(pa.array(["Europe"]), column), 0) == ["Malta", "Spain"]


def test_dates_and_periods_are_read():
    days = [datetime.date(2024, 3, 9), datetime.date(2024, 5, 1)]
    column = Column.encode("day", days)
    cells = read_cells(pa.array(["2024-03", "2024-05-01", "2031-01-01"]), column)
    assert [members(cells, row) for row in range(3)] == [["2024-03-09"], ["2024-05-01"], []]
    assert cells.unread == 0


def test_missing_cells_stand_for_the_missing_value():
    column = Column.encode("age", [31, None])
    cells = read_cells(pa.array([None, 31], pa.int64()), column)
    assert [members(cells, row) for row in (0, 1)] == [[None], ["31"]]


def test_a_few_extreme_numbers_do_not_set_the_unit_of_distance():
    column = Column.encode("income", [*range(100), 10**9])
    assert read_cells(pa.array([1]), column).unit == pytest.approx(90, abs=2)
