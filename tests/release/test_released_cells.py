"""Each published form is read as the values that it admits, whatever tool wrote it."""

import math
from datetime import date, datetime, time
from decimal import Decimal

import pytest

from shoal import Column
from shoal.release.reading_cells import Forms

AGES = [-5, -3, -1, 0, 7, 20, 25, 29, 30, 31, 90, 95]
DAYS = [date(2019, 12, 31), date(2023, 5, 1), date(2023, 5, 31), date(2023, 6, 1), date(2024, 2, 9)]
TIMES = [datetime(2023, 5, 1, 8), datetime(2023, 5, 1, 23, 59, 59), datetime(2023, 5, 2)]
SIZES = ["low", "mid", "mid, really", "high"]
CODES = ["284", "28411", "28412", "28499", "28511", "2*"]
TREE = {"tree": {"north": {"all": ["aa", "ab"]}, "south": {"aa": ["ba", "bb"], "bc": ["bc"]}}}


def first_reading(text, values, **options):
    """Return the values of the first reading, its level, and its bounds."""
    column = Column.encode("q", values, "quasi", **options)
    found = next(Forms(column).readings(text), None)
    if found is None:
        return None, -1, (math.nan, math.nan)
    codes = [code for start, stop in found.runs for code in range(start, stop)]
    return column.values.take(codes).to_pylist(), found.level, (found.low, found.high)


def members(text, values, **options):
    return first_reading(text, values, **options)[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("25", [25]),
        ("25.0", [25]),
        ("+7", [7]),
        ("*", AGES),
        ("[20, 30[", [20, 25, 29]),
        ("[20,30)", [20, 25, 29]),
        ("[20, 30]", [20, 25, 29, 30]),
        ("]20, 30]", [25, 29, 30]),
        ("(20, 30)", [25, 29]),
        ("(20,30]", [25, 29, 30]),
        ("[19.5; 25.5]", [20, 25]),
        ("[20-30]", [20, 25, 29, 30]),
        ("20-30", [20, 25, 29, 30]),
        ("20 - 30", [20, 25, 29, 30]),
        ("20–30", [20, 25, 29, 30]),
        ("20~30", [20, 25, 29, 30]),
        ("20..30", [20, 25, 29, 30]),
        ("20 to 30", [20, 25, 29, 30]),
        ("-5--1", [-5, -3, -1]),
        ("-5 - -1", [-5, -3, -1]),
        ("-5-7", [-5, -3, -1, 0, 7]),
        ("[-5, -1[", [-5, -3]),
        ("2e1-3.1e1", [20, 25, 29, 30, 31]),
        (">=90", [90, 95]),
        ("≥ 90", [90, 95]),
        (">90", [95]),
        ("90+", [90, 95]),
        ("<-1", [-5, -3]),
        ("<= -1", [-5, -3, -1]),
        ("(-Inf,0]", [-5, -3, -1, 0]),
        ("[90, ∞[", [90, 95]),
        ("{20, 30}", [20, 30]),
        ("{20,30,77}", [20, 30]),
        ("{20|30}", [20, 30]),
        ("20|30", [20, 30]),
        ("20,30", [20, 30]),
        ("2*", [20, 25, 29]),
        ("**", [-5, -3, -1, 20, 25, 29, 30, 31, 90, 95]),
        ("[20, 29] or missing", [20, 25, 29]),
    ],
)
def test_numbers(text, found):
    assert sorted(members(text, AGES)) == found


@pytest.mark.parametrize("text", ["30-20", "[30, 20]", "abc", "77", "[41, 42]", "20|77", "-", "{}"])
def test_what_admits_no_value_is_not_read(text):
    assert members(text, AGES) is None


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("[20, 30[", (20, 29)),  # whole numbers: 30 itself is out
        ("]20, 30]", (21, 30)),
        ("(19.5, 30.5)", (20, 30)),
        ("[20, 30]", (20, 30)),
        (">=90", (90, math.inf)),
    ],
)
def test_a_range_states_its_bounds(text, bounds):
    assert first_reading(text, AGES)[2] == bounds
    assert first_reading("[20, 30[", [20.5, 29.5])[2] == (20, 30)


def test_numbers_of_any_size_are_told_apart():
    huge = [Decimal(10**30 + i) for i in range(4)]
    assert members(f"[{10**30 + 1}, {10**30 + 3}[", huge) == huge[1:3]
    assert members("[0.1, 0.3]", [0.1, 0.2, 0.1 + 0.2]) == [0.1, 0.2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2023-05-31", DAYS[2:3]),
        ("2023-05-31 00:00:00", DAYS[2:3]),
        ("2023-05", DAYS[1:3]),
        ("2023", DAYS[1:4]),
        ("2023-Q2", DAYS[1:4]),
        ("2020s", DAYS[1:]),
        ("2019-2023", DAYS[:4]),
        ("2023-05-31 - 2024-02-09", DAYS[2:]),
        ("2023-05-31-2024-02-09", DAYS[2:]),
        ("2019-12~2023-05", DAYS[:3]),
        ("[2023-05-01, 2023-06-01[", DAYS[1:3]),
        ("]2023-05, 2024]", DAYS[3:]),
        (">=2023-06", DAYS[3:]),
        ("<2023", DAYS[:1]),
        (">2023", DAYS[4:]),
        ("2023-05-**", DAYS[1:3]),
        ("2023-13", None),
        ("2023-02-30", None),
    ],
)
def test_dates(text, found):
    assert members(text, DAYS) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2023-05-01 08:00:00", TIMES[:1]),
        ("2023-05-01T08:00", TIMES[:1]),
        ("2023-05-01", TIMES[:2]),
        ("2023-05", TIMES),
        (">2023-05-01", TIMES[2:]),
        ("]2023-05-01, 2023-05-02]", TIMES[2:]),
        ("[2023-05-01, 2023-05-02[", TIMES[:2]),
        ("[2023-05-01 08:00:00, 2023-05-01 09:00:00]", TIMES[:1]),
    ],
)
def test_times(text, found):
    assert members(text, TIMES) == found


def test_times_of_day_go_by_their_values():
    hours = [time(8), time(12), time(20)]
    assert members("[08:00:00, 12:00:00]", hours) == hours[:2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mid", ["mid"]),
        ("[low, mid]", ["low", "mid"]),
        ('[mid, "mid, really"]', ["mid", "mid, really"]),
        ("[mid, mid, really]", ["mid", "mid, really"]),
        ("mid-high", ["mid", "mid, really", "high"]),
        ("low~mid", ["low", "mid"]),
        ("{low, high}", ["low", "high"]),
        ('{low, "mid, really"}', ["low", "mid, really"]),
        ("{low, mid, really}", ["low", "mid, really"]),
        (">=mid, really", ["mid, really", "high"]),
        ("[high, low]", None),
        ("[low, unknown]", None),
    ],
)
def test_ordered_texts(text, found):
    assert members(text, SIZES, order=SIZES) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("28411", ["28411"]),
        ("2841*", ["28411", "28412"]),
        ("284**", ["28411", "28412", "28499"]),
        ("**411", ["28411"]),
        ("2*4*1", ["28411"]),
        ("2*", ["2*"]),  # a value wins
        ("285*", ["28511"]),  # none of that length, so any ending
        ("***", ["284"]),
        ("{284, 28511}", ["284", "28511"]),
        ("284~28511", ["284", "28511"]),
        ("284-28511", None),  # names have no ranges
        ("[284, 28511]", None),
    ],
)
def test_names_and_masks(text, found):
    assert members(text, CODES) == found


@pytest.mark.parametrize(
    ("text", "found", "level"),
    [
        ("north", ["aa", "ab"], 2),
        ("aa", ["ba", "bb"], 1),  # a value too, but the label goes first
        ("ab", ["ab"], 0),
        ("bc", ["bc"], 0),
        ("*", ["aa", "ab", "ba", "bb", "bc"], 3),
        ("{ab, bc}", ["ab", "bc"], -1),
        ("north|bb", ["aa", "ab", "bb"], -1),
    ],
)
def test_labels_of_a_hierarchy(text, found, level):
    told = first_reading(text, ["aa", "ab", "ba", "bb", "bc"], hierarchy=TREE)
    assert told[:2] == (found, level)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, [None]),
        ("30 or missing", [30, None]),
        ("[20, 30] or missing", [20, 30, None]),
        ("{20, missing}", [20, None]),
        ("20-30", [20, 30]),
        ("*", [20, 30, None]),
    ],
)
def test_missing_values(text, found):
    assert members(text, [20, 30, None]) == found


def test_an_empty_cell_of_a_column_without_missing_values_says_nothing():
    assert members(None, [20, 30]) == [20, 30]
    assert members(None, ["", "a"]) == members("", ["", "a"]) == [None]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("missing", ["missing"]),
        ("{a, missing}", ["a", None]),
        ('{a, "missing"}', ["a", "missing"]),
        ('{"a, b", a}', ["a", "a, b"]),
        ('{"""x""", ""}', ['"x"', None]),
        ("{a, b}", ["{a, b}"]),
        ("a|b|c", ["a", "b|c"]),
        ("[1, 2]", ["[1, 2]"]),
    ],
)
def test_values_that_look_like_forms(text, found):
    texts = ["a", "a, b", "b", "b|c", '"x"', "missing", "{a, b}", "[1, 2]", None]
    assert members(text, texts) == sorted(found, key=lambda t: (t is None, t))


def test_truth_values_are_read_in_either_case():
    assert members("True", [True, False]) == [True]
    assert members("false", [True, False]) == [False]
