"""Codes that may mean missing: well-known words, and numbers only if they stand apart."""

import pyarrow as pa
import pytest

from shoal.inspection import describe
from shoal.inspection.shapes import find_codes
from shoal.table.column import Column


def codes(*values):
    return find_codes(Column.encode("a", list(values))).rows


@pytest.mark.parametrize("code", ["?", "N/A", "NULL", "none", ".", "Unknown", " ?", "nan", "-"])
def test_well_known_words_are_named_and_counted(code):
    assert codes("red", code, "blue", code) == {code: 2}


@pytest.mark.parametrize("word", ["no", "other", "nobody", "0", "", "Norm", "unknown soldier"])
def test_other_words_are_not(word):
    assert codes("red", word, "blue") == {}


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([31, 45, 999, 90, 999], {"999": 2}),
        ([0.5, 1.5, 9999.0], {"9999": 1}),
        ([1, 2, 3, 4, 5, -9], {"-9": 1}),
        ([1, 2, 3, 4, 5, -8, -9], {"-9": 1, "-8": 1}),
        ([0, 7, 400, -1], {"-1": 1}),
        ([1, 2, 3, 99], {"99": 1}),
        ([-30, 5, 40, -9999], {"-9999": 1}),
        ([980, 999, 1010], {}),  # an ordinary value
        ([500, 999], {}),  # too few others to stand apart from
        ([*range(18, 100)], {}),  # 99 is an age
        ([*range(18, 100), 999], {"999": 1}),
        ([-3, -2, -1, 0, 1], {}),
        ([-9, -5, 12], {}),
        ([-1, 0, 1], {}),  # down, level, up
        ([12, 14, 123], {}),  # far off, but no code
    ],
)
def test_numbers_are_offered_only_if_they_stand_apart(values, found):
    assert codes(*values) == found


def test_numbers_written_beside_a_word_are_judged_as_numbers():
    found = find_codes(Column.encode("a", ["31", "45", "?", "-9"]))
    assert (found.rows, found.others) == ({"?": 1, "-9": 1}, "numbers")


def hints(**columns):
    return [(h["columns"], h["hint"]) for h in describe(pa.table(columns))["hints"]]


def test_what_to_add_is_said_once_for_all_columns():
    found = hints(race=["x", "?", "y", "x"], job=["?", "?", "z", "z"])
    assert found[-1] == (
        ["race", "job"],
        "? in 3 cells may mean a missing value: add missing=['?']",
    )


def test_a_number_that_is_a_value_elsewhere_is_declared_for_its_column():
    found = hints(age=[31, 45, 31, 999], size=[998, 999, 1003, 1003])
    told = "999 in 1 cell may mean a missing value: add  missing: ['999']  to the column's schema"
    assert (["age"], told) in found


def test_numbers_beside_a_code_have_no_type_until_it_is_declared():
    data = pa.table({"age": ["31", "45", "?", "31"]})
    (column,) = describe(data)["columns"]
    assert (column["declare"], column["missing_codes"]) == (None, {"?": 1})
    told = "? in 1 cell may mean a missing value, because the other values are numbers: "
    told += "add missing=['?']"
    assert (["age"], told) in hints(age=["31", "45", "?", "31"])


def test_a_code_widens_no_interval():
    ages = [20 + i % 60 for i in range(200)]
    (column,) = describe(pa.table({"age": [*ages, *[999] * 40]}))["columns"]
    assert column["hierarchy"] == {"intervals": [5, 10, 20, 40]}


def test_identifiers_have_no_codes():
    assert describe(pa.table({"name": ["Kim", "?", "Lee"]}))["columns"][0]["missing_codes"] == {}
