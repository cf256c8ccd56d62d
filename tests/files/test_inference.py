from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import shoal
from shoal.files.formats import typed
from shoal.table.column import Kind
from shoal.table.encoding import combined


def read(*texts):
    return typed(pa.array(texts, pa.string()))


@pytest.mark.parametrize(
    "texts",
    [
        ("007", "12"),  # a code, not a number
        ("00", "1"),
        ("+5", "3"),
        (" 5", "3"),
        ("5 ", "3"),
        ("5\n", "6"),
        ("1_000", "2"),
        ("1,5", "2,5"),
        (".5", "1"),
        ("5.", "1"),
        ("0x1F", "2"),
        ("nan", "1"),
        ("inf", "1"),
        ("1e999", "2"),  # more than a float holds
        ("12345678901234567890e0", "1"),  # a float would lose digits
        ("1" * 77, "2"),  # more digits than any exact type has
        ("0." + "0" * 80 + "1", "1"),
        ("true", "false"),
        ("yes", "no"),
        ("2024-02-30", "2024-01-01"),  # no such day
        ("2023-02-29", "2024-02-29"),
        ("0000-01-01", "2024-01-01"),  # no such year
        ("2024-1-1", "2024-01-02"),
        ("01/02/2024", "02/02/2024"),  # whose month?
        ("2024-01-01T25:00:00", "2024-01-01 11:00:00"),
        ("2024-01-01", "2024-01-01 11:00:00"),
        ("5", "2024-01-01"),
        ("5", "x"),
    ],
)
def test_what_does_not_read_back_as_it_is_written_stays_text(texts):
    assert read(*texts).type == pa.string()
    assert tuple(read(*texts).to_pylist()) == texts


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (("5", "-3", "0"), pa.int64(), [5, -3, 0]),
        (("-0", "3"), pa.decimal128(38, 0), [Decimal(0), Decimal(3)]),
        (("9" * 18, "1"), pa.int64(), [10**18 - 1, 1]),
        (("9" * 30, "-1"), pa.decimal128(38, 0), [Decimal(10**30 - 1), Decimal(-1)]),
        (("9" * 76, "1"), pa.decimal256(76, 0), [Decimal("9" * 76), Decimal(1)]),
        (("12.50", "3.25"), pa.decimal128(38, 2), [Decimal("12.50"), Decimal("3.25")]),
        (("1.5", "2.25", "3"), pa.float64(), [1.5, 2.25, 3.0]),
        (("0.1", "-0.0"), pa.decimal128(38, 1), [Decimal("0.1"), Decimal("0.0")]),
        (("2024-02-29", "0001-01-01"), pa.date32(), [date(2024, 2, 29), date(1, 1, 1)]),
        (
            ("2024-01-01T10:00:00", "2024-01-01 11:30:00.5"),
            pa.timestamp("us"),
            [datetime(2024, 1, 1, 10), datetime(2024, 1, 1, 11, 30, 0, 500_000)],
        ),
    ],
)
def test_numbers_dates_and_times_are_taken_exactly(texts, kind, values):
    assert read(*texts).type == kind
    assert read(*texts).to_pylist() == values


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (("1.50", "2.5"), pa.decimal128(38, 2), [Decimal("1.50"), Decimal("2.50")]),
        (("12.50", "9.125"), pa.decimal128(38, 3), [Decimal("12.5"), Decimal("9.125")]),
        (("1e3", "2"), pa.float64(), [1000.0, 2.0]),
        (("2.5E-3", "1"), pa.float64(), [0.0025, 1.0]),
    ],
)
def test_numbers_that_no_type_would_write_the_same_keep_their_text(texts, kind, values):
    found = read(*texts)
    assert found.storage.to_pylist() == list(texts)
    assert found.type.number == kind
    assert combined(found, "").to_pylist() == values


def test_two_ways_to_write_a_number_are_one_value_under_the_shortest_text(write):
    path = write("a,b\n-0e0,x\n0e0,x\n1e1,x\n")
    column = shoal.read(path, roles={"a": "quasi", "b": "quasi"})["a"]
    assert column.labels == ("0e0", "1e1")
    path = write("a,b\n12.50,x\n12.5,x\n9.125,x\n")
    column = shoal.read(path, roles={"a": "quasi", "b": "quasi"})["a"]
    assert (column.labels, column.codes.tolist()) == (("9.125", "12.5"), [1, 1, 0])


def test_missing_values_do_not_stand_in_the_way():
    assert read("5", None, "7").to_pylist() == [5, None, 7]


def test_a_column_of_nothing_stays_text(write):
    column = shoal.read(write("a,b\n,1\n,2\n"), roles={"a": "quasi", "b": "quasi"})["a"]
    assert (column.kind, column.labels) == (Kind.NOMINAL, (None,))


def test_digits_stay_text_where_the_source_says_so():
    assert typed(pa.array(["5", "6"]), numbers=False).to_pylist() == ["5", "6"]
    assert typed(pa.array(["2024-01-01"]), numbers=False).type == pa.date32()


def test_published_labels_keep_all_digits(write):
    table = shoal.read(
        write("price,code\n12.50,12345678901234567890123\n3.20,7\n"),
        roles={"price": "quasi", "code": "quasi"},
    )
    assert table["price"].labels == ("3.20", "12.50")
    assert table["code"].labels == ("7", "12345678901234567890123")
