from datetime import datetime
from decimal import Decimal
from types import SimpleNamespace

import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError
from shoal.table.column import Kind


def cells(table, name):
    return table[name].to_arrow().to_pylist()


def test_a_pandas_frame_goes_by_position_not_by_index(recwarn):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [31, 32, 33]}, index=[7, 7, -1])
    table = shoal.read(frame, roles={"age": "quasi"})
    assert cells(table, "age") == [31, 32, 33]
    assert (table.unassigned, len(recwarn)) == ((), 0)


def test_a_named_pandas_index_is_a_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [31, 32]}, index=pandas.Index(["x", "y"], name="town"))
    table = shoal.read(frame, roles={"age": "quasi", "town": "quasi"})
    assert cells(table, "town") == ["x", "y"]


def test_pandas_columns_of_any_sort_are_read():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "object": pandas.Series(["x", None, "y"], dtype=object),
            "category": pandas.Categorical(["b", "a", None]),
            "integer": pandas.array([1, None, 3], dtype="Int64"),
            "number": [1.5, float("nan"), 2.0],
            "seen": pandas.to_datetime(["2024-01-01 10:00", None, "2024-01-02 00:00"]),
            "true": pandas.array([True, None, False], dtype="boolean"),
        }
    )
    table = shoal.read(frame, roles=dict.fromkeys(frame.columns, "quasi"))
    assert cells(table, "object") == ["x", None, "y"]
    assert cells(table, "category") == ["b", "a", None]
    assert cells(table, "integer") == [1, None, 3]
    assert cells(table, "number") == [1.5, None, 2.0]
    assert [t and t.replace(tzinfo=None) for t in cells(table, "seen")] == [
        datetime(2024, 1, 1, 10),
        None,
        datetime(2024, 1, 2),
    ]
    assert cells(table, "true") == [True, None, False]
    assert [column.kind for column in table] == [
        Kind.NOMINAL,
        Kind.NOMINAL,
        Kind.NUMERIC,
        Kind.NUMERIC,
        Kind.NUMERIC,
        Kind.NOMINAL,
    ]


def test_a_pandas_column_of_mixed_types_is_refused_by_name_and_without_a_value():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1, 2], "odd": pandas.Series(["secret", 1], dtype=object)})
    with pytest.raises(InputError, match="column 'odd': mixes types") as caught:
        shoal.read(frame, roles={"age": "quasi"})
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_polars_frame_is_read_with_its_text_and_categories():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "town": ["Oslo", None, "Rome"],
            "class": polars.Series(["b", "a", None], dtype=polars.Categorical),
            "age": [31, None, 33],
            "price": [Decimal("1.50"), None, Decimal("2.25")],
            "seen": [datetime(2024, 1, 1), None, datetime(2024, 1, 2)],
        }
    )
    table = shoal.read(frame, roles=dict.fromkeys(frame.columns, "quasi"))
    assert table["town"].labels == ("Oslo", "Rome", None)
    assert table["class"].labels == ("a", "b", None)
    assert table["age"].labels == ("31", "33", None)
    assert table["price"].labels == ("1.50", "2.25", None)
    assert table["seen"].labels == ("2024-01-01", "2024-01-02", None)


def test_a_pyarrow_table_is_read_in_any_layout():
    data = pa.table(
        {
            "large": pa.array(["x", None], pa.large_string()),
            "view": pa.array(["x", None], pa.string_view()),
            "dictionary": pa.array(["x", None]).dictionary_encode(),
        }
    )
    table = shoal.read(data, roles=dict.fromkeys(data.column_names, "quasi"))
    assert [column.labels for column in table] == [("x", None)] * 3


def test_chunks_are_joined():
    data = pa.table({"a": pa.chunked_array([[1, 2], [], [3]])})
    assert cells(shoal.read(data, roles={"a": "quasi"}), "a") == [1, 2, 3]


@pytest.mark.parametrize("source", ["pyarrow", "pandas"])
def test_two_columns_of_one_name_are_refused(source):
    data = pa.table([[1], [2]], ["a", "a"])
    if source == "pandas":
        data = pytest.importorskip("pandas").DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(InputError, match="column 'a' occurs more than once"):
        shoal.read(data, roles={"a": {"role": "quasi", "kind": "numeric"}})


@pytest.mark.parametrize("source", [None, 5, b"people.csv", [1, 2], {"a": [1]}])
def test_what_is_no_frame_is_refused_by_its_type(source):
    with pytest.raises(InputError, match=f"from {type(source).__name__}; pass a file"):
        shoal.read(source, roles={"a": "quasi"})


@pytest.mark.parametrize("option", ["delimiter", "quote", "encoding", "missing"])
def test_the_options_of_files_do_not_go_with_frames(option):
    with pytest.raises(InputError, match=f"{option}: for files only"):
        shoal.read(pa.table({"a": [1]}), roles={"a": "quasi"}, **{option: ["NA"]})


def test_a_frame_is_anonymized_once_its_columns_have_roles():
    with pytest.raises(
        InputError, match="quasi is required: list the columns of the pyarrow Table"
    ):
        shoal.anonymize(pa.table({"age": [1, 2]}), shoal.KAnonymity(2))


def test_ordered_categories_of_pandas_keep_their_order():
    pandas = pytest.importorskip("pandas")
    sizes = pandas.Categorical(["mid", "low", "high", None], ["low", "mid", "high"], ordered=True)
    frame = pandas.DataFrame({"size": sizes, "bare": sizes.as_unordered()})
    table = shoal.read(frame, roles={"size": "quasi", "bare": "quasi"})
    assert (table["size"].kind, table["bare"].kind) == (Kind.ORDINAL, Kind.NOMINAL)
    assert table["size"].labels == ("low", "mid", "high", None)
    assert table["bare"].labels == ("high", "low", "mid", None)
    nominal = shoal.read(
        frame, roles={"size": {"role": "quasi", "kind": "nominal"}, "bare": "quasi"}
    )
    assert nominal["size"].kind == Kind.NOMINAL


def test_an_enum_of_polars_keeps_its_order():
    polars = pytest.importorskip("polars")
    sizes = polars.Series(["mid", "low", "high"], dtype=polars.Enum(["low", "mid", "high", "top"]))
    table = shoal.read(polars.DataFrame({"size": sizes}), roles={"size": "quasi"})
    assert table["size"].labels == ("low", "mid", "high")
    assert table["size"].kind == Kind.ORDINAL


def test_an_enum_that_arrow_does_not_call_ordered_keeps_its_order():
    sizes = pa.DictionaryArray.from_arrays([1, 0, 2], ["low", "mid", "high"])
    field = pa.field("size", sizes.type, metadata={"_PL_ENUM_VALUES": "3;low3;mid4;high"})
    source = SimpleNamespace(
        __arrow_c_stream__=pa.table([sizes], schema=pa.schema([field])).__arrow_c_stream__
    )
    table = shoal.read(source, roles={"size": "quasi"})
    assert table["size"].labels == ("low", "mid", "high")
    assert table["size"].kind == Kind.ORDINAL


def test_ordered_categories_of_numbers_are_numbers_if_they_ascend():
    def column(*categories):
        kind = pa.dictionary(pa.int8(), pa.int64(), ordered=True)
        codes = pa.array(range(len(categories)), pa.int8())
        return pa.DictionaryArray.from_arrays(codes, list(categories)).cast(kind)

    data = pa.table({"up": column(1, 5, 9), "down": column(9, 5, 1)})
    table = shoal.read(data, roles={"up": "quasi", "down": "quasi"})
    assert (table["up"].kind, table["down"].kind) == (Kind.NUMERIC, Kind.ORDINAL)
    assert table["down"].labels == ("9", "5", "1")


def test_ranges_follow_the_order_of_categories(tmp_path):
    pandas = pytest.importorskip("pandas")
    sizes = ["low", "mid", "high", "top"]
    column = pandas.Categorical(sizes * 3, sizes, ordered=True)
    frame = pandas.DataFrame({"size": column})
    frame.to_parquet(tmp_path / "a.parquet")
    for source in (frame, tmp_path / "a.parquet"):
        table = shoal.read(source, roles={"size": "quasi"})
        release = shoal.anonymize(table, shoal.KAnonymity(6), "mondrian")
        assert set(release.to_arrow()["size"].to_pylist()) == {"[low, mid]", "[high, top]"}
