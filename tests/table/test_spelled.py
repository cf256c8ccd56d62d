import pyarrow as pa
import pytest

from shoal.table.column import Column
from shoal.table.encoding import as_numbers, combined, is_spelled, spelled


def encoded(*texts, **options):
    return Column.encode("c", pa.array(texts, pa.string()), type="decimal", **options)


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (("12.50", "9.125"), ("9.125", "12.50")),
        (("12.50", "12.5", "12.500"), ("12.5",)),
        (("-0.0", "0.00"), ("0.00",)),
        (("7", None, "7.0"), ("7", None)),
        (("9" * 38 + "." + "1" * 38, "-1.5"), ("-1.5", "9" * 38 + "." + "1" * 38)),
    ],
)
def test_a_number_has_one_text_the_shortest_that_occurs(texts, labels):
    assert encoded(*texts).labels == labels


def test_spellings_of_one_number_are_one_value():
    column = encoded("12.5", "9", "12.50")
    assert column.codes.tolist() == [1, 0, 1]
    assert column.to_arrow(as_text=True).to_pylist() == ["12.5", "9", "12.5"]
    assert column.positions.tolist() == [9.0, 12.5]


def test_an_order_takes_the_texts_along():
    column = encoded("12.50", "9.125", order=["12.50", "9.125"])
    assert (column.labels, column.codes.tolist()) == (("12.50", "9.125"), [0, 1])


def test_spelled_numbers_pass_through_tables():
    array = spelled(pa.array(["12.50", None, "9.125"]), pa.decimal256(76, 3))
    table = pa.table({"a": array}).slice(1)
    assert is_spelled(table.column("a").type)
    assert table.column("a").type.number == pa.decimal256(76, 3)
    assert combined(table.column("a"), "a").to_pylist() == as_numbers(array).to_pylist()[1:]
