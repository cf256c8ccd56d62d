import errno
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import InputError
from shoal.files.formats import Format
from shoal.files.reading import read_arrow


@pytest.fixture
def stored(tmp_path):
    def make(columns, name="people.parquet"):
        path = tmp_path / name
        pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path)
        return path

    return make


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None], pa.int8()),
        pa.array([2**64 - 1, None], pa.uint64()),
        pa.array([1.5, None], pa.float32()),
        pa.array([Decimal("1.50"), None]),
        pa.array([Decimal(10) ** 40, None], pa.decimal256(50, 2)),
        pa.array([date(2024, 2, 29), None]),
        pa.array([datetime(2024, 1, 1, 10), None], pa.timestamp("ns")),
        pa.array([datetime(2024, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "Europe/Oslo")),
        pa.array([time(10, 30), None], pa.time64("us")),
        pa.array([timedelta(seconds=5), None], pa.duration("us")),
        pa.array(["007", None]),
        pa.array([True, None]),
        pa.array([b"\xff\x00", None]),
    ],
    ids=lambda column: str(column.type),
)
def test_types_and_values_are_kept(stored, column):
    read = read_arrow(stored({"a": column}), Format()).column("a")
    assert read.type == column.type
    assert read.combine_chunks().equals(column)


def test_the_newer_layout_of_text_becomes_the_common_one(stored):
    views = pa.table({"a": pa.array(["x", None], pa.string_view())})
    table = shoal.read(stored(views), roles={"a": "quasi"})
    assert table["a"].labels == ("x", None)


def test_a_dictionary_is_read_as_its_values(stored):
    path = stored({"a": pa.array(["y", "x", "y"]).dictionary_encode()})
    assert shoal.read(path, roles={"a": "quasi"})["a"].labels == ("x", "y")


def test_digits_in_text_stay_text_and_stated_texts_mean_missing(stored):
    path = stored({"a": ["5", "NA"], "b": [-9, 4]})
    read = read_arrow(path, Format(missing=("NA", "-9")))
    assert read.to_pydict() == {"a": ["5", None], "b": [None, 4]}


def test_nested_columns_can_be_carried_and_nothing_else(stored):
    path = stored({"age": [1, 2], "tests": [[1, 2], []], "home": [{"x": 1}, None]})
    table = shoal.read(path, roles={"age": "quasi", "tests": "insensitive", "home": "insensitive"})
    assert table["tests"].to_arrow().to_pylist() == [[1, 2], []]
    for role in ("quasi", "sensitive"):
        with pytest.raises(InputError, match=r"people\.parquet: column 'tests': .*insensitive"):
            shoal.read(path, roles={"age": "quasi", "tests": role, "home": "insensitive"})


@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive"])
def test_types_that_extend_others_are_read_as_what_they_mean(stored, role, tmp_path):
    one = uuid.UUID(int=7)
    storage = pa.array([one.bytes, None] * 2, pa.binary(16))
    path = stored(
        {
            "age": [1] * 4,
            "id": pa.ExtensionArray.from_storage(pa.uuid(), storage),
            "data": pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}'] * 4)),
            "ok": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, 1, 0], pa.int8())),
        }
    )
    table = shoal.read(path, roles={"age": "quasi", "id": role, "data": role, "ok": role})
    assert table["id"].to_arrow().to_pylist() == [str(one), None] * 2
    assert table["data"].to_arrow().to_pylist() == ['{"a": 1}'] * 4
    assert table["ok"].to_arrow().to_pylist() == [True, False] * 2
    release = shoal.anonymize(table, k=2)
    for ending in ("csv", "parquet"):
        assert release.write(tmp_path / f"out.{ending}").holds


def test_the_file_is_known_by_its_beginning_where_the_ending_is_silent(stored):
    assert read_arrow(stored({"a": [1]}, "people"), Format()).to_pydict() == {"a": [1]}


def test_folders_named_like_keys_add_no_columns(stored, tmp_path):
    (tmp_path / "year=2024").mkdir()
    path = stored({"a": [1]}, "year=2024/people.parquet")
    assert read_arrow(path, Format()).column_names == ["a"]


def test_a_pandas_index_in_the_file_is_a_column_like_others(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1, 2]}, index=pandas.Index([7, 9], name="id"))
    frame.to_parquet(tmp_path / "people.parquet")
    assert read_arrow(tmp_path / "people.parquet", Format()).column_names == ["age", "id"]


@pytest.mark.parametrize("raw", [b"PAR1", b"PAR1junkPAR1", b"secret,b\n1,2\n"])
def test_a_false_parquet_file_is_refused(write, raw):
    with pytest.raises(InputError, match="is damaged or not Parquet") as caught:
        shoal.read(write(raw, "people.parquet"), roles={"a": "quasi"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (pa.table([[1], [2]], ["a", "a"]), "column 'a' occurs more than once"),
        (pa.table([[1], [2]], ["a", "A"]), "differ only in case"),
        (pa.table([[1], [2]], ["a", "\0linked"]), "the name of column 2 has a null character"),
        (pa.table({"a": [1]}).slice(0, 0), "no rows"),
    ],
)
def test_what_cannot_be_a_table_is_refused(stored, table, told):
    with pytest.raises(InputError, match=told):
        shoal.read(stored(table), roles={"a": "quasi"})


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 2**31 - 1], pa.date32()),
        pa.array([0, 2**62], pa.timestamp("us")),
        pa.array([0, 1], pa.timestamp("us", "Nowhere/Atall")),
    ],
    ids=lambda column: str(column.type),
)
def test_times_outside_the_calendar_are_refused_where_they_are_studied(stored, column):
    path = stored({"age": [1, 2], "seen": column})
    with pytest.raises(InputError, match="column 'seen': holds times outside"):
        shoal.read(path, roles={"age": "quasi", "seen": "quasi"})
    carried = shoal.read(path, roles={"age": "quasi", "seen": "insensitive"})
    assert carried["seen"].values.equals(column)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["5", "NA"], pa.string_view()),
        pa.array(["5", "NA"]).dictionary_encode(),
        pa.array(["5", "NA"], pa.large_string()),
    ],
    ids=lambda column: str(column.type),
)
def test_stated_texts_mean_missing_in_any_layout(stored, column):
    read = read_arrow(stored({"a": column}), Format(missing=("NA",)))
    assert read.to_pydict() == {"a": ["5", None]}


@pytest.mark.parametrize(
    "kind", [pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_text_in_a_numeric_column_is_told_by_row_in_any_layout(stored, kind):
    path = stored({"a": pa.array(["5", "secret"]).cast(kind)})
    with pytest.raises(InputError, match=r"one row is not numbers .* the first is row 2"):
        shoal.read(path, roles={"a": {"role": "quasi", "kind": "numeric"}})


@pytest.mark.parametrize(
    "shortage", [pa.ArrowMemoryError("malloc failed"), OSError(errno.ENOMEM, "no memory")]
)
def test_a_lack_of_memory_is_no_damage(stored, monkeypatch, shortage):
    def run_out(self):
        raise shortage

    path = stored({"a": [1]})
    monkeypatch.setattr(pq.ParquetFile, "read", run_out)
    with pytest.raises(MemoryError):
        read_arrow(path, Format())
