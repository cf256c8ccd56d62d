from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.table import encoding


def plain(data):
    array = encoding.combined(data, "c")
    return array.to_pylist()


@pytest.mark.parametrize(
    "data",
    [
        ["b", None, "a"],
        np.array(["b", None, "a"], dtype=object),
        pa.array(["b", None, "a"]),
        pa.array(["b", None, "a"], pa.string_view()),
        pa.array(["b", None, "a"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays([0, 1, 2], ["b", None, "a"]),  # null among the values
        pa.DictionaryArray.from_arrays([0, None, 1], pa.array(["b", "a"], pa.string_view())),
        pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["b", None, "a"], pa.string_view())),
        pa.chunked_array([["b"], [None, "a"]]),
        pa.chunked_array(  # chunks with dictionaries of their own
            [pa.array(["b"]).dictionary_encode(), pa.array([None, "a"]).dictionary_encode()]
        ),
        pa.RunEndEncodedArray.from_arrays([1, 2, 3], ["b", None, "a"]),
        pd.Series(["b", None, "a"], dtype="category"),
        pl.Series(["b", None, "a"]),
    ],
    ids=lambda data: type(data).__name__ + str(getattr(data, "type", "")),
)
def test_any_kind_of_sequence_becomes_the_same_array(data):
    assert plain(data) == ["b", None, "a"]
    codes, values = encoding.encode(data, "c")
    assert (codes.tolist(), values.to_pylist()) == ([1, 2, 0], ["a", "b", None])


_OTHERS = pa.DictionaryArray.from_arrays([0, 1, 2], ["b", "a", "elsewhere"])


@pytest.mark.parametrize(
    "data",
    [
        pa.ListArray.from_arrays([0, 1, 2, 3], _OTHERS),
        pa.FixedSizeListArray.from_arrays(_OTHERS, 1),
        pa.StructArray.from_arrays([_OTHERS], names=["part"]),
        pa.MapArray.from_arrays([0, 1, 2, 3], _OTHERS, pa.array([1, 2, 3])),
        pa.ListViewArray.from_arrays([0, 1, 2], [1, 1, 1], _OTHERS),
        pa.array([["b"], ["a"], ["elsewhere"]], pa.large_list(pa.string_view())),
        pl.Series([["b"], ["a"], ["elsewhere"]], dtype=pl.List(pl.Enum(["b", "a", "elsewhere"]))),
    ],
    ids=lambda data: type(data).__name__,
)
def test_rows_taken_of_nested_values_hold_nothing_of_the_others(data):
    array = encoding.combined(data.to_arrow() if isinstance(data, pl.Series) else data, "c")
    taken = array.take(pa.array([0, 1]))
    assert taken.to_pylist() == array.to_pylist()[:2]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema({"c": taken.type})) as stream:
        stream.write(pa.record_batch([taken], ["c"]))
    assert b"elsewhere" not in sink.getvalue().to_pybytes()


@pytest.mark.parametrize("empty", ["", None])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_nulls_and_empty_texts_are_one_missing_value(empty, kind):
    texts = pa.array(["", empty, "a", "", " ", "NA"], pa.string())
    for data in (texts.cast(kind), texts.dictionary_encode(), texts.dictionary_encode("encode")):
        codes, values = encoding.encode(data, "c")
        assert codes.tolist() == [3, 3, 2, 3, 0, 1]
        assert values.to_pylist() == [" ", "NA", "a", None]
        assert encoding.with_missing(data, "c").null_count == 3


def test_missing_bytes_and_numbers():
    assert encoding.encode([b"", None, b"a"], "c")[1].to_pylist() == [b"a", None]
    assert encoding.encode([b"", b"a"], "c")[1].to_pylist() == [b"a", None]
    for cells in ([1.5, float("nan")], [float("nan"), None, 1.5]):
        assert encoding.encode(pa.array(cells), "c")[1].to_pylist() == [1.5, None]


def test_an_empty_text_of_a_column_that_is_passed_through_is_a_value():
    codes, values = encoding.encode_unchanged(pa.array(["", None, "a"]), "c")
    assert (codes.tolist(), values.to_pylist()) == ([0, 2, 1], ["", "a", None])


def test_times_of_day_are_told_apart_to_the_nanosecond():
    ticks = pa.array([0, 1, 1_000_000_000, 1_000_001_000, None], pa.time64("ns"))
    texts = ("00:00:00", "00:00:00.000000001", "00:00:01", "00:00:01.000001", None)
    assert encoding.texts(ticks) == texts


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_nan_is_missing(kind):
    data = pa.array(np.array([2, np.nan, 1], kind.to_pandas_dtype()))
    assert plain(data) == [2, None, 1]


def test_a_column_of_no_chunks_is_empty():
    assert plain(pa.chunked_array([], pa.string())) == []
    assert plain(pa.chunked_array([], pa.dictionary(pa.int8(), pa.string()))) == []


def test_zero_and_minus_zero_are_one_value():
    codes, values = encoding.encode([0.0, -0.0, 1.0], "c")
    assert codes.tolist() == [0, 0, 1]
    assert values.to_pylist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "data", [[1, "secret"], [2**70, "secret"], [10**80], [2**70, object()]], ids=lambda _: ""
)
def test_values_of_no_common_type_are_refused_without_being_quoted(data):
    with pytest.raises(InputError, match="column 'c': its values do not fit one type") as caught:
        encoding.encode(data, "c")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_lists_cannot_be_compared_and_are_refused():
    with pytest.raises(InputError, match="cannot be quasi-identifying or sensitive"):
        encoding.encode([[1], [2]], "c")


@given(st.lists(st.none() | st.integers(-(2**80), 2**80), min_size=1, max_size=12))
def test_integers_of_any_size_stay_exact(numbers):
    codes, values = encoding.encode(numbers, "c")
    known = sorted({n for n in numbers if n is not None})
    expected = [*known, None] if None in numbers else known
    assert [None if v is None else int(v) for v in values.to_pylist()] == expected
    assert codes.tolist() == [expected.index(n) for n in numbers]
    assert encoding.texts(values) == tuple(None if v is None else str(v) for v in expected)


simple = st.one_of(
    st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=12),
    st.lists(st.none() | st.floats(allow_nan=False, width=32), min_size=1, max_size=12),
    st.lists(st.none() | st.dates(), min_size=1, max_size=12),
    st.lists(st.none() | st.booleans(), min_size=1, max_size=12),
)


@given(simple)
def test_values_come_out_sorted_with_missing_last(cells):
    codes, values = encoding.encode(cells, "c")
    cells = [None if c == "" else c for c in cells]
    known = sorted({c for c in cells if c is not None})
    expected = [*known, None] if None in cells else known
    assert values.to_pylist() == expected
    assert codes.tolist() == [expected.index(c) for c in cells]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (37.0, "37"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (-0.5, "-0.5"),
        (True, "true"),
        (Decimal("0.00000001"), "0.00000001"),
        (Decimal("1E+3"), "1000"),
        (2**62 + 1, str(2**62 + 1)),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 7, 5), "2024-02-29 07:05:00"),
        (datetime(2024, 2, 29, 7, 5, 0, 250), "2024-02-29 07:05:00.000250"),
        (time(7, 5), "07:05:00"),
        (b"\x01\xff", "01ff"),
        ("", ""),
    ],
)
def test_publishes_each_value_as_plain_text(value, text):
    assert encoding.texts(pa.array([value, None])) == (text, None)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_text_of_a_float_reads_back_as_the_same_number(number):
    assert float(encoding.float_text(number)) == number


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pa.array([3, None]), 3),
        (pa.array([date(1970, 1, 3), None]), 2),  # days
        (pa.array([date(1970, 1, 3), None], pa.date64()), 2),
        (pa.array([datetime(1970, 1, 1, 0, 1), None]), 60),  # seconds
        (pa.array([datetime(1970, 1, 1, 0, 1), None], pa.timestamp("ns")), 60),
        (pa.array([time(0, 1), None], pa.time32("s")), 60),
        (pa.array([timedelta(minutes=1), None]), 60),
        (pa.array([Decimal("1.5"), None]), 1.5),
    ],
)
def test_numbers_and_times_lie_on_a_line(cells, expected):
    places = encoding.positions(cells)
    assert places[0] == expected
    assert np.isnan(places[1])
    assert encoding.is_numeric(cells.type)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pa.array([0, 5_000_000], pa.int32()).cast(pa.date32()), ("1970-01-01", "15659-07-15")),
        (
            pa.array([0, 3 * 10**11], pa.int64()).cast(pa.timestamp("s")),
            ("1970-01-01 00:00:00", "11476-08-15 05:20:00"),
        ),
        (
            pa.array([None, -3 * 10**11], pa.int64()).cast(pa.timestamp("s", "UTC")),
            (None, "-7537-05-18 18:40:00+00:00"),
        ),
        (
            pa.array([0, 2**62, -1], pa.int64()).cast(pa.duration("ns")),
            ("0:00:00", "1281023:53:38.427387904", "-0:00:00.000000001"),
        ),
    ],
    ids=["date", "time", "time with a zone", "duration"],
)
def test_times_that_no_calendar_has_still_have_a_text(cells, expected):
    assert encoding.texts(cells) == expected


@pytest.mark.parametrize("cells", [["a"], [True], [b"a"]])
def test_text_and_truth_values_do_not(cells):
    assert not encoding.is_numeric(pa.array(cells).type)


@pytest.mark.parametrize(
    ("limits", "kind", "expected"),
    [
        ((0, 100), pa.int64(), (0, 100)),
        (("1970-01-02", date(1970, 1, 3)), pa.date32(), (1, 2)),
        ((date(1970, 1, 2), "1970-01-03"), pa.timestamp("us"), (86400, 172800)),
        ((Decimal("0.5"), 2), pa.float64(), (0.5, 2)),
    ],
)
def test_bounds_become_positions(limits, kind, expected):
    assert encoding.bounds(limits, kind, "c") == expected


@pytest.mark.parametrize("limits", [5, "09", (1,), (1, 2, 3)])
def test_bounds_that_are_no_pair_are_refused(limits):
    with pytest.raises(InputError, match="column 'c': bounds must be two values"):
        encoding.bounds(limits, pa.int64(), "c")


@pytest.mark.parametrize("limits", [("low", "high"), (None, 3)])
def test_bounds_of_another_type_are_refused(limits):
    with pytest.raises(InputError, match="column 'c': bounds must be of the column's type"):
        encoding.bounds(limits, pa.int64(), "c")
